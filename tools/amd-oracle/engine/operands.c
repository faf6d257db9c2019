/* Reads and writes operands: scalar and vector registers, constants, and what DPP and SDWA select. */
#include "engine.h"

#include <string.h>

static u64 ones(unsigned bits) { return bits >= 64 ? ~(u64)0 : ((u64)1 << bits) - 1; }

/* The vector registers of an operand. Accumulation registers lie behind the others. */
int register_of(wave *w, const table_operand *operand, unsigned *first, unsigned *count) {
    *first = operand->code >= OPERAND_AGPR ? w->launch->kernel->vgprs + operand->code - OPERAND_AGPR : (unsigned)(operand->code - OPERAND_VGPR);
    *count = operand->bits > 32 ? (operand->bits + 31) / 32 : 1;
    if (*first + *count > w->registers) {
        fail(w, -1, "register v%u is not among the %u that the kernel allocates", *first + *count - 1, w->registers);
        return 0;
    }
    return 1;
}

static int special(wave *w, unsigned code, u64 *x, u64 *u) {
    u64 mask = w->launch->lanes == 64 ? ~(u64)0 : 0xffffffff;
    u64 vcc = (w->sgpr[OPERAND_VCC] | (u64)w->sgpr[OPERAND_VCC + 1] << 32) & mask;
    u64 vccu = (w->sgpru[OPERAND_VCC] | (u64)w->sgpru[OPERAND_VCC + 1] << 32) & mask;
    *u = 0;
    switch (code) {
    case 235: *x = SHARED_APERTURE; return 1;
    case 236: *x = SHARED_APERTURE | 0xffffffff; return 1;
    case 237: *x = PRIVATE_APERTURE; return 1;
    case 238: *x = PRIVATE_APERTURE | 0xffffffff; return 1;
    case 251: *x = !vcc; *u = vccu && !(vcc & ~vccu); return 1;
    case 252: *x = !exec_of(w); return 1;
    case 253: *x = w->scc; *u = w->sccu; return 1;
    }
    fail(w, -1, "source operand %u", code);
    return 0;
}

/* A scalar operand or a constant, at most 64 bits. */
int scalar(wave *w, const table_operand *from, u64 *x, u64 *u) {
    unsigned code = from->code;
    *x = *u = 0;
    if (code == OPERAND_NONE || code == OPERAND_NULL) return 1;
    if (code == OPERAND_CONSTANT) *x = from->value;
    else if (code < SGPRS) {
        unsigned count = from->bits > 32 ? 2 : 1;
        if (code + count > SGPRS) { fail(w, -1, "scalar operand %u", code); return 0; }
        if (!ready(w, code, count)) return 0;
        *x = w->sgpr[code];
        *u = w->sgpru[code];
        if (count == 2) {
            *x |= (u64)w->sgpr[code + 1] << 32;
            *u |= (u64)w->sgpru[code + 1] << 32;
        }
    } else if (!special(w, code, x, u)) return 0;
    *x = (*x & from->keep) ^ from->flip;
    *u &= from->keep;
    return 1;
}

static void sub_dword(unsigned select, u64 *x, u64 *u) {
    unsigned which = select >> 4 & 7;
    unsigned at = which < 4 ? which * 8 : which < 6 ? (which - 4) * 16 : 0, bits = which < 4 ? 8 : which < 6 ? 16 : 32;
    *x = *x >> at & ones(bits);
    *u = *u >> at & ones(bits);
    if (select & 0x80 && bits < 32) {
        *x = (u64)((int64_t)(*x << (64 - bits)) >> (64 - bits)) & 0xffffffff;
        *u = (u64)((int64_t)(*u << (64 - bits)) >> (64 - bits)) & 0xffffffff;
    }
}

