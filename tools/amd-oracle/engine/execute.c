/* Executes one instruction of one wave. */
#include "engine.h"

#include <string.h>

static const table_op *op_of(wave *w, const table_instruction *i) { return &w->launch->module->ops[i->op]; }

static void prepare(wave *w, const table_instruction *i, oracle_operands *o) {
    u64 exec = exec_of(w);
    unsigned vcc = OPERAND_VCC;
    u64 mask = w->launch->lanes == 64 ? ~(u64)0 : 0xffffffff;
    o->exec = o->lanes = exec;
    o->vcc = (w->sgpr[vcc] | (u64)w->sgpr[vcc + 1] << 32) & mask;
    o->vccu = (w->sgpru[vcc] | (u64)w->sgpru[vcc + 1] << 32) & mask;
    o->vccz = !o->vcc;
    o->vcczu = o->vccu && !(o->vcc & ~o->vccu);
    o->execz = !exec;
    o->out_d = o->out_du = o->out_vcc = o->out_vccu = o->out_exec = o->out_execu = 0;
    o->scc = w->scc;
    o->sccu = w->sccu;
    o->m0 = w->sgpr[OPERAND_M0];
    o->m0u = w->sgpru[OPERAND_M0];
    o->pc = w->pc;
    o->pc_written = 0;
    o->simm16 = (u64)i->simm & 0xffff;
    o->simm32 = i->literal;
    o->wave64 = w->launch->lanes == 64;
    o->opsel = i->opsel;
    o->opsel_hi = i->opsel_hi;
    o->neg = i->neg;
    o->ieee = w->mode >> 9 & 1;
    o->round = 0;
    o->flush = 0;
    unsigned single = w->mode >> 4 & 3, both = w->mode >> 6 & 3;
    o->flush |= (single & 1 ? 0u : 1u) | (single & 2 ? 0u : 2u) | (both & 1 ? 0u : 4u) | (both & 2 ? 0u : 8u);
    o->offset = (u64)(int64_t)i->offset;
    o->offset0 = i->offset0;
    o->offset1 = i->offset1;
    o->v = w->v;
    o->vu = w->vu;
    o->registers = w->registers;
    o->bad_index = 0;
    o->load = memory_load;
    o->store = memory_store;
    o->wave = w;
}

static u64 any(const u64 *u, u64 lanes) {
    u64 all = 0;
    for (u64 todo = lanes; todo; todo &= todo - 1) all |= u[__builtin_ctzll(todo)];
    return all;
}

/* Runs the compiled function: the one without shadows if all that it reads was written. */
static void call(wave *w, const table_instruction *i, oracle_operands *o, int undefined) {
    oracle_module *m = w->launch->module;
    (undefined ? m->shadowed : m->plain)[i->op](o);
    if (o->bad_index && !w->launch->failed) {
        if (o->pc_written) fail(w, -1, "the branch depends on a value that was never written");
        else fail(w, -1, "the number of a lane or register was never written, or is out of range");
    }
}

