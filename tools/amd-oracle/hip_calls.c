/* Calls of the fake HIP runtime about memory, streams, events and code. See hip.c. */
#include "hip.h"

#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 1024

/* ---- memory ---- */

HIP int hipMemGetInfo(size_t *free, size_t *total) {
    ENTER();
    *total = setting("QD_FAKE_HIP_MEMORY", (size_t)4 << 30);
    *free = *total > reserved_bytes() ? *total - reserved_bytes() : 0;
    return leave(OK);
}

HIP int hipMemPoolCreate(void **made, const void *properties) {
    ENTER();
    /* Allocation type, handle types, location type, device; the rest is 0. */
    const int *words = properties;
    if (words[0] != 1 || words[1] != 0 || words[2] != 1)
        violation("the properties are not those of plain memory of a device");
    for (size_t i = 16; i < 88; i++)
        if (((const char *)properties)[i])
            violation("reserved properties are not 0");
    check_number(words[3]);
    pool *one = calloc(1, sizeof *one);
    one->device = words[3];
    *made = handle_new(POOL, one);
    return leave(OK);
}

HIP int hipMemPoolDestroy(void *handle) {
    ENTER_ALWAYS(true);
    /* Of memory that is released later, blocks have the address. */
    pool *one = end(POOL, handle);
    if (one->live)
        violation("%zu bytes of the pool are allocated", one->live);
    return leave(OK);
}

HIP int hipMemPoolSetAttribute(void *handle, int attribute, void *value) {
    ENTER();
    get(POOL, handle);
    if (attribute != 4 || *(uint64_t *)value != UINT64_MAX)
        violation("the fake's pools keep all memory (attribute %d)", attribute);
    return leave(OK);
}

HIP int hipMemPoolGetAttribute(void *handle, int attribute, void *value) {
    ENTER();
    if (attribute != 5)
        violation("the fake has no attribute %d", attribute);
    *(uint64_t *)value = ((pool *)get(POOL, handle))->reserved;
    return leave(OK);
}

HIP int hipMemPoolTrimTo(void *handle, size_t bytes) {
    ENTER();
    pool *one = get(POOL, handle);
    /* What is freed, but not yet in the order of its stream, stays. */
    size_t used = bytes_in_use() > bytes ? bytes_in_use() : bytes;
    if (one->reserved > used)
        one->reserved = used;
    return leave(OK);
}

HIP int hipMallocFromPoolAsync(void **at, size_t bytes, void *handle, void *on) {
    ENTER();
    pool *from = get(POOL, handle);
    stream *stream = stream_of(on);
    if (!bytes)
        violation("no bytes");
    if (from->device != stream->device)
        violation("the pool is of device %d, and the stream of %d", from->device, stream->device);
    size_t room = setting("QD_FAKE_HIP_MEMORY", (size_t)4 << 30), used = bytes_in_use();
    if (bytes > room || used > room - bytes)
        return leave(OUT_OF_MEMORY);
    block *made = block_new(bytes, from->device, from);
    from->live += bytes;
    if (from->reserved < used + bytes)
        from->reserved = used + bytes;
    submit(stream, (op){.kind = ALLOCATE, .to = made});
    *at = (void *)made->base;
    return leave(OK);
}

/* The block that begins at an address. */
static block *whole(const void *at, bool is_pinned) {
    block *found = block_of(at, 1);
    if (!found || found->base != (uintptr_t)at || is_pinned == (found->from != NULL))
        violation("%p is not what was allocated", at);
    found->is_freed = true;
    return found;
}

HIP int hipFreeAsync(void *at, void *on) {
    ENTER_ALWAYS(true);
    stream *stream = stream_of(on);
    block *one = whole(at, false);
    one->from->live -= one->bytes;
    submit(stream, (op){.kind = FREE, .to = one});
    return leave(OK);
}

HIP int hipHostMalloc(void **at, size_t bytes, unsigned flags) {
    ENTER();
    if (!bytes || flags != 1)
        violation("%zu bytes with flags %#x", bytes, flags);
    block *made = block_new(bytes, device_now(), NULL);
    made->is_live = true;
    *at = (void *)made->base;
    return leave(OK);
}

HIP int hipHostFree(void *at) {
    ENTER_ALWAYS(true);
    block *one = whole(at, true);
    if (is_used(one))
        violation("a copy from or to %p has not been done", at);
    block_release(one);
    return leave(OK);
}

