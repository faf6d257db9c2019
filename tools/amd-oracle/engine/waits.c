/* What has been issued and not waited for. Hardware lets an instruction read a register that a load
 * has yet to write; here that is an error. */
#include "engine.h"

static int family9(const wave *w) {
    unsigned a = w->launch->module->header->architecture;
    return a == GFX942 || a == GFX90A;
}

static enum counter actual(const wave *w, enum counter counter) {
    if (counter == COUNT_STORES && family9(w)) return COUNT_LOADS;
    if (counter == COUNT_SCALAR && w->launch->module->header->architecture != GFX1201) return COUNT_LDS;
    return counter;
}

static const char *name_of(const wave *w, unsigned counter) {
    static const char *const old[] = {"vmcnt", "vscnt", "lgkmcnt", "lgkmcnt"};
    static const char *const new[] = {"loadcnt", "storecnt", "dscnt", "kmcnt"};
    return (w->launch->module->header->architecture == GFX1201 ? new : old)[counter];
}

static void missing(wave *w, unsigned reg, unsigned counter, const char *what) {
    fail(w, -1, "missing s_waitcnt: %s %c%u, which an instruction before is still to write (%s)", what, reg < SGPRS ? 's' : 'v',
         reg < SGPRS ? reg : reg - SGPRS, name_of(w, counter));
}

/* Whether registers may be read. */
int ready(wave *w, unsigned first, unsigned count) {
    for (unsigned c = 0; c < COUNTERS; c++)
        if (w->queues[c].count)
            for (unsigned r = first; r < first + count; r++)
                if (w->waiting[c][r]) { missing(w, r, c, "reads"); return 0; }
    return 1;
}

/* Whether registers may be written. Loads that return in order may follow one another. */
int ready_to_overwrite(wave *w, unsigned first, unsigned count, enum counter by) {
    by = by == COUNTERS ? COUNTERS : actual(w, by);
    for (unsigned c = 0; c < COUNTERS; c++)
        if (w->queues[c].count && (c != by || w->queues[c].unordered))
            for (unsigned r = first; r < first + count; r++)
                if (w->waiting[c][r]) { missing(w, r, c, "overwrites"); return 0; }
    return 1;
}

static void finish(wave *w, unsigned c, unsigned n) {
    queue *q = &w->queues[c];
    pending e = q->entry[(q->first + n) % QUEUE];
    for (unsigned r = e.first; r < e.first + e.count; r++) w->waiting[c][r]--;
    q->unordered -= e.unordered;
    if (e.number > w->lds_done) w->lds_done = e.number;
    /* Entries before it keep their order. */
    for (; n > 0; n--) q->entry[(q->first + n) % QUEUE] = q->entry[(q->first + n - 1) % QUEUE];
    q->first = (q->first + 1) % QUEUE;
    q->count--;
}

/* A wait for what was issued after the last one of its counter is a stall of its own: what was issued
 * before that has come meanwhile. It is for what takes longest of them. */
static void note_stall(wave *w, queue *q, unsigned allowed) {
    unsigned kind = COUNTERS;
    for (unsigned n = 0; n + allowed < q->count; n++) {
        const pending *e = &q->entry[(q->first + n) % QUEUE];
        if (e->stalls == q->stalls && e->kind < kind) kind = e->kind;
    }
    if (kind == COUNTERS) return;
    q->stalls++;
    w->launch->module->stalls[kind]++;
}

static void wait_counter(wave *w, unsigned c, unsigned allowed) {
    queue *q = &w->queues[c];
    note_stall(w, q, allowed);
    if (!allowed) {
        while (q->count) finish(w, c, 0);
        return;
    }
    /* Those that return out of order may be the ones that were first; which is not known. */
    while (q->count - q->unordered > allowed) {
        unsigned n = 0;
        while (q->entry[(q->first + n) % QUEUE].unordered) n++;
        finish(w, c, n);
    }
}

void issue(wave *w, enum counter counter, unsigned first, unsigned count, int unordered, int lds) {
    unsigned c = actual(w, counter);
    queue *q = &w->queues[c];
    unsigned most = c == COUNT_LDS && family9(w) ? 15 : c == COUNT_SCALAR ? 31 : 63;
    /* The counter is full: hardware stalls until the oldest is done. */
    if (q->count >= most) { if (q->unordered) wait_counter(w, c, 0); else finish(w, c, 0); }
    pending e = {(uint16_t)first, (uint16_t)count, (uint8_t)unordered, (uint8_t)counter, q->stalls, lds ? ++w->lds_number : 0};
    for (unsigned r = first; r < first + count; r++) w->waiting[c][r]++;
    q->entry[(q->first + q->count++) % QUEUE] = e;
    q->unordered += (unsigned)unordered;
}

void wait_for(wave *w, const table_instruction *i) {
    for (unsigned c = 0; c < COUNTERS; c++)
        if (i->waits[c] != 0xffff) wait_counter(w, c, i->waits[c]);
}