static void scalar_instruction(wave *w, const table_instruction *i) {
    oracle_operands *o = &w->launch->operands;
    const table_op *op = op_of(w, i);
    prepare(w, i, o);
    o->lanes = 1;
    u64 undefined = o->sccu | o->m0u | o->vccu;
    for (unsigned k = 0; k < 3; k++) {
        if (!scalar(w, &i->source[k], &o->s[k][0], &o->su[k][0])) return;
        undefined |= o->su[k][0];
    }
    o->d[0] = o->du[0] = 0;
    unsigned bits = i->dst.bits;
    if (i->dst.code < SGPRS && (op->flags & USES_D || i->dst.code == OPERAND_EXEC)) {
        if (!scalar(w, &i->dst, &o->d[0], &o->du[0])) return;
    } else if (i->dst.code < SGPRS && op->flags & WRITES_D) {
        /* Not written by S_CMOV when SCC is 0. */
        unsigned code = i->dst.code;
        o->d[0] = w->sgpr[code];
        o->du[0] = w->sgpru[code];
        if (bits > 32) { o->d[0] |= (u64)w->sgpr[code + 1] << 32; o->du[0] |= (u64)w->sgpru[code + 1] << 32; }
    }
    undefined |= o->du[0];
    w->pc += i->size;
    call(w, i, o, undefined != 0);
    if (w->launch->failed) return;
    if (op->flags & WRITES_EXEC) {
        table_operand exec = {.code = OPERAND_EXEC, .bits = 64, .keep = ~(u64)0};
        if (o->out_execu || o->exec != exec_of(w))
            if (!put_scalar(w, &exec, w->launch->lanes, o->exec, o->out_execu)) return;
    }
    if (op->flags & WRITES_D && !put_scalar(w, &i->dst, bits, o->d[0], o->du[0])) return;
    if (op->flags & WRITES_SCC) { w->scc = o->scc & 1; w->sccu = o->sccu & 1; }
    if (o->pc_written) w->pc = o->pc;
}

/* Bits of a VALU result that modifiers change: omod and clamp of floats. */
static u64 modified(const table_instruction *i, u64 x, unsigned dx10) {
    unsigned bits = i->float_bits;
    if (!bits || (!i->clamp && !i->omod)) return x;
    if (i->packed) {
        u64 out = 0;
        for (unsigned at = 0; at < (bits == 16 ? 32u : 64u); at += bits) {
            table_instruction one = *i;
            one.packed = 0;
            out |= modified(&one, x >> at & (((u64)1 << bits) - 1), dx10) << at;
        }
        return out;
    }
    double d;
    u64 m = bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
    if (bits == 64) memcpy(&d, &x, 8);
    else if (bits == 32) { float f; uint32_t y = (uint32_t)x; memcpy(&f, &y, 4); d = (double)f; }
    else { _Float16 h; uint16_t y = (uint16_t)x; memcpy(&h, &y, 2); d = (double)h; }
    static const double scale[] = {1, 2, 4, 0.5};
    d *= scale[i->omod & 3];
    if (i->clamp) d = d != d ? (dx10 ? 0 : d) : d < 0 ? 0 : d > 1 ? 1 : d;
    u64 y = 0;
    if (bits == 64) memcpy(&y, &d, 8);
    else if (bits == 32) { float f = (float)d; memcpy(&y, &f, 4); }
    else { _Float16 h = (_Float16)d; memcpy(&y, &h, 2); }
    return (x & ~m) | y;
}

/* Fetches what a vector instruction reads. Returns whether it may run; `undefined` says what of it was never written. */
static int vector_operands(wave *w, const table_instruction *i, oracle_operands *o, u64 *undefined) {
    const table_op *op = op_of(w, i);
    prepare(w, i, o);
    u64 lanes = o->lanes;
    int moves = i->dpp != 0xffff;
    for (unsigned k = 0; k < 3; k++) {
        if (!fetch(w, &i->source[k], k, moves && !k ? ~(u64)0 : lanes, o->s[k], o->su[k])) return 0;
        if (i->packed && i->source[k].code != OPERAND_NONE) select_halves(i, k, &i->source[k], o->s[k], o->su[k]);
    }
    if (moves) {
        o->lanes = lanes = select_lanes(w, i, o->s[0], o->su[0]);
        if (w->launch->failed) return 0;
    }
    if (i->condition.code != OPERAND_NONE) {
        table_operand c = i->condition;
        c.bits = (uint16_t)w->launch->lanes;
        if (!scalar(w, &c, &o->vcc, &o->vccu)) return 0;
    }
    *undefined = i->condition.code != OPERAND_NONE ? o->vccu & lanes : 0;
    if (i->dst.code >= OPERAND_VGPR && i->dst.code < OPERAND_CONSTANT) {
        table_operand d = i->dst;
        d.select = 0;
        d.keep = ~(u64)0;
        d.flip = 0;
        if (op->flags & USES_D || d.bits == 16 || i->dst.select) {
            d.bits = d.bits < 32 ? 32 : d.bits;
            if (!fetch(w, &d, 4, lanes, o->d, o->du)) return 0;
            if (i->dst.select & SELECT_HIGH)
                for (unsigned lane = 0; lane < LANES; lane++) { o->d[lane] >>= 16; o->du[lane] >>= 16; }
        } else {
            memset(o->d, 0, sizeof o->d);
            memset(o->du, 0, sizeof o->du);
        }
        *undefined |= any(o->du, lanes);
    }
    for (unsigned k = 0; k < 3; k++)
        if (i->source[k].code != OPERAND_NONE) *undefined |= any(o->su[k], lanes);
    return 1;
}