/* Source `k` of an instruction, for lanes in `lanes`. */
int fetch(wave *w, const table_operand *from, unsigned k, u64 lanes, u64 *x, u64 *u) {
    if (from->code == OPERAND_NONE) return 1;
    if (from->code < OPERAND_VGPR || from->code == OPERAND_CONSTANT) {
        u64 one, oneu;
        if (!scalar(w, from, &one, &oneu)) return 0;
        if (from->select == SELECT_HIGH) { one = one >> 16 & 0xffff; oneu = oneu >> 16 & 0xffff; }
        else if (from->select & SELECT_SDWA) sub_dword(from->select, &one, &oneu);
        for (unsigned lane = 0; lane < LANES; lane++) { x[lane] = one; u[lane] = oneu; }
        return 1;
    }
    table_operand moved = *from;
    if (w->gpr_index && k < 4 && w->sgpr[OPERAND_M0] >> (12 + k) & 1) moved.code = (uint16_t)(moved.code + (w->sgpr[OPERAND_M0] & 0xff));
    unsigned first, count;
    if (!register_of(w, &moved, &first, &count) || !ready(w, SGPRS + first, count)) return 0;
    const uint32_t *low = w->v + first * LANES, *lowu = w->vu + first * LANES;
    for (u64 todo = lanes; todo; todo &= todo - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(todo);
        u64 a = low[lane], b = lowu[lane];
        if (count > 1) { a |= (u64)low[LANES + lane] << 32; b |= (u64)lowu[LANES + lane] << 32; }
        if (from->select == SELECT_HIGH) { a = a >> 16; b = b >> 16; }
        else if (from->select & SELECT_SDWA) sub_dword(from->select, &a, &b);
        x[lane] = (a & from->keep) ^ from->flip;
        u[lane] = b & from->keep;
        if (from->bits == 16) u[lane] &= 0xffff;
    }
    return 1;
}

int put_scalar(wave *w, const table_operand *to, unsigned bits, u64 x, u64 u) {
    unsigned code = to->code, count = bits > 32 ? 2 : 1;
    if (code == OPERAND_NONE || code == OPERAND_NULL) return 1;
    if (code + count > SGPRS) { fail(w, -1, "scalar destination %u", code); return 0; }
    if (!ready_to_overwrite(w, code, count, COUNTERS)) return 0;
    for (unsigned k = 0; k < count; k++) {
        unsigned r = code + k;
        if ((r == OPERAND_EXEC || r == OPERAND_EXEC + 1) && (uint32_t)(u >> (32 * k)) && (w->launch->lanes == 64 || r == OPERAND_EXEC)) {
            fail(w, __builtin_ctz((uint32_t)(u >> (32 * k))) + (r == OPERAND_EXEC + 1 ? 32 : 0), "the mask of active lanes comes from a value that was never written");
            return 0;
        }
        w->sgpr[r] = (uint32_t)(x >> (32 * k));
        w->sgpru[r] = (uint32_t)(u >> (32 * k));
    }
    return 1;
}

int put_vector(wave *w, const table_operand *to, u64 lanes, const u64 *x, const u64 *u) {
    table_operand moved = *to;
    if (w->gpr_index && w->sgpr[OPERAND_M0] >> 15 & 1) moved.code = (uint16_t)(moved.code + (w->sgpr[OPERAND_M0] & 0xff));
    unsigned first, count;
    if (!register_of(w, &moved, &first, &count) || !ready_to_overwrite(w, SGPRS + first, count, COUNTERS)) return 0;
    if (count > 2) { fail(w, -1, "result of %u registers", count); return 0; }
    uint32_t *low = w->v + first * LANES, *lowu = w->vu + first * LANES;
    for (u64 todo = lanes; todo; todo &= todo - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(todo);
        low[lane] = (uint32_t)x[lane];
        lowu[lane] = (uint32_t)u[lane];
        if (count == 2) { low[LANES + lane] = (uint32_t)(x[lane] >> 32); lowu[LANES + lane] = (uint32_t)(u[lane] >> 32); }
    }
    return 1;
}

/* Halves of a packed operand: which one feeds the low result, which the high one. */
void select_halves(const table_instruction *i, unsigned k, const table_operand *from, u64 *x, u64 *u) {
    unsigned bits = i->packed == 2 ? 32 : 16;
    u64 m = ones(bits), sign = (u64)1 << (bits - 1);
    int low = i->opsel >> k & 1, high = i->opsel_hi >> k & 1;
    /* Only floats have a sign to flip. */
    u64 flip = i->neg >> k & 1 ? sign : 0, flip_high = i->neg_hi >> k & 1 ? sign : 0;
    if (i->packed == 3 && k == 2) return;
    (void)from;
    for (unsigned lane = 0; lane < LANES; lane++) {
        u64 a = x[lane], b = u[lane];
        x[lane] = ((low ? a >> bits : a) & m) ^ flip;
        u[lane] = (low ? b >> bits : b) & m;
        x[lane] |= (((high ? a >> bits : a) & m) ^ flip_high) << bits;
        u[lane] |= ((high ? b >> bits : b) & m) << bits;
    }
}

