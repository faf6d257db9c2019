/* Streams of the fake HIP runtime. Work is done as late as HIP allows: when the host waits for it.
 * So a host that does not wait sees old data, and a stream that does not wait for an event runs
 * before it. With a seed, any stream that may go on does so at any time. */
#define _GNU_SOURCE
#include "hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int sticky;
char sticky_reason[1024];

static stream **streams;
static size_t count, capacity;

record *record_hold(record *one) {
    one->holders++;
    return one;
}

void record_drop(record *one) {
    if (--one->holders == 0)
        free(one);
}

/* 0 without a seed. */
static uint64_t draw(void) {
    static uint64_t state;
    static bool is_set;
    if (!is_set) {
        const char *seed = getenv("QD_FAKE_HIP_SEED");
        state = seed ? strtoull(seed, NULL, 10) * 2 + 1 : 0;
        is_set = true;
    }
    state = state * 6364136223846793005u + (state != 0) * 1442695040888963407u;
    return state >> 33;
}

stream *stream_new(int device) {
    stream *made = calloc(1, sizeof *made);
    made->device = device;
    made->last = &made->first;
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 16;
        streams = realloc(streams, capacity * sizeof *streams);
    }
    return streams[count++] = made;
}

void stream_free(stream *one) {
    for (size_t i = 0; i < count; i++)
        if (streams[i] == one)
            streams[i] = streams[--count];
    free(one);
}

static bool may_go_on(const stream *one) {
    return one->first && !(one->first->kind == WAIT && !one->first->record->is_done);
}

static void copy(const op *op) {
    /* Of memory that the host asked to release since, the order says whether it is there. */
    if (op->from)
        block_check(op->from);
    if (op->to)
        block_check(op->to);
    memcpy((void *)op->at, (const void *)op->source, op->bytes);
    uint8_t *defined = shadow(op->to, op->at), *known = shadow(op->from, op->source);
    if (defined && known)
        memcpy(defined, known, op->bytes);
    else if (defined)
        memset(defined, 0xFF, op->bytes);
}

static void set(const op *op) {
    block_check(op->to);
    uint8_t *to = (uint8_t *)op->at;
    for (size_t i = 0; i < op->bytes; i++)
        to[i] = (uint8_t)(op->value >> 8 * (i % op->width));
    if (op->to->defined)
        memset(shadow(op->to, op->at), 0xFF, op->bytes);
}

static void launch(op *op) {
    char reason[512];
    const function *body = op->function;
    body->of->launches--;
    /* Nothing is done any more behind a kernel that has gone wrong. */
    if (!sticky && code_launch(body->of->code, &body->kernel, op->blocks, op->threads,
                               op->shared_bytes, op->arguments, op->bytes, reason, sizeof reason)) {
        sticky = LAUNCH_FAILURE;
        snprintf(sticky_reason, sizeof sticky_reason, "kernel '%.*s': %s", 255, body->kernel.name,
                 reason);
        fprintf(stderr, "fake HIP: %s\n", sticky_reason);
    }
    free(op->arguments);
}

/* Does the first operation of a stream, which may go on. */
static void step(stream *one) {
    op *op = one->first;
    one->first = op->next;
    if (!one->first)
        one->last = &one->first;
    one->waiting--;
    const char *call = current_call;
    current_call = op->call;
    switch (op->kind) {
    case ALLOCATE:
        op->to->is_live = true;
        break;
    case FREE:
        block_check(op->to);
        block_release(op->to);
        break;
    case COPY:
        copy(op);
        break;
    case SET:
        set(op);
        break;
    case LAUNCH:
        launch(op);
        break;
    case RECORD: {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        op->record->time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
        op->record->is_done = true;
        record_drop(op->record);
        break;
    }
    case WAIT:
        record_drop(op->record);
        break;
    }
    current_call = call;
    free(op);
}

/* The stream that has to go on so that this one can. */
static stream *needed(stream *one) {
    while (!may_go_on(one)) {
        if (!one->first)
            violation("an event that is waited for was never recorded");
        one = one->first->record->on;
    }
    return one;
}

/* Any stream that may go on, or the one that has to. */
static stream *chosen(stream *one) {
    stream *found = needed(one);
    size_t ready = 1;
    for (size_t i = 0; i < count && draw(); i++)
        if (may_go_on(streams[i]) && draw() % ++ready == 0)
            found = streams[i];
    return found;
}

void submit(stream *on, op given) {
    op *made = malloc(sizeof *made);
    *made = given;
    made->call = current_call;
    made->next = NULL;
    *on->last = made;
    on->last = &made->next;
    on->waiting++;
    for (uint64_t steps = draw() % 3; steps > 0 && on->first; steps--)
        step(chosen(on));
}

void finish(stream *one) {
    while (one->first)
        step(chosen(one));
}

void reach(record *wanted, size_t at_most) {
    for (size_t steps = 0; !wanted->is_done && (!at_most || steps < at_most); steps++)
        step(chosen(wanted->on));
}

void finish_all(void) {
    for (size_t i = 0; i < count; i++)
        finish(streams[i]);
}

bool is_used(const block *one) {
    for (size_t i = 0; i < count; i++)
        for (const op *op = streams[i]->first; op; op = op->next)
            if (op->to == one || op->from == one)
                return true;
    return false;
}
