/* Code of the fake HIP runtime: code objects, which the oracle executes where it is linked in, and
 * a format of the fake's own, for tests of what calls it.
 *
 * That format is an ELF header without sections, and behind it lines of text that end in a 0:
 *
 *     qd-fake ARCHITECTURE
 *     SYMBOL FUNCTION
 *
 * where each line but the first makes a kernel of one of the functions below. */
#include "hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma weak oracle_load
#pragma weak oracle_unload
#pragma weak oracle_architecture
#pragma weak oracle_find
#pragma weak oracle_launch

#define HEADER 64
#define MOST_THREADS 1024

/* A launch of a function below. */
typedef struct {
    const uint64_t *words;
    uint32_t blocks, threads, shared_bytes;
    char *error;
    size_t room;
} run;

typedef struct builtin {
    const char *name;
    size_t words;
    int (*body)(const run *);
} builtin;

/* Words of memory that may be accessed, and are defined if they are `read`; NULL: `error` says why
 * not. */
static int32_t *words_at(const run *run, uint64_t at, uint64_t length, bool read, bool write) {
    const oracle_region *all;
    size_t count = regions(&all);
    uint64_t bytes = 4 * length;
    for (size_t i = 0; i < count; i++) {
        const oracle_region *one = &all[i];
        if (at < one->base || at - one->base > one->bytes || bytes > one->bytes - (at - one->base))
            continue;
        uint8_t *defined = one->defined ? one->defined + (at - one->base) : NULL;
        for (uint64_t j = 0; defined && read && j < bytes; j++) {
            if (defined[j] != 0xFF) {
                snprintf(run->error, run->room, "the byte at %#llx was never written",
                         (unsigned long long)(at + j));
                return NULL;
            }
        }
        if (defined && write)
            memset(defined, 0xFF, bytes);
        return (int32_t *)(uintptr_t)at;
    }
    snprintf(run->error, run->room, "%llu bytes at %#llx are in no memory of the device",
             (unsigned long long)bytes, (unsigned long long)at);
    return NULL;
}

/* a, its length, value: `a = value`. */
static int set(const run *run) {
    int32_t *a = words_at(run, run->words[0], run->words[1], false, true);
    for (uint64_t i = 0; a && i < run->words[1]; i++)
        a[i] = (int32_t)run->words[2];
    return a ? 0 : 1;
}

/* out, its length, in, its length: `out = in + 1`. */
static int next(const run *run) {
    uint64_t length = run->words[1] < run->words[3] ? run->words[1] : run->words[3];
    const int32_t *in = words_at(run, run->words[2], length, true, false);
    int32_t *out = in ? words_at(run, run->words[0], length, false, true) : NULL;
    for (uint64_t i = 0; out && i < length; i++)
        out[i] = in[i] + 1;
    return out ? 0 : 1;
}

/* flag, count: `flag -= 1` and `count += 1`. */
static int count_down(const run *run) {
    int32_t *flag = words_at(run, run->words[0], 1, true, true);
    int32_t *count = flag ? words_at(run, run->words[1], 1, true, true) : NULL;
    if (!count)
        return 1;
    *flag -= 1;
    *count += 1;
    return 0;
}

/* a, its length: what the launch is. */
static int describe(const run *run) {
    int32_t *a = words_at(run, run->words[0], 3, false, true);
    if (!a)
        return 1;
    a[0] = (int32_t)run->blocks;
    a[1] = (int32_t)run->threads;
    a[2] = (int32_t)run->shared_bytes;
    return 0;
}

static const builtin BUILTINS[] = {
    {"set", 3, set},
    {"next", 4, next},
    {"count_down", 2, count_down},
    {"describe", 2, describe},
};

struct code {
    oracle_module *object;
    /* Of the fake's own format. */
    char *text;
};

static const char *own_format(const void *image) {
    const char *text = (const char *)image + HEADER;
    const uint8_t *header = image;
    /* Without sections, something is behind the header only there. */
    bool has_sections = header[60] || header[61];
    return !has_sections && strncmp(text, "qd-fake ", 8) == 0 ? text : NULL;
}

/* How long an ELF file is: up to the end of its last section, or of their headers. */
static size_t size_of(const uint8_t *image) {
    uint64_t headers, end, at, bytes;
    uint16_t size, count;
    memcpy(&headers, image + 40, sizeof headers);
    memcpy(&size, image + 58, sizeof size);
    memcpy(&count, image + 60, sizeof count);
    end = headers + (uint64_t)size * count;
    for (uint16_t i = 0; i < count; i++) {
        const uint8_t *section = image + headers + (uint64_t)size * i;
        uint32_t kind;
        memcpy(&kind, section + 4, sizeof kind);
        memcpy(&at, section + 24, sizeof at);
        memcpy(&bytes, section + 32, sizeof bytes);
        /* 8: it is not in the file. */
        if (kind != 8 && at + bytes > end)
            end = at + bytes;
    }
    return end;
}

static bool is_for(const char *text, const char *architecture) {
    size_t length = strlen(architecture);
    return strncmp(text, architecture, length) == 0 && (text[length] == '\n' || !text[length]);
}

int code_load(const void *image, const char *architecture, code **made) {
    if (memcmp(image, "\177ELF", 4) != 0)
        return INVALID_IMAGE;
    const char *text = own_format(image);
    oracle_module *object = NULL;
    if (text) {
        if (!is_for(text + 8, architecture))
            return NO_BINARY_FOR_GPU;
    } else {
        char error[512] = "the oracle is not linked in";
        if (oracle_load)
            object = oracle_load(image, size_of(image), error, sizeof error);
        if (!object) {
            fprintf(stderr, "fake HIP: hipModuleLoadData: %s\n", error);
            return INVALID_IMAGE;
        }
        if (strcmp(oracle_architecture(object), architecture) != 0) {
            oracle_unload(object);
            return NO_BINARY_FOR_GPU;
        }
    }
    *made = calloc(1, sizeof **made);
    (*made)->object = object;
    (*made)->text = text ? strdup(text) : NULL;
    return OK;
}

void code_unload(code *one) {
    if (one->object)
        oracle_unload(one->object);
    free(one->text);
    free(one);
}

bool code_find(code *one, const char *name, kernel *found) {
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "%s", name);
    if (one->object)
        return oracle_find(one->object, name, &found->about);
    size_t length = strlen(name);
    for (const char *line = strchr(one->text, '\n'); line; line = strchr(line + 1, '\n')) {
        if (strncmp(line + 1, name, length) != 0 || line[1 + length] != ' ')
            continue;
        const char *wanted = line + length + 2;
        size_t end = strcspn(wanted, "\n");
        for (size_t i = 0; i < sizeof BUILTINS / sizeof *BUILTINS; i++) {
            const builtin *each = &BUILTINS[i];
            if (strlen(each->name) == end && strncmp(each->name, wanted, end) == 0) {
                found->builtin = each;
                found->about.kernarg_bytes = (uint32_t)(8 * each->words);
                found->about.max_threads = MOST_THREADS;
                return true;
            }
        }
    }
    return false;
}

int code_launch(code *one, const kernel *body, uint32_t blocks, uint32_t threads,
                uint32_t shared_bytes, const void *arguments, size_t bytes, char *error,
                size_t room) {
    if (body->builtin) {
        run run = {arguments, blocks, threads, shared_bytes, error, room};
        return body->builtin->body(&run);
    }
    const oracle_region *all;
    size_t count = regions(&all);
    return oracle_launch(one->object, body->name, blocks, threads, shared_bytes, arguments, bytes,
                         all, count, error, room);
}