/* The lane that DPP reads for a lane; -1 if there is none. */
static int dpp_lane(const table_instruction *i, int lane, int lanes) {
    int row = lane & ~15, at = lane & 15, n = i->dpp & 15, c = i->dpp;
    if (c == 0x1000) return (lane & ~7) | (int)(i->dpp8 >> (3 * (lane & 7)) & 7);
    if (c <= 0xff) return (lane & ~3) | (c >> (2 * (lane & 3)) & 3);
    if (c > 0x100 && c <= 0x10f) return at + n < 16 ? row + at + n : -1;
    if (c > 0x110 && c <= 0x11f) return at >= n ? row + at - n : -1;
    if (c > 0x120 && c <= 0x12f) return row + ((at - n) & 15);
    if (c == 0x130) return lane + 1 < lanes ? lane + 1 : -1;
    if (c == 0x134) return (lane + 1) % lanes;
    if (c == 0x138) return lane ? lane - 1 : -1;
    if (c == 0x13c) return (lane + lanes - 1) % lanes;
    if (c == 0x140) return row + 15 - at;
    if (c == 0x141) return (lane & ~7) + 7 - (lane & 7);
    if (c == 0x142) return lane >= 16 ? row - 1 : -1;
    if (c == 0x143) return lane >= 32 ? 31 : -1;
    if (c >= 0x150 && c <= 0x15f) return row + n;
    if (c >= 0x160 && c <= 0x16f) return row + (at ^ n);
    return -2;
}

/* Source 0 as DPP permutes it. Returns the lanes that are written. */
u64 select_lanes(wave *w, const table_instruction *i, u64 *x, u64 *u) {
    u64 old[LANES], oldu[LANES], exec = exec_of(w), written = 0;
    memcpy(old, x, sizeof old);
    memcpy(oldu, u, sizeof oldu);
    for (int lane = 0; lane < (int)w->launch->lanes; lane++) {
        if (!(i->dpp_rows >> (lane / 16 & 3) & 1) || !(i->dpp_rows >> (4 + (lane / 4 & 3)) & 1) || !(exec >> lane & 1)) continue;
        int from = dpp_lane(i, lane, (int)w->launch->lanes);
        if (from == -2) { fail(w, lane, "DPP control %#x", i->dpp); return 0; }
        int valid = from >= 0 && (i->dpp_fetch || exec >> from & 1);
        if (!valid && !i->dpp_bound) continue;
        x[lane] = valid ? old[from] : 0;
        u[lane] = valid ? oldu[from] : 0;
        written |= (u64)1 << lane;
    }
    return written;
}

int fetch_words(wave *w, const table_operand *from, uint32_t x[ORACLE_WORDS][LANES], uint32_t u[ORACLE_WORDS][LANES]) {
    unsigned first, count;
    if (from->code == OPERAND_NONE) return 1;
    if (!register_of(w, from, &first, &count)) return 0;
    memcpy(x, w->v + first * LANES, count * LANES * sizeof **x);
    memcpy(u, w->vu + first * LANES, count * LANES * sizeof **u);
    return 1;
}

int put_words(wave *w, const table_operand *to, u64 lanes, uint32_t x[ORACLE_WORDS][LANES], uint32_t u[ORACLE_WORDS][LANES]) {
    unsigned first, count;
    if (!register_of(w, to, &first, &count)) return 0;
    for (unsigned k = 0; k < count; k++)
        for (u64 todo = lanes; todo; todo &= todo - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(todo);
            w->v[(first + k) * LANES + lane] = x[k][lane];
            w->vu[(first + k) * LANES + lane] = u[k][lane];
        }
    return 1;
}