HIP int hipPointerGetAttributes(void *to, const void *of) {
    ENTER();
    if (!of)
        return leave(INVALID_VALUE);
    const block *found = block_at((uintptr_t)of, false);
    struct {
        int kind, device;
        const void *of_device, *of_host;
        int is_managed;
        unsigned flags;
    } attributes = {0, -2, NULL, NULL, 0, 0};
    if (found) {
        attributes.kind = found->from ? 2 : 1;
        attributes.device = found->device;
        attributes.of_device = of;
        attributes.of_host = found->from ? NULL : of;
    }
    memcpy(to, &attributes, sizeof attributes);
    return leave(OK);
}

HIP int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *on) {
    ENTER();
    stream *stream = stream_of(on);
    block *target = block_of(to, bytes), *source = block_of(from, bytes);
    if (kind != 4 && kind != 2)
        violation("copies of kind %d are not the fake's", kind);
    if (kind == 2 && (!source || !source->from || (target && target->from)))
        violation("it is not from a device to the host");
    uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (a < b + bytes && b < a + bytes)
        violation("both ranges overlap");
    submit(stream, (op){.kind = COPY, .to = target, .from = source, .at = a, .source = b,
                        .bytes = bytes});
    return leave(OK);
}

/* Sets elements of so many bytes. */
static int fill(void *at, uint32_t value, uint32_t width, size_t count, void *on) {
    stream *stream = stream_of(on);
    block *target = block_of(at, width * count);
    if (!target)
        violation("%p is no memory of a device", at);
    if ((uintptr_t)at % width)
        violation("%p is not a multiple of %u", at, width);
    submit(stream, (op){.kind = SET, .to = target, .at = (uintptr_t)at, .bytes = width * count,
                        .value = value, .width = width});
    return leave(OK);
}

HIP int hipMemsetD8Async(void *at, unsigned char value, size_t count, void *on) {
    ENTER();
    return fill(at, value, 1, count, on);
}

HIP int hipMemsetD16Async(void *at, unsigned short value, size_t count, void *on) {
    ENTER();
    return fill(at, value, 2, count, on);
}

HIP int hipMemsetD32Async(void *at, int value, size_t count, void *on) {
    ENTER();
    return fill(at, (uint32_t)value, 4, count, on);
}

/* ---- streams and events ---- */

HIP int hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    ENTER();
    *least = 1;
    *greatest = -1;
    return leave(OK);
}

HIP int hipStreamCreateWithPriority(void **made, unsigned flags, int priority) {
    ENTER();
    if (flags != 1 || priority < -1 || priority > 1)
        violation("flags %#x, priority %d", flags, priority);
    *made = handle_new(STREAM, stream_new(device_now()));
    return leave(OK);
}

HIP int hipStreamDestroy(void *handle) {
    ENTER_ALWAYS(true);
    stream *one = end(STREAM, handle);
    if (one->waiting)
        violation("%zu operations on the stream have not been done", one->waiting);
    stream_free(one);
    return leave(OK);
}

HIP int hipStreamSynchronize(void *handle) {
    ENTER_ALWAYS(true);
    finish(stream_of(handle));
    return leave(sticky);
}

HIP int hipStreamWaitEvent(void *on, void *handle, unsigned flags) {
    ENTER();
    stream *stream = stream_of(on);
    event *event = get(EVENT, handle);
    if (!event->last || flags)
        violation(flags ? "there are no flags" : "the event was not recorded");
    submit(stream, (op){.kind = WAIT, .record = record_hold(event->last)});
    return leave(OK);
}

HIP int hipStreamGetDevice(void *handle, int *device) {
    ENTER();
    *device = stream_of(handle)->device;
    return leave(OK);
}

HIP int hipStreamIsCapturing(void *handle, int *status) {
    ENTER();
    stream_of(handle);
    *status = 0;
    return leave(OK);
}

HIP int hipEventCreateWithFlags(void **made, unsigned flags) {
    ENTER();
    if (flags)
        violation("flags %#x", flags);
    event *one = calloc(1, sizeof *one);
    one->device = device_now();
    *made = handle_new(EVENT, one);
    return leave(OK);
}

HIP int hipEventDestroy(void *handle) {
    ENTER_ALWAYS(true);
    event *one = end(EVENT, handle);
    if (one->last)
        record_drop(one->last);
    free(one);
    return leave(OK);
}