/* What of a register the result replaces: a half, a byte, or all. */
static int place_result(wave *w, const table_instruction *i, oracle_operands *o) {
    u64 lanes = o->lanes;
    unsigned select = i->dst.select, dx10 = w->mode >> 8 & 1;
    for (u64 todo = lanes; todo; todo &= todo - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(todo);
        o->d[lane] = modified(i, o->d[lane], dx10);
    }
    if (select) {
        unsigned first, count;
        if (!register_of(w, &i->dst, &first, &count)) return 0;
        for (u64 todo = lanes; todo; todo &= todo - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(todo);
            u64 old = w->v[first * LANES + lane], oldu = w->vu[first * LANES + lane], x = o->d[lane], u = o->du[lane];
            if (select & SELECT_SDWA_DST) {
                unsigned s = i->dst_select, at = s < 4 ? s * 8 : (s - 4u) * 16, bits = s < 4 ? 8 : 16;
                u64 m = (((u64)1 << bits) - 1) << at;
                u64 rest = i->dst_unused == 2 ? old & ~m : 0, restu = i->dst_unused == 2 ? oldu & ~m : 0;
                if (i->dst_unused == 1 && x >> (bits - 1) & 1) rest = ~m & ~(((u64)1 << at) - 1) & 0xffffffff;
                x = rest | ((x << at) & m);
                u = restu | ((u << at) & m);
            } else if (select & SELECT_HIGH) {
                x = (old & 0xffff) | (x & 0xffff) << 16;
                u = (oldu & 0xffff) | (u & 0xffff) << 16;
            } else {
                x &= 0xffff;
                u &= 0xffff;
            }
            o->d[lane] = x;
            o->du[lane] = u;
        }
    }
    return put_vector(w, &i->dst, lanes, o->d, o->du);
}

static int vector_results(wave *w, const table_instruction *i, oracle_operands *o) {
    const table_op *op = op_of(w, i);
    unsigned lanes = w->launch->lanes;
    if (op->flags & MASK_D && !put_scalar(w, &i->dst, lanes, o->out_d, o->out_du)) return 0;
    if (op->flags & MASK_EXEC) {
        table_operand exec = {.code = OPERAND_EXEC, .bits = 64, .keep = ~(u64)0};
        if (!put_scalar(w, &exec, lanes, o->out_exec, o->out_execu)) return 0;
    }
    if (op->flags & WRITES_D && i->dst.code != OPERAND_NONE) {
        if (i->dst.code < SGPRS) { if (!put_scalar(w, &i->dst, i->dst.bits, o->d[0], o->du[0])) return 0; }
        else if (!place_result(w, i, o)) return 0;
    }
    if (op->flags & WRITES_S0 && !put_vector(w, &i->source[0], o->lanes, o->s[0], o->su[0])) return 0;
    if (op->flags & MASK_VCC && !put_scalar(w, &i->sdst, lanes, o->out_vcc, o->out_vccu)) return 0;
    return 1;
}

