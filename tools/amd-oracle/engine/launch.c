/* A launch: blocks in order of their numbers, a few at a time, their waves in an order drawn from a seed. */
#define _GNU_SOURCE
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(wave *w, int lane, const char *form, ...) {
    launch *l = w->launch;
    if (l->failed) return;
    l->failed = 1;
    oracle_module *m = l->module;
    char what[512], where[64] = "";
    va_list arguments;
    va_start(arguments, form);
    vsnprintf(what, sizeof what, form, arguments);
    va_end(arguments);
    if (lane >= 0) snprintf(where, sizeof where, ", lane %d", lane);
    if (l->room)
        snprintf(l->error, l->room, "kernel %s, block %u, wave %u%s, pc %#x: %s: %s", m->strings + l->kernel->name, w->block->number,
                 w->number, where, w->at ? w->at->pc : (unsigned)(w->pc - (u64)(uintptr_t)m->image), w->at ? m->strings + w->at->text : "", what);
}

/* Barriers. A wave that has ended takes part in none. */
void check_barrier(block *b) {
    if (!b->live || b->signalled < b->live) return;
    b->signalled = 0;
    b->phase++;
    for (unsigned k = 0; k < b->waves; k++)
        if (b->wave[k].state == WAVE_WAITS && b->wave[k].signalled) {
            b->wave[k].state = WAVE_READY;
            b->wave[k].signalled = 0;
            b->wave[k].epoch = b->phase;
        }
    b->wave[0].launch->since_progress = 0;
}

void arrive(wave *w) {
    block *b = w->block;
    w->signal_phase = b->phase;
    w->signalled = 1;
    w->lds_released = w->lds_done;
    b->signalled++;
    check_barrier(b);
}

/* Waits for the barrier that the wave has signalled; one that it has not never comes. */
void leave_barrier(wave *w) {
    w->state = WAVE_WAITS;
    if (!w->signalled || w->block->phase == w->signal_phase) return;
    w->state = WAVE_READY;
    w->signalled = 0;
    w->epoch = w->block->phase;
}

