/* The engine's own structures. A launch runs waves of resident blocks, one instruction at a time. */
#ifndef QD_AMD_ORACLE_ENGINE_H
#define QD_AMD_ORACLE_ENGINE_H

#include "../oracle.h"
#include "ops.h"
#include "table.h"

#define SGPRS 128
#define LANES ORACLE_LANES
#define QUEUE 64
#define SHARED_APERTURE ((u64)0x10000 << 32)
#define PRIVATE_APERTURE ((u64)0x20000 << 32)

/* What a wait is for. Before GFX12 scalar memory shares a counter with LDS; on GFX9 stores do with loads. */
enum counter { COUNT_LOADS, COUNT_STORES, COUNT_LDS, COUNT_SCALAR, COUNTERS };

struct oracle_module {
    void *file;
    size_t file_bytes;
    const table_header *header;
    const table_kernel *kernels;
    const table_instruction *instructions;
    const table_op *ops;
    const uint32_t *index;
    const char *strings;
    size_t kernel_count, op_count, index_count, strings_count;
    oracle_op **plain, **shadowed;
    void **libraries;
    size_t library_count;
    uint8_t *image;
    size_t image_bytes;
    u64 *issued;
    /* Waits of the current launch that had something to wait for, by what that was. */
    u64 stalls[COUNTERS];
};

typedef struct {
    /* First destination register; none if `count` is 0. SGPRs come before VGPRs. */
    uint16_t first, count;
    uint8_t unordered;
    /* What it is, whichever counter it shares; and the stalls of its counter that were before it. */
    uint8_t kind;
    uint32_t stalls;
    /* Of an LDS instruction: its number in its wave. */
    uint32_t number;
} pending;

typedef struct {
    pending entry[QUEUE];
    unsigned first, count, unordered;
    /* Waits that had something to wait for. */
    uint32_t stalls;
} queue;

typedef struct {
    /* Last write: wave, barrier epoch, the writer's instruction number, atomic. Then the last plain reads. */
    uint16_t writer, reader;
    uint32_t write_epoch, read_epoch, number;
    uint8_t written, atomic, read, many;
} lds_byte;

typedef struct block {
    uint32_t number;
    unsigned waves, live, signalled;
    uint32_t phase;
    uint8_t *lds, *lds_undefined;
    lds_byte *lds_access;
    struct wave *wave;
} block;

typedef struct wave {
    struct launch *launch;
    block *block;
    unsigned number;
    enum { WAVE_READY, WAVE_WAITS, WAVE_ENDED } state;
    const table_instruction *at;
    u64 pc;
    uint32_t sgpr[SGPRS], sgpru[SGPRS];
    uint32_t *v, *vu;
    unsigned registers;
    unsigned scc, sccu, mode, gpr_index;
    uint8_t *private_memory, *private_undefined;
    /* Outstanding writes of each register by counter. */
    uint8_t *waiting[COUNTERS];
    queue queues[COUNTERS];
    uint32_t lds_number, lds_done, lds_released;
    /* The barrier that the wave has signalled and not waited for. */
    int signalled;
    uint32_t signal_phase, epoch;
    int atomic, flat_lds;
    int fault_lane;
} wave;

typedef struct launch {
    oracle_module *module;
    const table_kernel *kernel;
    uint32_t blocks, threads, lds_asked, lds_bytes, private_bytes;
    unsigned lanes;
    oracle_region *regions;
    size_t region_count, last_region;
    void *kernarg, *kernarg_defined, *packet;
    u64 random;
    u64 since_progress, budget;
    int failed;
    char *error;
    size_t room;
    oracle_operands operands;
    oracle_operands second;
} launch;

/* None of these names may meet those of the program that links the engine. */
#pragma GCC visibility push(hidden)

/* The first failure of a launch: where, which instruction, what. */
void fail(wave *w, int lane, const char *form, ...) __attribute__((format(printf, 3, 4)));

static inline u64 exec_of(const wave *w) {
    u64 mask = w->sgpr[OPERAND_EXEC];
    return w->launch->lanes == 64 ? mask | (u64)w->sgpr[OPERAND_EXEC + 1] << 32 : mask;
}

/* operands.c */
int fetch(wave *w, const table_operand *from, unsigned k, u64 lanes, u64 *x, u64 *u);
int scalar(wave *w, const table_operand *from, u64 *x, u64 *u);
int put_scalar(wave *w, const table_operand *to, unsigned bits, u64 x, u64 u);
int put_vector(wave *w, const table_operand *to, u64 lanes, const u64 *x, const u64 *u);
int register_of(wave *w, const table_operand *operand, unsigned *first, unsigned *count);
u64 select_lanes(wave *w, const table_instruction *i, u64 *x, u64 *u);
void select_halves(const table_instruction *i, unsigned k, const table_operand *from, u64 *x, u64 *u);
int fetch_words(wave *w, const table_operand *from, uint32_t x[ORACLE_WORDS][LANES], uint32_t u[ORACLE_WORDS][LANES]);
int put_words(wave *w, const table_operand *to, u64 lanes, uint32_t x[ORACLE_WORDS][LANES], uint32_t u[ORACLE_WORDS][LANES]);

/* waits.c */
int ready(wave *w, unsigned first, unsigned count);
int ready_to_overwrite(wave *w, unsigned first, unsigned count, enum counter by);
void issue(wave *w, enum counter counter, unsigned first, unsigned count, int unordered, int lds);
void wait_for(wave *w, const table_instruction *i);

/* memory.c */
u64 memory_load(oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 *undefined);
void memory_store(oracle_operands *o, unsigned lane, u64 addr, unsigned bits, u64 value, u64 undefined);

/* execute.c */
void execute(wave *w);
/* launch.c */
void arrive(wave *w);
void leave_barrier(wave *w);
void check_barrier(block *b);

#pragma GCC visibility pop

#endif
