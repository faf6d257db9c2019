/* Global, private and LDS memory of a launch, with what is written, and races in LDS. */
#include "engine.h"

#include <string.h>

static oracle_region *region_of(launch *l, u64 addr, u64 bytes) {
    oracle_region *r = &l->regions[l->last_region];
    if (l->region_count && addr >= r->base && addr - r->base + bytes <= r->bytes) return r;
    for (size_t k = 0; k < l->region_count; k++) {
        r = &l->regions[k];
        if (addr >= r->base && addr - r->base + bytes <= r->bytes) { l->last_region = k; return r; }
    }
    return NULL;
}

static void race(wave *w, unsigned lane, u64 at, unsigned other, const char *what) {
    fail(w, (int)lane, "race in LDS at byte %llu: %s by wave %u without a barrier between", (unsigned long long)at, what, other);
}

/* An access conflicts with that of another wave in the same epoch, and with a write that its
 * wave had not waited for when it arrived at a barrier. */
static void lds_access(wave *w, unsigned lane, u64 at, unsigned bytes, int write) {
    uint32_t number = w->lds_number + 1;
    for (u64 b = at; b < at + bytes; b++) {
        lds_byte *s = &w->block->lds_access[b];
        if (s->written && s->writer != w->number && !(w->atomic && s->atomic)) {
            if (s->write_epoch == w->epoch) { race(w, lane, b, s->writer, "a write"); return; }
            if (s->number > w->block->wave[s->writer].lds_released) {
                race(w, lane, b, s->writer, "a write that was not waited for before the barrier,");
                return;
            }
        }
        if (write && s->read && s->read_epoch == w->epoch && (s->many || s->reader != w->number)) {
            race(w, lane, b, s->reader, "a read");
            return;
        }
        if (write) {
            s->written = 1;
            s->writer = (uint16_t)w->number;
            s->write_epoch = w->epoch;
            s->number = number;
            s->atomic = (uint8_t)w->atomic;
        } else if (!w->atomic) {
            s->many = s->read && s->read_epoch == w->epoch && (s->many || s->reader != w->number);
            s->read = 1;
            s->reader = (uint16_t)w->number;
            s->read_epoch = w->epoch;
        }
    }
}

typedef struct { uint8_t *data, *undefined; int inverted; } place;

static int find(wave *w, unsigned lane, u64 addr, unsigned bytes, int write, place *to) {
    launch *l = w->launch;
    unsigned space = w->at->space;
    if (space == SPACE_FLAT) {
        u64 aperture = addr & ~(u64)0xffffffff;
        space = aperture == SHARED_APERTURE ? SPACE_LDS : aperture == PRIVATE_APERTURE ? SPACE_PRIVATE : SPACE_GLOBAL;
        if (space != SPACE_GLOBAL) addr &= 0xffffffff;
        if (space == SPACE_LDS) w->flat_lds = 1;
    }
    if (w->atomic && addr % bytes) { fail(w, (int)lane, "atomic access of %u bytes at %#llx is not aligned", bytes, (unsigned long long)addr); return 0; }
    if (space == SPACE_LDS) {
        addr &= 0xffffffff;
        if (addr + bytes > l->lds_bytes) {
            fail(w, (int)lane, "%s of %u bytes at %llu is outside of the block's %u bytes of LDS", write ? "store" : "load", bytes, (unsigned long long)addr, l->lds_bytes);
            return 0;
        }
        lds_access(w, lane, addr, bytes, write);
        *to = (place){w->block->lds + addr, w->block->lds_undefined + addr, 0};
        return 1;
    }
    if (space == SPACE_PRIVATE) {
        addr &= 0xffffffff;
        if (addr + bytes > l->private_bytes) {
            fail(w, (int)lane, "%s of %u bytes at %llu is outside of the lane's %u bytes of private memory", write ? "store" : "load", bytes, (unsigned long long)addr, l->private_bytes);
            return 0;
        }
        u64 at = (u64)lane * l->private_bytes + addr;
        *to = (place){w->private_memory + at, w->private_undefined + at, 0};
        return 1;
    }
    oracle_region *r = region_of(l, addr, bytes);
    if (!r || (write && r == l->regions)) {
        fail(w, (int)lane, "%s of %u bytes at %#llx is %s", write ? "store" : "load", bytes, (unsigned long long)addr, r ? "to the code object" : "outside of all buffers");
        return 0;
    }
    *to = (place){(uint8_t *)(uintptr_t)addr, r->defined ? r->defined + (addr - r->base) : NULL, 1};
    return 1;
}

u64 memory_load(oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 *undefined) {
    wave *w = o->wave;
    place p;
    u64 x = 0, u = 0;
    unsigned bytes = bits / 8;
    if (w->launch->failed || !find(w, lane, addr, bytes, 0, &p)) { *undefined = 0; return 0; }
    memcpy(&x, p.data, bytes);
    if (p.undefined) {
        memcpy(&u, p.undefined, bytes);
        if (p.inverted) u = ~u & (bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1);
    }
    *undefined = u;
    return x;
}

void memory_store(oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 value, u64 undefined) {
    wave *w = o->wave;
    place p;
    unsigned bytes = bits / 8;
    if (w->launch->failed || !find(w, lane, addr, bytes, 1, &p)) return;
    if (memcmp(p.data, &value, bytes)) w->launch->since_progress = 0;
    memcpy(p.data, &value, bytes);
    if (p.undefined) {
        if (p.inverted) undefined = ~undefined;
        memcpy(p.undefined, &undefined, bytes);
    }
}
