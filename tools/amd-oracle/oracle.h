/* Executes AMD code objects instruction by instruction, from AMD's own pseudocode.
 *
 * Addresses that a kernel sees are those of this process: a buffer is where it is. One launch
 * runs at a time in a process. */
#ifndef QD_AMD_ORACLE_H
#define QD_AMD_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded code object. */
typedef struct oracle_module oracle_module;

/* Memory that a kernel may access. */
typedef struct {
    uint64_t base;
    uint64_t bytes;
    /* A byte for each: the bits of it that have been written. NULL: all have. */
    uint8_t *defined;
} oracle_region;

/* What a code object says of a kernel. */
typedef struct {
    uint32_t kernarg_bytes;
    uint32_t shared_bytes;
    uint32_t private_bytes;
    /* Lanes in a wave. */
    uint32_t wave;
    uint32_t max_threads;
} oracle_kernel;

/* Loads a code object. NULL: `error` says why not. */
oracle_module *oracle_load(const void *image, size_t bytes, char *error, size_t room);
void oracle_unload(oracle_module *module);

/* The architecture that the code is for, such as `gfx942`. */
const char *oracle_architecture(const oracle_module *module);

/* Whether there is a kernel of that name, and what is said of it. */
int oracle_find(const oracle_module *module, const char *name, oracle_kernel *kernel);

/* Runs all blocks of a launch. 0 if nothing was wrong; otherwise `error` says what: an instruction
 * that cannot be done, an access outside of all regions, a value that was never written and
 * decides something, a race in shared memory, waves that wait for ever. */
int oracle_launch(oracle_module *module, const char *kernel, uint32_t blocks, uint32_t threads,
                  uint32_t dynamic_shared_bytes, const void *kernarg, size_t kernarg_bytes,
                  const oracle_region *regions, size_t count, char *error, size_t room);

#ifdef __cplusplus
}
#endif
#endif
