/* What compiled instructions and the engine share: the operands of one instruction of one wave. */
#ifndef QD_AMD_ORACLE_OPS_H
#define QD_AMD_ORACLE_OPS_H

#include <stdint.h>

#define ORACLE_LANES 64
/* Words of the widest memory instruction: s_load_b512. */
#define ORACLE_WORDS 16

typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;
typedef __int128 i128;

enum oracle_data { ORACLE_DATA, ORACLE_DATA2, ORACLE_RETURN, ORACLE_DATAS };

/* A set bit of a name that ends in `u` says that this bit of the value was never written. */
typedef struct oracle_operands {
    u64 s[3][ORACLE_LANES], su[3][ORACLE_LANES];
    u64 d[ORACLE_LANES], du[ORACLE_LANES];
    /* Lanes to do, and the wave's own mask. A scalar instruction does lane 0. */
    u64 lanes, exec;
    /* Lane masks: carry or condition read, and those written by D0, VCC and EXEC as masks. */
    u64 vcc, vccu, out_d, out_du, out_vcc, out_vccu, out_exec, out_execu;
    u64 scc, sccu, vccz, vcczu, execz, m0, m0u, pc, pc_written, simm16, simm32;
    u64 wave64, opsel, opsel_hi, neg, ieee, round, flush;
    /* Register numbers of the instruction, for those that name registers of other lanes. */
    u64 reg_src0, reg_src1, reg_dst, reg_addr, reg_data0;
    /* Address of each lane, without the offsets that the pseudocode itself adds. */
    u64 addr[ORACLE_LANES], offset, offset0, offset1;
    uint32_t data[ORACLE_DATAS][ORACLE_WORDS][ORACLE_LANES];
    uint32_t datau[ORACLE_DATAS][ORACLE_WORDS][ORACLE_LANES];
    uint32_t *v, *vu;
    u64 registers;
    /* Set when a lane's number, or a register's, was never written or is out of range. */
    int bad_index;
    /* Memory of this instruction; `bits` is at most 64. */
    u64 (*load)(struct oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 *undefined);
    void (*store)(struct oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 value, u64 undefined);
    void *wave;
} oracle_operands;

typedef void oracle_op(oracle_operands *o);

#endif