static u64 next_random(launch *l) {
    u64 x = l->random += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static u64 number_from(const char *name, u64 otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static void set_scalar(wave *w, unsigned at, unsigned count, u64 x) {
    for (unsigned k = 0; k < count; k++) { w->sgpr[at + k] = (uint32_t)(x >> (32 * k)); w->sgpru[at + k] = 0; }
}

/* Registers as the amdhsa ABI has them when a wave starts. What is not made here, such as the queue's
 * address, counts as never written: a kernel may be given it, but not use it. */
static void initial_registers(wave *w) {
    launch *l = w->launch;
    const table_kernel *k = l->kernel;
    unsigned at = 0, threads = l->threads - w->number * l->lanes;
    threads = threads < l->lanes ? threads : l->lanes;
    memset(w->sgpru, 0xff, sizeof w->sgpru);
    set_scalar(w, OPERAND_NULL, 1, 0);
    set_scalar(w, OPERAND_EXEC, 2, threads == 64 ? ~(u64)0 : ((u64)1 << threads) - 1);
    u64 entry = (u64)(uintptr_t)l->module->image + k->entry;
    unsigned p = k->properties;
    if (p & 1) at += 4;
    if (p & 2) { set_scalar(w, at, 2, (u64)(uintptr_t)l->packet); at += 2; }
    if (p & 4) at += 2;
    if (p & 8) { set_scalar(w, at, 2, (u64)(uintptr_t)l->kernarg); at += 2; }
    if (p & 16) { set_scalar(w, at, 2, 0); at += 2; }
    if (p & 32) at += 2;
    if (p & 64) { set_scalar(w, at, 1, l->private_bytes); at += 1; }
    unsigned words = k->preload & 127, from = k->preload >> 7;
    if (words) {
        for (unsigned n = 0; n < words && at < 16; n++) {
            uint32_t x;
            memcpy(&x, (char *)l->kernarg + 4 * (from + n), 4);
            set_scalar(w, at++, 1, x);
        }
        /* Firmware that preloads starts behind the instructions that load for firmware that does not. */
        entry += 256;
    }
    unsigned user = k->rsrc2 >> 1 & 31;
    at = words ? at : user;
    if (l->module->header->architecture == GFX1201) {
        set_scalar(w, 108 + 9, 1, w->block->number);
        set_scalar(w, 108 + 7, 1, 0);
    } else {
        if (k->rsrc2 >> 7 & 1) set_scalar(w, at++, 1, w->block->number);
        if (k->rsrc2 >> 8 & 1) set_scalar(w, at++, 1, 0);
        if (k->rsrc2 >> 9 & 1) set_scalar(w, at++, 1, 0);
    }
    if (k->rsrc2 >> 10 & 1) at++;
    memset(w->vu, 0xff, w->registers * LANES * sizeof *w->vu);
    for (unsigned lane = 0; lane < threads; lane++) { w->v[lane] = w->number * l->lanes + lane; w->vu[lane] = 0; }
    w->mode = (k->rsrc1 >> 12 & 0xff) | (k->rsrc1 >> 21 & 1) << 8 | (k->rsrc1 >> 23 & 1) << 9;
    if (l->module->header->architecture == GFX1201) w->mode = (w->mode & 0xff) | 1 << 8 | 1 << 9;
    w->pc = entry;
}

static void free_block(block *b) {
    if (!b) return;
    for (unsigned k = 0; k < b->waves; k++) {
        wave *w = &b->wave[k];
        free(w->v);
        free(w->vu);
        free(w->private_memory);
        free(w->private_undefined);
        for (unsigned c = 0; c < COUNTERS; c++) free(w->waiting[c]);
    }
    free(b->wave);
    free(b->lds);
    free(b->lds_undefined);
    free(b->lds_access);
    free(b);
}

static block *start_block(launch *l, uint32_t number) {
    block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->number = number;
    b->waves = b->live = (l->threads + l->lanes - 1) / l->lanes;
    b->wave = calloc(b->waves, sizeof *b->wave);
    size_t lds = l->lds_bytes + 8;
    b->lds = calloc(lds, 1);
    b->lds_undefined = calloc(lds, 1);
    b->lds_access = calloc(lds, sizeof *b->lds_access);
    int good = b->wave && b->lds && b->lds_undefined && b->lds_access;
    if (!b->wave) b->waves = 0;
    if (b->lds_undefined) memset(b->lds_undefined, 0xff, l->lds_asked);
    for (unsigned k = 0; k < b->waves && good; k++) {
        wave *w = &b->wave[k];
        w->launch = l;
        w->block = b;
        w->number = k;
        w->registers = l->kernel->vgprs + l->kernel->agprs;
        w->v = calloc(w->registers * LANES, sizeof *w->v);
        w->vu = calloc(w->registers * LANES, sizeof *w->vu);
        size_t private_bytes = (size_t)l->private_bytes * LANES + 8;
        w->private_memory = calloc(private_bytes, 1);
        w->private_undefined = malloc(private_bytes);
        good = w->v && w->vu && w->private_memory && w->private_undefined;
        for (unsigned c = 0; c < COUNTERS; c++) good = good && (w->waiting[c] = calloc(SGPRS + w->registers, 1));
        if (!good) break;
        memset(w->private_undefined, 0xff, private_bytes);
        initial_registers(w);
    }
    if (good) return b;
    free_block(b);
    return NULL;
}

static void waits_for_ever(launch *l, block **resident, unsigned count, const char *why) {
    char where[512];
    size_t at = 0;
    where[0] = 0;
    for (unsigned k = 0; k < count; k++)
        for (unsigned n = 0; resident[k] && n < resident[k]->waves; n++) {
            wave *w = &resident[k]->wave[n];
            if (w->state != WAVE_ENDED && at < sizeof where - 64)
                at += (size_t)snprintf(where + at, sizeof where - at, "%sblock %u wave %u at pc %#x", at ? ", " : "", resident[k]->number, n,
                                       (unsigned)(w->pc - (u64)(uintptr_t)l->module->image));
        }
    l->failed = 1;
    snprintf(l->error, l->room, "kernel %s: %s: %s", l->module->strings + l->kernel->name, why, where);
}

static void run_blocks(launch *l) {
    unsigned most = (unsigned)number_from("QD_AMD_ORACLE_RESIDENT", 4), count = 0;
    most = most ? most : 1;
    block **resident = calloc(most, sizeof *resident);
    if (!resident) { l->failed = 1; snprintf(l->error, l->room, "out of memory"); return; }
    uint32_t next = 0, done = 0;
    while (done < l->blocks && !l->failed) {
        for (unsigned k = 0; k < most && next < l->blocks; k++)
            if (!resident[k]) {
                if (!(resident[k] = start_block(l, next++))) { l->failed = 1; snprintf(l->error, l->room, "out of memory"); break; }
                count++;
            }
        if (l->failed) break;
        /* A wave that is ready, drawn without preference. */
        wave *chosen = NULL;
        unsigned seen = 0;
        for (unsigned k = 0; k < most; k++)
            for (unsigned n = 0; resident[k] && n < resident[k]->waves; n++)
                if (resident[k]->wave[n].state == WAVE_READY && next_random(l) % ++seen == 0) chosen = &resident[k]->wave[n];
        if (!chosen) { waits_for_ever(l, resident, most, "all waves wait at barriers"); break; }
        for (u64 quantum = 1 + next_random(l) % 64; quantum && chosen->state == WAVE_READY && !l->failed; quantum--) {
            l->since_progress++;
            execute(chosen);
            if (chosen->at && chosen->at->kind == KIND_SLEEP) break;
        }
        if (!l->failed && l->since_progress > l->budget) waits_for_ever(l, resident, most, "no progress: waves wait for what does not come");
        for (unsigned k = 0; k < most; k++)
            if (resident[k] && !resident[k]->live) { free_block(resident[k]); resident[k] = NULL; done++; }
    }
    for (unsigned k = 0; k < most; k++) free_block(resident[k]);
    free(resident);
    (void)count;
}

/* One line: what the launch executed, by op, with its class; and how often it waited, for what. */
static void report_coverage(launch *l) {
    const char *path = getenv("QD_AMD_ORACLE_COVERAGE");
    oracle_module *m = l->module;
    if (!path || !*path) return;
    char *line = NULL;
    size_t bytes = 0;
    FILE *text = open_memstream(&line, &bytes);
    if (!text) return;
    fprintf(text, "{\"architecture\": \"%s\", \"wave\": %u, \"kernel\": \"%s\", \"blocks\": %u, \"threads\": %u, \"vgprs\": %u, \"lds\": %u, \"ops\": {",
            oracle_architecture(m), l->lanes, m->strings + l->kernel->name, l->blocks, l->threads, l->kernel->vgprs + l->kernel->agprs, l->lds_bytes);
    const char *comma = "";
    for (size_t k = 0; k < m->op_count; k++)
        if (m->issued[k]) {
            size_t again = 0;
            u64 total = 0;
            /* One op may be several functions. */
            for (size_t j = 0; j < m->op_count; j++)
                if (m->ops[j].name == m->ops[k].name) { if (j < k && m->issued[j]) again = 1; total += m->issued[j]; }
            if (again) continue;
            fprintf(text, "%s\"%s\": [%llu, \"%s\"]", comma, m->strings + m->ops[k].name, (unsigned long long)total, m->strings + m->ops[k].kind);
            comma = ", ";
        }
    fprintf(text, "}, \"stalls\": {");
    static const char *const kinds[] = {"loads", "stores", "LDS", "scalar"};
    for (unsigned c = 0; c < COUNTERS; c++) fprintf(text, "%s\"%s\": %llu", c ? ", " : "", kinds[c], (unsigned long long)m->stalls[c]);
    fprintf(text, "}}\n");
    fclose(text);
    FILE *file = fopen(path, "a");
    if (file) { fwrite(line, 1, bytes, file); fclose(file); }
    free(line);
}

static const table_kernel *kernel_of(const oracle_module *m, const char *name) {
    for (size_t k = 0; k < m->kernel_count; k++)
        if (!strcmp(m->strings + m->kernels[k].name, name)) return &m->kernels[k];
    return NULL;
}

int oracle_find(const oracle_module *m, const char *name, oracle_kernel *out) {
    const table_kernel *k = kernel_of(m, name);
    if (!k) return 0;
    if (out) *out = (oracle_kernel){k->kernarg, k->shared, k->private_bytes, k->wave, k->max_threads};
    return 1;
}

static const char *refusal(const launch *l, u64 lds) {
    const table_kernel *k = l->kernel;
    if (!l->threads || l->threads > 1024 || l->threads > k->max_threads) return "more threads in a block than the kernel is made for, or none";
    if (lds > 65536) return "more than 65536 bytes of LDS";
    if (k->rsrc1 >> 12 & 15) return "a rounding mode other than to nearest even";
    return NULL;
}

int oracle_launch(oracle_module *m, const char *kernel, uint32_t blocks, uint32_t threads, uint32_t dynamic, const void *kernarg,
                  size_t kernarg_bytes, const oracle_region *regions, size_t count, char *error, size_t room) {
    char scratch[8];
    launch *l = calloc(1, sizeof *l);
    const table_kernel *k = kernel_of(m, kernel);
    if (!room) { error = scratch; room = sizeof scratch; }
    error[0] = 0;
    if (!l || !k) { snprintf(error, room, l ? "no kernel %s" : "out of memory", kernel); free(l); return 1; }
    l->module = m;
    l->kernel = k;
    l->blocks = blocks;
    l->threads = threads;
    l->lanes = k->wave;
    u64 lds = (u64)k->shared + dynamic;
    l->private_bytes = k->private_bytes + (k->properties >> 11 & 1 ? 16384 : 0);
    l->error = error;
    l->room = room;
    l->random = number_from("QD_AMD_ORACLE_SEED", 1) * 0x9e3779b97f4a7c15;
    l->budget = number_from("QD_AMD_ORACLE_BUDGET", 10000000);
    const char *no = refusal(l, lds);
    /* Whole words: an atomic on less is made on the word around it, and LDS's granule is more. */
    l->lds_asked = (uint32_t)lds;
    l->lds_bytes = (uint32_t)((lds + 3) / 4 * 4);
    size_t size = (k->kernarg > kernarg_bytes ? k->kernarg : kernarg_bytes) + 64;
    l->kernarg = aligned_alloc(64, (size + 63) & ~(size_t)63);
    l->kernarg_defined = calloc(size, 1);
    l->packet = calloc(1, 64);
    l->regions = calloc(count + 3, sizeof *l->regions);
    if (!no && !(l->kernarg && l->kernarg_defined && l->packet && l->regions)) no = "out of memory";
    if (no) snprintf(error, room, "kernel %s: %s", kernel, no), l->failed = 1;
    else {
        uint16_t sizes[3] = {(uint16_t)threads, 1, 1};
        uint32_t grid[3] = {blocks * threads, 1, 1};
        memcpy((char *)l->packet + 4, sizes, sizeof sizes);
        memcpy((char *)l->packet + 12, grid, sizeof grid);
        memset(l->kernarg, 0, size);
        if (kernarg_bytes) memcpy(l->kernarg, kernarg, kernarg_bytes);
        memset(l->kernarg_defined, 0xff, kernarg_bytes);
        /* The first is the code object: it is not written. */
        l->regions[0] = (oracle_region){(u64)(uintptr_t)m->image, m->image_bytes, NULL};
        l->regions[1] = (oracle_region){(u64)(uintptr_t)l->kernarg, size - 64 > kernarg_bytes ? size - 64 : kernarg_bytes, l->kernarg_defined};
        l->regions[2] = (oracle_region){(u64)(uintptr_t)l->packet, 64, NULL};
        if (count) memcpy(l->regions + 3, regions, count * sizeof *regions);
        l->region_count = count + 3;
        memset(m->issued, 0, m->op_count * sizeof *m->issued);
        memset(m->stalls, 0, sizeof m->stalls);
        run_blocks(l);
        report_coverage(l);
    }
    int failed = l->failed;
    free(l->kernarg);
    free(l->kernarg_defined);
    free(l->packet);
    free(l->regions);
    free(l);
    return failed;
}
