/* A fake HIP runtime: the functions that runtime/src/hip calls, for tests without a device. It
 * checks what HIP leaves to its caller, and does work as late as HIP allows (hip_queue.c). Kernels
 * are executed by the oracle, if it is linked in, or are the fake's own (hip_code.c). What HIP does
 * not allow ends the process, with a message that names the call.
 *
 *     cc -O2 -Wall -Wextra -Werror -fPIC -shared -pthread -Wl,-soname,libamdhip64.so.6 \
 *         hip*.c [the oracle] -o libamdhip64.so.6
 *
 * Prototypes and numbers are those of HIP 6.
 *
 * | environment variable   | is                                                                 |
 * |------------------------|--------------------------------------------------------------------|
 * | QD_FAKE_HIP_ARCH       | the devices' architecture, gfx1100 by default                      |
 * | QD_FAKE_HIP_DEVICES    | how many there are, 1 by default                                   |
 * | QD_FAKE_HIP_MEMORY     | bytes of a device, 4 GiB by default                                |
 * | QD_FAKE_HIP_VERSION    | the runtime's version, 60300000 by default                         |
 * | QD_FAKE_HIP_SEED       | the order of streams that no event orders                          |
 * | QD_FAKE_HIP_FAIL       | `CALL,NUMBER,CODE`: that call, from 1, or all if 0, returns CODE   |
 * | QD_FAKE_HIP_LEAKS      | 1: what is left when the process ends is a violation               |
 */
#define _GNU_SOURCE
#include "hip.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 8

_Thread_local const char *current_call = "the process's end";
static _Thread_local int current_device;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_initialised;