static void vector_instruction(wave *w, const table_instruction *i) {
    oracle_operands *o = &w->launch->operands;
    u64 undefined;
    w->pc += i->size;
    if (!vector_operands(w, i, o, &undefined)) return;
    if (i->dst.code < SGPRS && op_of(w, i)->flags & WRITES_D) { o->lanes = o->lanes ? o->lanes & -o->lanes : 1; }
    call(w, i, o, undefined != 0);
    if (w->launch->failed) return;
    if (i->dst.code < SGPRS && op_of(w, i)->flags & WRITES_D) {
        unsigned lane = (unsigned)__builtin_ctzll(o->lanes);
        o->d[0] = o->d[lane];
        o->du[0] = o->du[lane];
    }
    vector_results(w, i, o);
}

/* Both halves read before either writes. */
static void dual_instruction(wave *w, const table_instruction *i) {
    oracle_operands *x = &w->launch->operands, *y = &w->launch->second;
    u64 ux, uy;
    w->pc += i->size;
    if (!vector_operands(w, i, x, &ux) || !vector_operands(w, i + 1, y, &uy)) return;
    call(w, i, x, ux != 0);
    call(w, i + 1, y, uy != 0);
    if (w->launch->failed) return;
    if (vector_results(w, i, x)) vector_results(w, i + 1, y);
}

static unsigned number_of(wave *w, const table_operand *operand) {
    unsigned first, count;
    return operand->code >= OPERAND_VGPR && operand->code < OPERAND_CONSTANT && register_of(w, operand, &first, &count) ? first : 0;
}

/* Instructions that name registers of several lanes. */
static void wave_instruction(wave *w, const table_instruction *i) {
    oracle_operands *o = &w->launch->operands;
    const table_op *op = op_of(w, i);
    const table_operand *all[] = {&i->source[0], &i->source[1], &i->source[2], &i->address, &i->data};
    int lds = i->space == SPACE_LDS;
    w->pc += i->size;
    prepare(w, i, o);
    for (unsigned k = 0; k < 5; k++)
        if (all[k]->code >= OPERAND_VGPR && all[k]->code < OPERAND_CONSTANT) {
            unsigned first, count;
            if (!register_of(w, all[k], &first, &count) || !ready(w, SGPRS + first, count)) return;
        }
    for (unsigned k = 0; k < 3; k++)
        if (!fetch(w, &i->source[k], k, ~(u64)0, o->s[k], o->su[k])) return;
    unsigned first = 0, count = 0;
    if (i->dst.code >= OPERAND_VGPR && i->dst.code < OPERAND_CONSTANT) {
        if (!register_of(w, &i->dst, &first, &count)) return;
        if (!ready_to_overwrite(w, SGPRS + first, count, lds ? COUNT_LDS : COUNTERS)) return;
    }
    o->reg_src0 = number_of(w, &i->source[0]);
    o->reg_src1 = number_of(w, &i->source[1]);
    o->reg_dst = number_of(w, &i->dst);
    o->reg_addr = number_of(w, &i->address);
    o->reg_data0 = number_of(w, &i->data);
    if (w->launch->failed) return;
    if (!(op->flags & BY_LANE)) o->lanes = 1;
    o->d[0] = o->du[0] = 0;
    /* A scalar source of a lane instruction: the lane does not matter. */
    if (i->source[0].code < SGPRS && (op->flags & WRITES_D) && i->dst.code < SGPRS) {
        o->d[0] = o->s[0][0];
        o->du[0] = o->su[0][0];
    } else call(w, i, o, 1);
    if (w->launch->failed) return;
    if (op->flags & WRITES_D && i->dst.code < SGPRS && !put_scalar(w, &i->dst, 32, o->d[0], o->du[0])) return;
    if (op->flags & WRITES_D && i->dst.code >= OPERAND_VGPR && !put_vector(w, &i->dst, o->lanes, o->d, o->du)) return;
    if (lds) issue(w, COUNT_LDS, SGPRS + first, count, 0, 1);
}