HIP int hipEventRecord(void *handle, void *on) {
    ENTER();
    event *event = get(EVENT, handle);
    stream *stream = stream_of(on);
    if (event->device != stream->device)
        violation("the event is of device %d, and the stream of %d", event->device, stream->device);
    if (event->last)
        record_drop(event->last);
    event->last = calloc(1, sizeof *event->last);
    event->last->on = stream;
    record_hold(event->last);
    submit(stream, (op){.kind = RECORD, .record = record_hold(event->last)});
    return leave(OK);
}

static record *recorded(const void *handle) {
    event *event = get(EVENT, handle);
    if (!event->last)
        violation("the event was not recorded");
    return event->last;
}

HIP int hipEventQuery(void *handle) {
    ENTER();
    record *one = recorded(handle);
    bool is_done = one->is_done;
    /* Whoever asks again and again sees it done at last. */
    reach(one, 1);
    return leave(sticky ? sticky : is_done ? OK : NOT_READY);
}

HIP int hipEventSynchronize(void *handle) {
    ENTER_ALWAYS(true);
    reach(recorded(handle), 0);
    return leave(sticky);
}

HIP int hipEventElapsedTime(float *milliseconds, void *from, void *to) {
    ENTER();
    const record *first = recorded(from), *last = recorded(to);
    if (!first->is_done || !last->is_done)
        return leave(NOT_READY);
    *milliseconds = (float)(1e3 * (last->time - first->time));
    return leave(OK);
}

/* ---- code ---- */

HIP int hipModuleLoadData(void **made, const void *image) {
    ENTER();
    code *code;
    int refused = code_load(image, architecture(), &code);
    if (refused)
        return leave(refused);
    module *one = calloc(1, sizeof *one);
    one->device = device_now();
    one->code = code;
    *made = handle_new(MODULE, one);
    return leave(OK);
}

HIP int hipModuleUnload(void *handle) {
    ENTER_ALWAYS(true);
    module *one = end(MODULE, handle);
    if (one->launches)
        violation("%zu launches of its kernels have not been done", one->launches);
    end_functions(one);
    code_unload(one->code);
    return leave(OK);
}

HIP int hipModuleGetFunction(void **made, void *handle, const char *name) {
    ENTER();
    module *of = get(MODULE, handle);
    function *one = calloc(1, sizeof *one);
    one->of = of;
    if (!code_find(of->code, name, &one->kernel)) {
        free(one);
        return leave(NOT_FOUND);
    }
    *made = handle_new(FUNCTION, one);
    return leave(OK);
}

HIP int hipModuleLaunchKernel(void *handle, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                              unsigned threads, unsigned threads_y, unsigned threads_z,
                              unsigned dynamic_shared_bytes, void *on, void **parameters,
                              void **extra) {
    ENTER();
    function *body = get(FUNCTION, handle);
    stream *stream = stream_of(on);
    const oracle_kernel *about = &body->kernel.about;
    if (body->of->device != stream->device)
        violation("the kernel is of device %d, and the stream of %d", body->of->device,
                  stream->device);
    if (blocks_y != 1 || blocks_z != 1 || threads_y != 1 || threads_z != 1)
        violation("the fake's launches have one dimension");
    if (!blocks || !threads || (uint64_t)blocks * threads > UINT32_MAX)
        violation("%u blocks of %u threads", blocks, threads);
    if (threads > MOST_THREADS || threads > about->max_threads)
        violation("%u threads, and '%s' takes %u at most", threads, body->kernel.name,
                  about->max_threads);
    if ((uint64_t)about->shared_bytes + dynamic_shared_bytes > shared_bytes())
        violation("%u bytes of shared memory and %u more, of %zu", about->shared_bytes,
                  dynamic_shared_bytes, shared_bytes());
    if (parameters || !extra || (uintptr_t)extra[0] != 1 || (uintptr_t)extra[2] != 2 ||
        (uintptr_t)extra[4] != 3)
        violation("the arguments are not given as a buffer");
    size_t bytes = *(size_t *)extra[3];
    if (bytes != about->kernarg_bytes)
        violation("%zu bytes of arguments, and '%s' takes %u", bytes, body->kernel.name,
                  about->kernarg_bytes);
    void *arguments = malloc(bytes + 1);
    memcpy(arguments, extra[1], bytes);
    body->of->launches++;
    submit(stream, (op){.kind = LAUNCH, .function = body, .blocks = blocks, .threads = threads,
                        .shared_bytes = dynamic_shared_bytes, .arguments = arguments,
                        .bytes = bytes});
    return leave(OK);
}