void violation(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fake HIP: %s: ", current_call);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

size_t setting(const char *name, size_t otherwise) {
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static int devices(void) {
    size_t count = setting("QD_FAKE_HIP_DEVICES", 1);
    return count > MOST_DEVICES ? MOST_DEVICES : (int)count;
}

const char *architecture(void) {
    const char *name = getenv("QD_FAKE_HIP_ARCH");
    return name ? name : "gfx1100";
}

size_t shared_bytes(void) {
    return strcmp(architecture(), "gfx950") == 0 ? 160 << 10 : 64 << 10;
}

/* What QD_FAKE_HIP_FAIL says of a call. */
static int told_to_fail(const char *call) {
    static size_t calls;
    const char *what = getenv("QD_FAKE_HIP_FAIL");
    size_t length = strlen(call);
    if (!what || strncmp(what, call, length) != 0 || what[length] != ',')
        return OK;
    char *rest;
    size_t wanted = strtoull(what + length + 1, &rest, 10);
    return ++calls == wanted || wanted == 0 ? atoi(rest + 1) : OK;
}

int device_now(void) {
    return current_device;
}

int enter(const char *call, bool always) {
    pthread_mutex_lock(&mutex);
    current_call = call;
    if (!is_initialised && strcmp(call, "hipInit") != 0)
        violation("hipInit was not called");
    int told = told_to_fail(call);
    return told ? told : always ? OK : sticky;
}

int leave(int code) {
    current_call = "the process's end";
    pthread_mutex_unlock(&mutex);
    return code;
}

static const char *const KINDS[] = {"", "stream", "event", "memory pool", "module", "function"};

static struct {
    kind kind;
    void *object;
} *handles;
static size_t handle_count, handle_capacity;
#define FIRST_HANDLE ((uintptr_t)0x4849500000000000)

void *handle_new(kind kind, void *object) {
    if (handle_count == handle_capacity) {
        handle_capacity = handle_capacity ? 2 * handle_capacity : 64;
        handles = realloc(handles, handle_capacity * sizeof *handles);
    }
    handles[handle_count].kind = kind;
    handles[handle_count].object = object;
    return (void *)(FIRST_HANDLE + handle_count++);
}

void *get(kind kind, const void *handle) {
    size_t number = (uintptr_t)handle - FIRST_HANDLE;
    if (number >= handle_count || handles[number].kind != kind)
        violation("%p is no %s", handle, KINDS[kind]);
    if (!handles[number].object)
        violation("the %s %p was destroyed before", KINDS[kind], handle);
    return handles[number].object;
}

void *end(kind kind, const void *handle) {
    void *object = get(kind, handle);
    handles[(uintptr_t)handle - FIRST_HANDLE].object = NULL;
    return object;
}

static stream *defaults[MOST_DEVICES];

stream *stream_of(const void *handle) {
    if (handle)
        return get(STREAM, handle);
    stream **found = &defaults[current_device];
    if (!*found)
        *found = stream_new(current_device);
    return *found;
}

size_t reserved_bytes(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < handle_count; i++)
        if (handles[i].kind == POOL && handles[i].object)
            bytes += ((pool *)handles[i].object)->reserved;
    return bytes;
}

void end_functions(const module *of) {
    for (size_t i = 0; i < handle_count; i++)
        if (handles[i].kind == FUNCTION && handles[i].object &&
            ((function *)handles[i].object)->of == of)
            handles[i].object = NULL;
}

/* ---- the runtime and its devices ---- */

HIP int hipInit(unsigned flags) {
    is_initialised = true;
    ENTER_ALWAYS(true);
    if (flags)
        violation("there are no flags");
    return leave(devices() ? OK : NO_DEVICE);
}

HIP int hipRuntimeGetVersion(int *version) {
    ENTER_ALWAYS(true);
    *version = (int)setting("QD_FAKE_HIP_VERSION", 60300000);
    return leave(OK);
}

static const struct {
    int code;
    const char *name, *text;
} ERRORS[] = {
    {OK, "hipSuccess", "no error"},
    {INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {NO_BINARY_FOR_GPU, "hipErrorNoBinaryForGpu", "no kernel image for the device"},
    {NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {NOT_READY, "hipErrorNotReady", "device not ready"},
    {LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
};

HIP const char *hipGetErrorName(int code) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (ERRORS[i].code == code)
            return ERRORS[i].name;
    return "hipErrorUnknown";
}

HIP const char *hipGetErrorString(int code) {
    if (code == LAUNCH_FAILURE && sticky)
        return sticky_reason;
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (ERRORS[i].code == code)
            return ERRORS[i].text;
    return "unknown error";
}

HIP int hipGetDeviceCount(int *count) {
    ENTER_ALWAYS(true);
    *count = devices();
    return leave(*count ? OK : NO_DEVICE);
}

HIP int hipGetDevice(int *device) {
    ENTER_ALWAYS(true);
    *device = current_device;
    return leave(OK);
}

void check_number(int device) {
    if (device < 0 || device >= devices())
        violation("there is no device %d", device);
}

HIP int hipSetDevice(int device) {
    ENTER_ALWAYS(true);
    check_number(device);
    current_device = device;
    return leave(OK);
}

HIP int hipDeviceGetName(char *name, int room, int device) {
    ENTER();
    check_number(device);
    snprintf(name, (size_t)room, "fake %s", architecture());
    return leave(OK);
}

HIP int hipDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER();
    check_number(device);
    switch (attribute) {
    case 74: /* MaxSharedMemoryPerBlock */
        *value = (int)shared_bytes();
        return leave(OK);
    case 87: /* WarpSize */
        *value = strncmp(architecture(), "gfx9", 4) == 0 ? 64 : 32;
        return leave(OK);
    case 88: /* MemoryPoolsSupported */
        *value = 1;
        return leave(OK);
    default:
        violation("the fake has no attribute %d", attribute);
    }
}

HIP int hipGetDevicePropertiesR0600(void *properties, int device) {
    ENTER();
    check_number(device);
    /* The structure has 1472 bytes, and gcnArchName begins at 1160. */
    memset(properties, 0, 1472);
    bool has_features = strncmp(architecture(), "gfx9", 4) == 0;
    snprintf((char *)properties + 1160, 256, "%s%s", architecture(),
             has_features ? ":sramecc+:xnack-" : "");
    return leave(OK);
}

HIP int hipDeviceSynchronize(void) {
    ENTER_ALWAYS(true);
    finish_all();
    return leave(sticky);
}

/* What is left when the process ends. */
__attribute__((destructor)) static void check_leaks(void) {
    if (!setting("QD_FAKE_HIP_LEAKS", 0))
        return;
    finish_all();
    for (size_t i = 0; i < handle_count; i++)
        if (handles[i].object && handles[i].kind != FUNCTION)
            violation("a %s is left", KINDS[handles[i].kind]);
    if (blocks_in_use())
        violation("%zu allocations are left", blocks_in_use());
}
