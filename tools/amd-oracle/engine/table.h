/* The table that the Python package writes: a code object, decoded. See `amd_oracle/table.py`. */
#ifndef QD_AMD_ORACLE_TABLE_H
#define QD_AMD_ORACLE_TABLE_H

#include <stdint.h>

enum { OPERAND_NONE = 0xffff, OPERAND_CONSTANT = 0xfffe, OPERAND_NULL = 124, OPERAND_M0 = 125, OPERAND_EXEC = 126,
       OPERAND_VCC = 106, OPERAND_VGPR = 256, OPERAND_AGPR = 512 };
enum { SELECT_HIGH = 1, SELECT_ZERO_REST = 2, SELECT_SDWA_DST = 4, SELECT_SDWA = 0x100 };

typedef struct {
    uint16_t code, bits, select, unused;
    /* A constant, and what modifiers do to bits: `(x & keep) ^ flip`. */
    uint64_t value, keep, flip;
} table_operand;

/* In the order of `KINDS` in `decode.py`. */
enum table_kind { KIND_UNSUPPORTED, KIND_SCALAR, KIND_VECTOR, KIND_DUAL, KIND_WAVE, KIND_SMEM, KIND_LDS, KIND_MEMORY, KIND_NOP,
                  KIND_WAIT, KIND_BARRIER, KIND_SIGNAL, KIND_BARRIER_WAIT, KIND_END, KIND_SETREG, KIND_GETREG, KIND_SLEEP,
                  KIND_INDEX_ON, KIND_INDEX_OFF };
enum table_space { SPACE_FLAT, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_LDS };

typedef struct {
    uint32_t pc, op, text, why, literal, dpp8;
    int32_t offset, simm;
    uint8_t size, kind, clamp, omod, opsel, opsel_hi, neg, neg_hi, packed, dpp_rows, dpp_bound, dpp_fetch, dst_select, dst_unused,
        offset0, offset1, space, returns, float_bits, unused[5];
    uint16_t waits[4], dpp, unused2[3];
    table_operand source[3], dst, sdst, condition, address, base, data, data2;
} table_instruction;

typedef struct {
    uint32_t name, entry, shared, private_bytes, kernarg, rsrc1, rsrc2, rsrc3, properties, preload, max_threads, vgprs, agprs, wave;
} table_kernel;

enum { WRITES_D = 1, MASK_D = 2, MASK_VCC = 4, MASK_EXEC = 8, WRITES_S0 = 16, WRITES_SCC = 32, WRITES_PC = 64, WRITES_EXEC = 128,
       BY_LANE = 256, ATOMIC = 512, STORES = 1024, USES_D = 2048 };
typedef struct { uint32_t name, kind, library, function, flags, unused; } table_op;
typedef struct { uint64_t place; int64_t addend; } table_relocation;
typedef struct { uint64_t offset, count; } table_section;
enum { SECTION_KERNELS, SECTION_INSTRUCTIONS, SECTION_OPS, SECTION_LIBRARIES, SECTION_RELOCATIONS, SECTION_INDEX, SECTION_IMAGE,
       SECTION_STRINGS, SECTIONS };
enum architecture { GFX942, GFX1100, GFX1201, GFX90A };
typedef struct {
    char magic[8];
    uint32_t architecture, text_base;
    table_section section[SECTIONS];
} table_header;

#endif