static void scalar_load(wave *w, const table_instruction *i) {
    oracle_operands *o = &w->launch->operands;
    u64 base, baseu, offset, offsetu;
    unsigned count = i->dst.bits / 32;
    count = count ? count : 1;
    w->pc += i->size;
    prepare(w, i, o);
    if (!scalar(w, &i->base, &base, &baseu) || !scalar(w, &i->address, &offset, &offsetu)) return;
    if (baseu || offsetu) { fail(w, -1, "the address depends on a value that was never written"); return; }
    unsigned to = i->dst.code == OPERAND_NULL ? 0 : i->dst.code;
    if (i->dst.code != OPERAND_NULL && (to + count > SGPRS || !ready_to_overwrite(w, to, count, COUNTERS))) {
        fail(w, -1, "scalar destination %u", to);
        return;
    }
    /* Words are aligned, whatever the address says. */
    int words = i->dst.bits >= 32 && !strstr(w->launch->module->strings + op_of(w, i)->name, "8") && !strstr(w->launch->module->strings + op_of(w, i)->name, "U16")
        && !strstr(w->launch->module->strings + op_of(w, i)->name, "I16");
    o->addr[0] = base + offset + (u64)(int64_t)i->offset;
    if (words || count > 1) o->addr[0] &= ~(u64)3;
    o->offset = 0;
    o->lanes = 1;
    call(w, i, o, 1);
    if (w->launch->failed || i->dst.code == OPERAND_NULL) return;
    for (unsigned k = 0; k < count; k++) {
        w->sgpr[to + k] = o->data[ORACLE_DATA][k][0];
        w->sgpru[to + k] = o->datau[ORACLE_DATA][k][0];
    }
    issue(w, COUNT_SCALAR, to, count, 1, 0);
}

/* The address of each lane. */
static int addresses(wave *w, const table_instruction *i, oracle_operands *o) {
    u64 base = 0, baseu = 0;
    memset(o->s[0], 0, sizeof o->s[0]);
    memset(o->su[0], 0, sizeof o->su[0]);
    if (!fetch(w, &i->address, 4, o->lanes, o->s[0], o->su[0]) || !scalar(w, &i->base, &base, &baseu)) return 0;
    for (u64 todo = o->lanes; todo; todo &= todo - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(todo);
        if (o->su[0][lane] | baseu) { fail(w, (int)lane, "the address depends on a value that was never written"); return 0; }
        u64 at = o->s[0][lane] + base + (i->space == SPACE_LDS ? 0 : (u64)(int64_t)i->offset);
        o->addr[lane] = i->space == SPACE_PRIVATE ? at & 0xffffffff : at;
    }
    return 1;
}

static void memory_instruction(wave *w, const table_instruction *i) {
    oracle_operands *o = &w->launch->operands;
    const table_op *op = op_of(w, i);
    int lds = i->space == SPACE_LDS, atomic = (op->flags & ATOMIC) != 0;
    enum counter counter = lds ? COUNT_LDS : i->returns ? COUNT_LOADS : COUNT_STORES;
    unsigned result = lds || atomic ? ORACLE_RETURN : ORACLE_DATA, first, count;
    w->pc += i->size;
    prepare(w, i, o);
    if (!lds) o->offset = 0;
    const table_operand *data[] = {&i->data, &i->data2};
    for (unsigned k = 0; k < 2; k++) {
        if (data[k]->code == OPERAND_NONE) continue;
        if (!register_of(w, data[k], &first, &count) || !ready(w, SGPRS + first, count)) return;
        if (!fetch_words(w, data[k], o->data[k], o->datau[k])) return;
    }
    first = count = 0;
    if (i->returns) {
        if (!register_of(w, &i->dst, &first, &count) || !ready_to_overwrite(w, SGPRS + first, count, counter)) return;
        /* Loads of 16 bits keep the other half. */
        if (!fetch_words(w, &i->dst, o->data[result], o->datau[result])) return;
        if (result == ORACLE_DATA && i->data.code != OPERAND_NONE && !fetch_words(w, &i->data, o->data[0], o->datau[0])) return;
    }
    if (!addresses(w, i, o)) return;
    w->atomic = atomic;
    w->flat_lds = 0;
    if (o->lanes) call(w, i, o, 1);
    if (w->launch->failed) return;
    if (i->returns && !put_words(w, &i->dst, o->lanes, o->data[result], o->datau[result])) return;
    if (i->space == SPACE_FLAT) {
        issue(w, COUNT_LDS, SGPRS + first, w->flat_lds ? count : 0, 1, 0);
        issue(w, counter, SGPRS + first, count, 1, 0);
    } else issue(w, counter, SGPRS + first, count, 0, lds);
}

