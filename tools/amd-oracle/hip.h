/* The parts of the fake HIP runtime. See hip.c. */
#ifndef QD_FAKE_HIP_H
#define QD_FAKE_HIP_H

#include "oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* hipError_t. */
enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_FAILURE = 719,
};

/* Ends the process: the caller has done what HIP does not allow. Names the call that is being
 * answered, or, of work that is done late, the one that asked for it. */
__attribute__((noreturn, format(printf, 1, 2))) void violation(const char *format, ...);
/* The call that is being answered, for messages. */
extern _Thread_local const char *current_call;

/* ---- memory: hip_memory.c ---- */

typedef struct pool {
    int device;
    /* Bytes that are allocated, and those that it holds. */
    size_t live, reserved;
} pool;

typedef struct block {
    uintptr_t base;
    size_t bytes;
    /* A byte for each, as in oracle_region; NULL: pinned memory, which the host writes, too. */
    uint8_t *defined;
    int device;
    pool *from;
    /* Whether the allocation has been done on its stream, and the release. */
    bool is_live, is_gone;
    /* Whether the host has asked for its release. */
    bool is_freed;
} block;

/* New memory with arbitrary contents, at an address that nothing else gets in this process. */
block *block_new(size_t bytes, int device, pool *from);
/* Gives it back to the system. */
void block_release(block *);
/* The memory that has an address; NULL: it is the host's. Of memory that the host has asked to
 * release, only if `freed`. */
block *block_at(uintptr_t address, bool freed);
/* The memory that a range is in; NULL: it is the host's. A range that is partly in it, or in memory
 * that was freed, is a violation. */
block *block_of(const void *address, size_t bytes);
/* That it may be used now, in the order of the streams. */
void block_check(const block *);
/* Memory that kernels may access now. The array is valid until the next call. */
size_t regions(const oracle_region **all);
/* The shadow of an address in a block; NULL: there is none. */
uint8_t *shadow(const block *, uintptr_t address);
/* How much is not released, apart from pinned memory, and how many blocks in all. */
size_t bytes_in_use(void);
size_t blocks_in_use(void);

/* ---- code: hip_code.c ---- */

typedef struct code code;

/* A kernel of a code object. */
typedef struct {
    oracle_kernel about;
    char name[256];
    /* Of code of the fake's own format. */
    const struct builtin *builtin;
} kernel;

/* Loads code for an architecture, or says why not by a hipError_t. */
int code_load(const void *image, const char *architecture, code **);
void code_unload(code *);
bool code_find(code *, const char *name, kernel *);
/* Runs a launch. 0, or `error` says what was wrong. */
int code_launch(code *, const kernel *, uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                const void *arguments, size_t bytes, char *error, size_t room);

/* ---- streams: hip_queue.c ---- */

/* A recording of an event: waits are for this one, even if the event is recorded again. */
typedef struct record {
    size_t holders;
    bool is_done;
    /* In seconds. */
    double time;
    struct stream *on;
} record;

record *record_hold(record *);
void record_drop(record *);

/* A loaded module, of which launches may be under way. */
typedef struct module {
    int device;
    code *code;
    size_t launches;
} module;

typedef struct {
    module *of;
    kernel kernel;
} function;

typedef struct op {
    enum { ALLOCATE, FREE, COPY, SET, LAUNCH, RECORD, WAIT } kind;
    /* The call that asked for it. */
    const char *call;
    struct op *next;
    block *to, *from;
    uintptr_t at, source;
    size_t bytes;
    /* Of a fill: what is repeated, and how long that is. */
    uint32_t value, width;
    record *record;
    const function *function;
    uint32_t blocks, threads, shared_bytes;
    void *arguments;
} op;

typedef struct stream {
    int device;
    op *first, **last;
    size_t waiting;
} stream;

stream *stream_new(int device);
/* Of a stream on which nothing is left to do. */
void stream_free(stream *);
/* Puts an op onto a stream, to be done later. What it points to is the queue's then. */
void submit(stream *, op);
/* Does what is on a stream, and what that waits for. */
void finish(stream *);
/* Does what has to be done for a recording; `at_most` operations, unless it is 0. */
void reach(record *, size_t at_most);
/* Does all. */
void finish_all(void);
/* Whether an operation that has not been done uses a block. */
bool is_used(const block *);

/* LAUNCH_FAILURE when a kernel has gone wrong: nothing works any more. What went wrong. */
extern int sticky;
extern char sticky_reason[1024];

/* ---- calls: hip.c ---- */

/* A function of the library. */
#define HIP __attribute__((visibility("default")))

/* Begins a call. `always`: also when a kernel has gone wrong. */
int enter(const char *call, bool always);
int leave(int code);

#define ENTER_ALWAYS(always)                                                                       \
    do {                                                                                           \
        int refused = enter(__func__, always);                                                     \
        if (refused)                                                                               \
            return leave(refused);                                                                 \
    } while (0)
#define ENTER() ENTER_ALWAYS(false)

/* The value of an environment variable. */
size_t setting(const char *name, size_t otherwise);
const char *architecture(void);
/* The most shared memory of a block. */
size_t shared_bytes(void);
/* The thread's device. */
int device_now(void);
void check_number(int device);

/* What handles are of. They are numbers, so that any value can be checked. */
typedef enum { STREAM = 1, EVENT, POOL, MODULE, FUNCTION } kind;

typedef struct event {
    int device;
    /* NULL: it was not recorded. */
    record *last;
} event;

void *handle_new(kind, void *object);
void *get(kind, const void *handle);
/* Ends a handle, and returns what it was. */
void *end(kind, const void *handle);
/* Ends the functions of a module. */
void end_functions(const module *);
/* The stream of a handle; of NULL, the default one of the thread's device. */
stream *stream_of(const void *handle);
/* What all pools hold. */
size_t reserved_bytes(void);

#pragma GCC visibility pop
#endif