/* Only the mode of floats can be read and written. */
static void mode_register(wave *w, const table_instruction *i) {
    unsigned id = (unsigned)i->simm & 63, at = (unsigned)i->simm >> 6 & 31, size = ((unsigned)i->simm >> 11 & 31) + 1;
    uint32_t m = (uint32_t)((((u64)1 << size) - 1) << at);
    w->pc += i->size;
    if (i->kind == KIND_GETREG) {
        if (id != 1) { fail(w, -1, "hardware register %u", id); return; }
        put_scalar(w, &i->dst, 32, (w->mode & m) >> at, 0);
        return;
    }
    u64 x, u;
    if (id == 26) return; /* Scheduling. */
    if (id != 1) { fail(w, -1, "hardware register %u", id); return; }
    if (!scalar(w, &i->source[0], &x, &u)) return;
    if (u & (m >> at)) { fail(w, -1, "the mode depends on a value that was never written"); return; }
    w->mode = (w->mode & ~m) | ((uint32_t)(x << at) & m);
    if (w->mode & 15) fail(w, -1, "rounding mode %#x: only to nearest even is supported", w->mode & 15);
}

void execute(wave *w) {
    oracle_module *m = w->launch->module;
    u64 at = (w->pc - (u64)(uintptr_t)m->image - m->header->text_base) / 4;
    if (at >= m->index_count || m->index[at] == 0xffffffff || (w->pc & 3)) {
        fail(w, -1, "the program counter is not at an instruction");
        return;
    }
    const table_instruction *i = &m->instructions[m->index[at]];
    w->at = i;
    m->issued[i->op]++;
    w->atomic = 0;
    switch (i->kind) {
    case KIND_SCALAR: scalar_instruction(w, i); return;
    case KIND_VECTOR: vector_instruction(w, i); return;
    case KIND_DUAL: m->issued[i[1].op]++; dual_instruction(w, i); return;
    case KIND_WAVE: wave_instruction(w, i); return;
    case KIND_SMEM: scalar_load(w, i); return;
    case KIND_LDS: case KIND_MEMORY: memory_instruction(w, i); return;
    case KIND_NOP: case KIND_SLEEP: w->pc += i->size; return;
    case KIND_WAIT: w->pc += i->size; wait_for(w, i); return;
    case KIND_BARRIER: w->pc += i->size; arrive(w); leave_barrier(w); return;
    case KIND_SIGNAL: w->pc += i->size; arrive(w); return;
    case KIND_BARRIER_WAIT: w->pc += i->size; leave_barrier(w); return;
    case KIND_SETREG: case KIND_GETREG: mode_register(w, i); return;
    case KIND_INDEX_ON: case KIND_INDEX_OFF: {
        u64 x = 0, u = 0;
        w->pc += i->size;
        w->gpr_index = i->kind == KIND_INDEX_ON;
        if (!w->gpr_index) return;
        if (!scalar(w, &i->source[0], &x, &u)) return;
        if (u & 0xff) { fail(w, -1, "the number of a register was never written"); return; }
        w->sgpr[OPERAND_M0] = (w->sgpr[OPERAND_M0] & 0xfff) >> 8 << 8 | (uint32_t)(x & 0xff) | (uint32_t)i->simm << 12;
        w->sgpru[OPERAND_M0] = 0;
        return;
    }
    case KIND_END: w->state = WAVE_ENDED; w->launch->since_progress = 0; w->block->live--; check_barrier(w->block); return;
    default: fail(w, -1, "cannot be executed: %s", m->strings + i->why);
    }
}
