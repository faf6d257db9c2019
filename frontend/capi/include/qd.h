/* The C interface of qd: libqd.so.
 *
 * Made from frontend/capi/src by the test `header`. Edit that, not this.
 *
 * Rules of all functions, unless one says otherwise:
 *
 * - A function that can fail returns a qd_status, 0 for success. qd_error_message() says why the last failing
 *   call of this thread failed. A call that fails has done nothing, and sets the handle that it was to give to null.
 * - Any thread may call any function with any handle, also at the same time; what they share is locked inside. Only
 *   the call that frees a handle must be the last with it.
 * - A handle is freed once, by the function named after it, in any order: a handle keeps alive what it needs. Freeing
 *   null does nothing.
 * - A null handle is QD_ERROR_HANDLE. So is a handle that was freed, or that is of another kind or not this
 *   library's, where the library is a debug build. In a release build they are undefined behaviour, as in free().
 * - Texts are UTF-8 and end in 0. Those that are given are copied if they are kept. Those that are returned belong
 *   to the handle that they came of, and are valid until it is freed or its contents change.
 * - Pointers to other data must be null or point to as much as the function says. Null is an error where the
 *   function does not say what it means.
 * - Callbacks must return: they must not throw, and must not longjmp. Any thread that calls the library may call them.
 * - Sizes are in bytes, lengths and extents in elements, times in nanoseconds.
 */


#ifndef QD_H
#define QD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this interface. Those of different numbers do not fit each other. */
#define QD_API_VERSION 1

/** A hash of the declarations below, without the comments. */
#define QD_HEADER_HASH 0x1690f6b4bdae2be8ULL


/**
 * Elements of one byte that are 0 or 1.
 */
#define QD_BOOL 1

/**
 * Elements that are signed, of 8 bits.
 */
#define QD_I8 2

/**
 * Elements that are unsigned, of 8 bits.
 */
#define QD_U8 3

/**
 * Elements that are signed, of 16 bits.
 */
#define QD_I16 4

/**
 * Elements that are unsigned, of 16 bits.
 */
#define QD_U16 5

/**
 * Elements that are signed, of 32 bits.
 */
#define QD_I32 6

/**
 * Elements that are unsigned, of 32 bits.
 */
#define QD_U32 7

/**
 * Elements that are signed, of 64 bits.
 */
#define QD_I64 8

/**
 * Elements that are unsigned, of 64 bits.
 */
#define QD_U64 9

/**
 * Elements that are floats of IEEE's binary16.
 */
#define QD_F16 10

/**
 * Elements that are the upper halves of floats of 32 bits.
 */
#define QD_BF16 11

/**
 * Elements that are floats of 32 bits.
 */
#define QD_F32 12

/**
 * Elements that are floats of 64 bits.
 */
#define QD_F64 13

/**
 * The kind of an argument: left out. Scratch may be, and is then made by the launch.
 */
#define QD_ARG_MISSING 0

/**
 * The kind of an argument: `pointer` is a qd_buffer *.
 */
#define QD_ARG_BUFFER 1

/**
 * The kind of an argument: a value of type `dtype`, whose bits are in `word`, zero-extended.
 */
#define QD_ARG_SCALAR 2

/**
 * The kind of an argument: `pointer` is a DLTensor * of DLPack, whose memory is used where it is: it has to be
 * there until the launch has ended, and for a captured launch as long as the graph. It is ready in the order of the
 * stream of the launch.
 */
#define QD_ARG_TENSOR 3

/**
 * The kind of an argument: a slot, whose number is `word`. Only recordings take it.
 */
#define QD_ARG_SLOT 4

/**
 * The kind of an argument: an array without memory. `pointer` are its extents (const uint64_t *), and `word` is
 * how many there are. Only qd_kernel_minimum() and its like take it.
 */
#define QD_ARG_SHAPE 5

/**
 * When foreign memory may be used: at once.
 */
#define QD_READY_NOW 0

/**
 * When foreign memory may be used: after the work that is on the stream that it is imported on.
 */
#define QD_READY_IN_ORDER 1

/**
 * When foreign memory may be used: after an event.
 */
#define QD_READY_AFTER 2

/**
 * A tensor of DLPack: DLManagedTensorVersioned.
 */
#define QD_DLPACK_VERSIONED 0

/**
 * A tensor of DLPack from before its version 1: DLManagedTensor.
 */
#define QD_DLPACK_LEGACY 1

/**
 * How bad a diagnostic is: it failed.
 */
#define QD_SEVERITY_ERROR 0

/**
 * How bad a diagnostic is: it succeeded, but the result may not be what was meant.
 */
#define QD_SEVERITY_WARNING 1

/**
 * How bad a diagnostic is: nothing is wrong.
 */
#define QD_SEVERITY_REMARK 2

/**
 * The stage of a compilation: the request was checked.
 */
#define QD_STAGE_REQUEST 0

/**
 * The stage of a compilation: the source was read and verified.
 */
#define QD_STAGE_PARSE 1

/**
 * The stage of a compilation: the module was lowered for a target.
 */
#define QD_STAGE_LOWER 2

/**
 * The stage of a compilation: code was emitted.
 */
#define QD_STAGE_EMIT 3

/**
 * An extent of a kernel's argument that is known at launch only.
 */
#define QD_ANY_EXTENT UINT64_MAX

/**
 * What a kernel does with an argument: it does not write it.
 */
#define QD_ACCESS_READ 0

/**
 * What a kernel does with an argument: it writes some of it, and does not read what was there.
 */
#define QD_ACCESS_WRITE 1

/**
 * What a kernel does with an argument: both, or that is not known.
 */
#define QD_ACCESS_READ_WRITE 2

/**
 * What an argument is for: an input or a result.
 */
#define QD_ROLE_DATA 0

/**
 * What an argument is for: scratch, of which the contents are undefined before and after.
 */
#define QD_ROLE_SCRATCH 1

/**
 * What an argument is for: how many elements there are.
 */
#define QD_ROLE_COUNT 2

/**
 * The detail of a profile: calls as they are.
 */
#define QD_DETAIL_CALLS 0

/**
 * The detail of a profile: each step of a call by itself, too. A call then takes longer; the times of its steps are
 * right.
 */
#define QD_DETAIL_STEPS 1

/**
 * What a stream did: a call of a kernel, or of a graph.
 */
#define QD_SPAN_CALL 0

/**
 * What a stream did: a step of a call, whose span this one lies in.
 */
#define QD_SPAN_STEP 1

/**
 * What a stream did: a copy from the host.
 */
#define QD_SPAN_UPLOAD 2

/**
 * What a stream did: a copy to the host.
 */
#define QD_SPAN_DOWNLOAD 3

/**
 * What a stream did: a copy from one buffer to another.
 */
#define QD_SPAN_COPY 4

/**
 * What a stream did: it set all bytes of a buffer.
 */
#define QD_SPAN_CLEAR 5

/**
 * What a stream did: it waited for another one.
 */
#define QD_SPAN_WAIT 6

/**
 * The priority of a stream: as any.
 */
#define QD_PRIORITY_NORMAL 0

/**
 * The priority of a stream: before others, where the device can.
 */
#define QD_PRIORITY_HIGH 1

/**
 * How a call ended.
 */
typedef enum {
  /**
   * It succeeded.
   */
  QD_OK = 0,
  /**
   * A handle or another pointer is null; in debug builds also a handle that was freed, or is of another kind.
   */
  QD_ERROR_HANDLE = 1,
  /**
   * A value is malformed: a text that is not UTF-8, an unknown type, an index without anything.
   */
  QD_ERROR_VALUE = 2,
  /**
   * The program, its header and the library do not fit each other.
   */
  QD_ERROR_VERSION = 3,
  /**
   * The compiler refused the source: the diagnostics say why.
   */
  QD_ERROR_COMPILE = 4,
  /**
   * A file cannot be read or written.
   */
  QD_ERROR_FILE = 5,
  /**
   * An artifact is malformed, damaged or of another version, or its code cannot be loaded.
   */
  QD_ERROR_ARTIFACT = 6,
  /**
   * There is no such device, or it failed.
   */
  QD_ERROR_DEVICE = 7,
  /**
   * The device lacks what the code needs, or the artifact is for other targets.
   */
  QD_ERROR_UNSUPPORTED = 8,
  /**
   * Things of two devices were mixed.
   */
  QD_ERROR_WRONG_DEVICE = 9,
  /**
   * There is nothing of that name.
   */
  QD_ERROR_NOT_FOUND = 10,
  /**
   * The arguments are not the kernel's.
   */
  QD_ERROR_ARGUMENT = 11,
  /**
   * The device did not start or did not finish a launch.
   */
  QD_ERROR_LAUNCH = 12,
  /**
   * A loop ran for more iterations than allowed.
   */
  QD_ERROR_TOO_MANY_ITERATIONS = 13,
  /**
   * There is no memory for it.
   */
  QD_ERROR_OUT_OF_MEMORY = 14,
  /**
   * Another library's array cannot be used, or given to it.
   */
  QD_ERROR_FOREIGN = 15,
  /**
   * The call cannot be captured.
   */
  QD_ERROR_CAPTURE = 16,
  /**
   * It cannot be recorded, or the graph is not ready.
   */
  QD_ERROR_RECORDING = 17,
  /**
   * A view, a copy or a cast that the buffer does not allow.
   */
  QD_ERROR_VIEW = 18,
  /**
   * No variant is eligible.
   */
  QD_ERROR_NO_VARIANT = 19,
  /**
   * A dispatcher cannot be made, or does not take the winners.
   */
  QD_ERROR_DISPATCH = 20,
  /**
   * A variable of the environment is malformed.
   */
  QD_ERROR_ENVIRONMENT = 21,
  /**
   * The device is lost: nothing of it can be used any more.
   */
  QD_ERROR_LOST = 22,
  /**
   * The process is a copy, by fork, of the one that opened the device.
   */
  QD_ERROR_FORKED = 23,
  /**
   * A session was edited meanwhile.
   */
  QD_ERROR_CANCELLED = 24,
  /**
   * A defect of this library.
   */
  QD_ERROR_INTERNAL = 25,
  /**
   * An assertion of a kernel did not hold.
   */
  QD_ERROR_ASSERTION = 26,
} qd_status;

/**
 * Compiled kernels for some targets, as data. No device is needed for it.
 */
typedef struct qd_artifact qd_artifact;

/**
 * A row-major array of elements on a device, or a view of part of one, which shares its memory. The memory is freed
 * after the last use, when the last handle of it has been freed.
 */
typedef struct qd_buffer qd_buffer;

/**
 * A device. There is one for each id and options in a process, however often it is opened.
 */
typedef struct qd_device qd_device;

/**
 * What the compiler said: errors, warnings and remarks, in order.
 */
typedef struct qd_diagnostics qd_diagnostics;

/**
 * Kernels of one device that do the same, of which the fastest is launched.
 */
typedef struct qd_dispatcher qd_dispatcher;

/**
 * A point in the work of a stream.
 */
typedef struct qd_event qd_event;

/**
 * An artifact on a device.
 */
typedef struct qd_executable qd_executable;

/**
 * A recording that can be launched. It keeps the buffers that it was recorded with, and those that are bound. Threads
 * that use one wait for each other.
 */
typedef struct qd_graph qd_graph;

/**
 * A kernel on a device. It keeps prepared launches.
 */
typedef struct qd_kernel qd_kernel;

/**
 * Page-locked host memory of a device, for asynchronous copies. Use it again: making it takes longer than a copy.
 */
typedef struct qd_pinned qd_pinned;

/**
 * Times what streams of a device do.
 */
typedef struct qd_profiler qd_profiler;

/**
 * Launches and copies that are being recorded. Threads that use one wait for each other.
 */
typedef struct qd_recording qd_recording;

/**
 * What the compiler is asked: a source, targets, kernels and options, which determine the artifact.
 */
typedef struct qd_request qd_request;

/**
 * Files, and what has been compiled of them. An edit cancels what other threads compile.
 */
typedef struct qd_session qd_session;

/**
 * A folder with what has been compiled, which processes share.
 */
typedef struct qd_store qd_store;

/**
 * Work of a device, in order. Work of several streams is concurrent, unless it uses the same buffers.
 */
typedef struct qd_stream qd_stream;

/**
 * The type of elements: one of the numbers below.
 */
typedef uint32_t qd_dtype;

/**
 * Called once when the library needs something no more, with its data, by any thread. It must not call the library.
 */
typedef void (*qd_release)(void *data);

/**
 * Memory that is not the library's.
 */
typedef struct {
  /**
   * Where it begins, as the device's kernels see it.
   */
  uint64_t address;
  /**
   * The type of its elements.
   */
  qd_dtype dtype;
  /**
   * Whether nothing may be written to it.
   */
  bool read_only;
  /**
   * How many extents there are.
   */
  size_t rank;
  /**
   * The extents, outermost first.
   */
  const uint64_t *shape;
  /**
   * From one element to the next in each dimension, in elements; null: row-major, as it has to be.
   */
  const int64_t *strides;
  /**
   * QD_READY_NOW, QD_READY_IN_ORDER or QD_READY_AFTER.
   */
  uint32_t ready;
  /**
   * For QD_READY_AFTER.
   */
  const qd_event *after;
  /**
   * Called, with `release_data`, when the last use of the memory has ended, in a later call; at once if the memory
   * cannot be imported. Null: the caller keeps the memory until all uses have ended.
   */
  qd_release release;
  /**
   * For `release`.
   */
  void *release_data;
} qd_foreign;

/**
 * A description of a buffer.
 */
typedef struct {
  /**
   * The type of its elements.
   */
  qd_dtype dtype;
  /**
   * Whether it is read-only.
   */
  bool read_only;
  /**
   * How many extents it has.
   */
  size_t rank;
  /**
   * The extents, outermost first. Valid as long as the handle.
   */
  const uint64_t *shape;
  /**
   * Bytes of its elements.
   */
  uint64_t bytes;
  /**
   * Where it begins, as the device's kernels see it.
   */
  uint64_t address;
} qd_buffer_info;

/**
 * How a device is opened. Zeros are the defaults.
 */
typedef struct {
  /**
   * Worker threads, if the device is the host; 0 for as many as the machine has hardware threads.
   */
  size_t threads;
  /**
   * The allocator of arrays and of kernels' other memory, instead of the device's own pool; null: that pool.
   * It returns the address of so many bytes, at least one, at a multiple of 256, for use on a stream of the
   * driver's, such as a CUstream; 0 if there is no room. Any thread calls it, and it must not call this library.
   */
  uint64_t (*allocate)(uint64_t bytes, uint64_t stream, void *allocator_data);
  /**
   * Takes back what `allocate` returned, with the same bytes and stream. Null only if `allocate` is.
   */
  void (*release)(uint64_t address, uint64_t bytes, uint64_t stream, void *allocator_data);
  /**
   * Passed to both.
   */
  void *allocator_data;
} qd_device_options;

/**
 * A description of a device.
 */
typedef struct {
  /**
   * By which it is opened, as in "cuda:0".
   */
  const char *id;
  /**
   * The vendor's name of it.
   */
  const char *name;
  /**
   * The driver and its version; of the host, how many threads it uses.
   */
  const char *driver;
  /**
   * The target to compile for.
   */
  const char *target;
  /**
   * Whether the device decides if a loop goes on. Otherwise a launch with a loop returns after its last round.
   */
  bool decides;
  /**
   * Threads of a block at most.
   */
  uint32_t threads;
  /**
   * Subgroup sizes, ascending.
   */
  const uint32_t *subgroup_sizes;
  /**
   * How many they are.
   */
  size_t subgroup_size_count;
  /**
   * Bytes of shared memory of a block at most; 0 where there is no limit.
   */
  uint64_t shared_bytes;
  /**
   * Bytes of its memory; 0 where that is not known.
   */
  uint64_t memory_bytes;
} qd_device_info;

/**
 * Memory that is allocated on a device, and bytes copied to and from it.
 */
typedef struct {
  /**
   * Bytes in use.
   */
  uint64_t live;
  /**
   * Bytes reserved for that, in use or not.
   */
  uint64_t reserved;
  /**
   * The peak of `live`.
   */
  uint64_t peak;
  /**
   * Allocations so far.
   */
  uint64_t allocations;
  /**
   * Bytes copied from the host so far.
   */
  uint64_t uploaded;
  /**
   * Bytes copied to the host so far.
   */
  uint64_t downloaded;
} qd_memory_stats;

/**
 * An error, a warning or a remark.
 */
typedef struct {
  /**
   * One of the QD_SEVERITY.
   */
  uint32_t severity;
  /**
   * One of the QD_STAGE.
   */
  uint32_t stage;
  /**
   * The message, without a location.
   */
  const char *message;
  /**
   * All of it as text: "file:line:column: error: message", and a line for each note.
   */
  const char *text;
  /**
   * The name of the source; null if the location is not known.
   */
  const char *file;
  /**
   * The line, from 1; 0 stands for the whole source.
   */
  size_t line;
  /**
   * The column, in bytes from 1.
   */
  size_t column;
  /**
   * How many notes it has.
   */
  size_t note_count;
} qd_diagnostic;

/**
 * A note of a diagnostic: another location that is involved.
 */
typedef struct {
  /**
   * The message.
   */
  const char *message;
  /**
   * The name of the source; null if the location is not known.
   */
  const char *file;
  /**
   * The line, from 1.
   */
  size_t line;
  /**
   * The column, in bytes from 1.
   */
  size_t column;
} qd_note;

/**
 * An argument of a launch. Zeros are a missing one; the functions at the end of this header make the others.
 */
typedef struct {
  /**
   * Which of the kinds.
   */
  uint32_t kind;
  /**
   * The type of a value.
   */
  qd_dtype dtype;
  /**
   * See the kinds.
   */
  const void *pointer;
  /**
   * See the kinds.
   */
  uint64_t word;
} qd_arg;

/**
 * Puts all the work of a variant onto a stream, with the arguments of the launch, which it may pass to qd_launch():
 * tensors come as buffers. The stream and the arguments are valid until it returns. What it returns is how the launch
 * ends; after a failing call of this library, that call's status leaves its message. Any thread calls it.
 */
typedef qd_status (*qd_function)(const qd_stream *stream,
                                 const qd_arg *arguments,
                                 size_t count,
                                 void *data);

/**
 * An argument as a condition and a geometry see it. Valid until they return.
 */
typedef struct {
  /**
   * QD_ARG_BUFFER, also for a tensor; QD_ARG_SCALAR, QD_ARG_SHAPE, QD_ARG_SLOT or QD_ARG_MISSING.
   */
  uint32_t kind;
  /**
   * The type of the elements or of the value; 0 if there is none.
   */
  qd_dtype dtype;
  /**
   * How many extents it has.
   */
  size_t rank;
  /**
   * The extents, outermost first.
   */
  const uint64_t *shape;
  /**
   * The bits of a value.
   */
  uint64_t bits;
} qd_given;

/**
 * Whether a variant may be launched with these arguments. It has to follow from the geometry. Any thread calls it.
 */
typedef bool (*qd_condition)(const qd_given *arguments, size_t count, void *data);

/**
 * A variant of a dispatcher: a kernel, or a function.
 */
typedef struct {
  /**
   * Its name, without a comma; null: the kernel's. Give a function another when its code changes: saved winners
   * know it by its name alone.
   */
  const char *name;
  /**
   * The kernel; null: it is a function.
   */
  const qd_kernel *kernel;
  /**
   * The function of a variant without a kernel.
   */
  qd_function function;
  /**
   * For `function`. It has to live as long as the dispatcher.
   */
  void *function_data;
  /**
   * Whether it may be launched; null: it always may.
   */
  qd_condition condition;
  /**
   * For `condition`. It has to live as long as the dispatcher.
   */
  void *condition_data;
} qd_variant;

/**
 * What calls are told apart by: those of equal numbers have one winner. It is asked at each call and each number is
 * kept for good, so it should be coarse: the logarithm of a length, not the length. Any thread calls it.
 */
typedef uint64_t (*qd_geometry)(const qd_given *arguments, size_t count, void *data);

/**
 * How often variants are tried.
 */
typedef struct {
  /**
   * Untimed launches of each variant in the first evaluation of a geometry.
   */
  uint32_t first_warmup;
  /**
   * Untimed launches of each variant in each later one.
   */
  uint32_t warmup;
  /**
   * Timed launches of each variant, at least 1. The least mean wins.
   */
  uint32_t active;
  /**
   * Calls of a geometry after which the next evaluation begins; 0: never.
   */
  uint64_t repeat_after_calls;
  /**
   * Nanoseconds after which it does; 0: never.
   */
  uint64_t repeat_after;
} qd_policy;

/**
 * Options of a launch. Zeros are the defaults.
 */
typedef struct {
  /**
   * Iterations after which a loop of a kernel is QD_ERROR_TOO_MANY_ITERATIONS; 0: it may run forever. A device that
   * decides by itself ends the loop, and a later launch, read or wait, on any stream, returns the error.
   */
  uint64_t max_iterations;
} qd_launch_options;

/**
 * An argument that a kernel takes.
 */
typedef struct {
  /**
   * What the source calls it.
   */
  const char *name;
  /**
   * Whether it is an array; otherwise it is a value.
   */
  bool is_buffer;
  /**
   * The type of its elements, or of the value.
   */
  qd_dtype dtype;
  /**
   * How many extents it has.
   */
  size_t rank;
  /**
   * The extents, outermost first; QD_ANY_EXTENT is any.
   */
  const uint64_t *shape;
  /**
   * One of the QD_ACCESS.
   */
  uint32_t access;
  /**
   * One of the QD_ROLE.
   */
  uint32_t role;
  /**
   * Whether it may share memory with others that may.
   */
  bool may_alias;
} qd_parameter;

/**
 * Something that a stream did. Valid until the callback returns.
 */
typedef struct {
  /**
   * Which of the kinds.
   */
  uint32_t kind;
  /**
   * Which of its device's streams.
   */
  uint64_t stream;
  /**
   * The name of a call's kernel, of a graph those of its kernels; of a step the phase's name, or what it is; null
   * of others.
   */
  const char *name;
  /**
   * When it began on the device, in nanoseconds from the profiler's making.
   */
  uint64_t start;
  /**
   * How long it took, in nanoseconds.
   */
  uint64_t duration;
  /**
   * Blocks of a step that is a launch; 0 of others.
   */
  uint64_t blocks;
  /**
   * Bytes of a copy, or of a step that is a fill or a copy; 0 of others.
   */
  uint64_t bytes;
} qd_span;

/**
 * How often a store was asked in this process.
 */
typedef struct {
  /**
   * Entries that were found.
   */
  uint64_t hits;
  /**
   * Entries that were not found, or were damaged.
   */
  uint64_t misses;
  /**
   * Entries that were written.
   */
  uint64_t writes;
} qd_store_counts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens a file that qd_artifact_save() or qd-translate wrote, and maps its code: replace such a file by renaming
 * another one. QD_ERROR_FILE if it cannot be read, QD_ERROR_ARTIFACT if it is none or of another version.
 */
qd_status qd_artifact_open(const char *path,
                           qd_artifact **artifact);

/**
 * Reads the bytes of an artifact, which are copied.
 */
qd_status qd_artifact_from_bytes(const uint8_t *bytes, size_t length, qd_artifact **artifact);

/**
 * Frees a handle of an artifact.
 */
qd_status qd_artifact_free(qd_artifact *artifact);

/**
 * The bytes of an artifact, as in its file. Valid as long as the handle.
 */
qd_status qd_artifact_bytes(const qd_artifact *artifact, const uint8_t **bytes, size_t *length);

/**
 * Writes an artifact to a file, as a whole: what was there stays if that fails.
 */
qd_status qd_artifact_save(const qd_artifact *artifact, const char *path);

/**
 * How many targets and kernels an artifact has. Either place may be null.
 */
qd_status qd_artifact_counts(const qd_artifact *artifact, size_t *targets, size_t *kernels);

/**
 * A target of an artifact, by its index from 0.
 */
qd_status qd_artifact_target(const qd_artifact *artifact, size_t index, const char **name);

/**
 * The name of a kernel of an artifact, by its index from 0.
 */
qd_status qd_artifact_kernel(const qd_artifact *artifact, size_t index, const char **name);

/**
 * Whether an artifact has a kernel.
 */
qd_status qd_artifact_has_kernel(const qd_artifact *artifact, const char *name, bool *is_there);

/**
 * Makes a buffer of undefined contents. A rank of 0 is one element.
 */
qd_status qd_buffer_new(const qd_stream *stream,
                        qd_dtype dtype,
                        const uint64_t *shape,
                        size_t rank,
                        qd_buffer **buffer);

/**
 * Makes a buffer of zeros.
 */
qd_status qd_buffer_zeros(const qd_stream *stream,
                          qd_dtype dtype,
                          const uint64_t *shape,
                          size_t rank,
                          qd_buffer **buffer);

/**
 * Uses memory of the caller's as a buffer. It must be of the stream's device, hold what the description says, and be
 * left alone by others while it is used. Buffers of the same memory do not know of each other.
 */
qd_status qd_buffer_import(const qd_stream *stream,
                           const qd_foreign *memory,
                           qd_buffer **buffer);

/**
 * Takes another library's array, by DLPack: `tensor` is a DLManagedTensorVersioned * or, for QD_DLPACK_LEGACY, a
 * DLManagedTensor *. Its deleter is called when the last use of the buffer has ended, or at once if the array is
 * refused: in any case it is the library's from now on. `after` is for QD_READY_AFTER, and null otherwise.
 */
qd_status qd_buffer_from_dlpack(const qd_stream *stream,
                                uint32_t form,
                                void *tensor,
                                uint32_t ready,
                                const qd_event *after,
                                qd_buffer **buffer);

/**
 * Gives an array to another library, by DLPack: to `tensor` goes a DLManagedTensorVersioned * or a DLManagedTensor *,
 * whose deleter that library calls. It uses it on `stream`, after the buffer's uses so far; later uses here wait for
 * that stream's work up to the deleter's call. The buffer's memory stays until then.
 */
qd_status qd_buffer_to_dlpack(const qd_buffer *buffer,
                              const qd_stream *stream,
                              uint32_t form,
                              void **tensor);

/**
 * Frees a handle of a buffer. Its memory goes behind its last use.
 */
qd_status qd_buffer_free(qd_buffer *buffer);

/**
 * Describes a buffer.
 */
qd_status qd_buffer_describe(const qd_buffer *buffer, qd_buffer_info *info);

/**
 * Some rows of a buffer, from `begin` to before `end`, as another handle.
 */
qd_status qd_buffer_rows(const qd_buffer *buffer, uint64_t begin, uint64_t end, qd_buffer **view);

/**
 * The bytes of a buffer as elements of another type and shape, as another handle. They must be as many.
 */
qd_status qd_buffer_cast(const qd_buffer *buffer,
                         qd_dtype dtype,
                         const uint64_t *shape,
                         size_t rank,
                         qd_buffer **view);

/**
 * Copies all elements of a buffer to the host, after all writes to them, and waits for that. `bytes` must be all.
 */
qd_status qd_buffer_read(const qd_buffer *buffer,
                         const qd_stream *stream,
                         void *to,
                         size_t bytes);

/**
 * Copies all elements of a buffer from the host, after all its uses. They have been read when it returns. `bytes`
 * must be all.
 */
qd_status qd_buffer_write(const qd_buffer *buffer,
                          const qd_stream *stream,
                          const void *from,
                          size_t bytes);

/**
 * Copies a buffer to another of the same type and size, which may be on another device: then the copy is complete
 * when it returns. The stream is of the first one's device.
 */
qd_status qd_buffer_copy(const qd_buffer *from,
                         const qd_stream *stream,
                         const qd_buffer *to);

/**
 * Makes a request without a source, targets and kernels. Its options are what the environment says now:
 * QD_SPIRV_VAL, QD_LLD.
 */
qd_status qd_request_new(qd_request **request);

/**
 * Frees a request.
 */
qd_status qd_request_free(qd_request *request);

/**
 * Sets the source: a text of `length` bytes, and its name in diagnostics.
 */
qd_status qd_request_text(const qd_request *request,
                          const char *name,
                          const char *source,
                          size_t length);

/**
 * Sets the source: MLIR's bytecode.
 */
qd_status qd_request_bytecode(const qd_request *request, const uint8_t *bytes, size_t length);

/**
 * Sets the source: the contents of a file, text or bytecode, which is read now. QD_ERROR_COMPILE if it cannot be.
 */
qd_status qd_request_file(const qd_request *request,
                          const char *path);

/**
 * Adds a target, as in "cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8": one at least is needed, and its device is not.
 */
qd_status qd_request_target(const qd_request *request,
                            const char *target);

/**
 * Adds a kernel by name: only those that were added are compiled, and those that they dispatch to. Without any, all
 * are.
 */
qd_status qd_request_kernel(const qd_request *request,
                            const char *name);

/**
 * Has target "cpu" be another machine than this one, as LLVM spells it: "x86_64-pc-linux-gnu", "x86-64", and what it
 * has and lacks, as in "+avx2,-sse4a", which may be empty.
 */
qd_status qd_request_host(const qd_request *request,
                          const char *triple,
                          const char *cpu,
                          const char *features);

/**
 * Whether spirv-val checks each SPIR-V module; its rejection is an error.
 */
qd_status qd_request_validate_spirv(const qd_request *request, bool validates);

/**
 * Sets LLVM's linker, ld.lld, by its path: it makes AMD's code objects.
 */
qd_status qd_request_linker(const qd_request *request, const char *path);

/**
 * Compiles a request. `store` may be null: otherwise what it has is not compiled again, and what is compiled is kept
 * there. `diagnostics` may be null: otherwise it gets a handle, also if it fails, of the errors, or of the warnings and
 * remarks if it succeeds; free it in both cases. QD_ERROR_COMPILE if there are errors; the message has them all. The
 * request may be edited by other threads meanwhile, and used again. It takes milliseconds to seconds.
 */
qd_status qd_compile(const qd_request *request,
                     const qd_store *store,
                     qd_artifact **artifact,
                     qd_diagnostics **diagnostics);

/**
 * Opens a device by its id: "cpu", "cuda:0", "hip:0", "vulkan:1"; without a number it is the first. `options` may
 * be null; one with an allocator opens another device each time. QD_ERROR_DEVICE if there is none: the message says
 * what is missing.
 */
qd_status qd_device_open(const char *id,
                         const qd_device_options *options,
                         qd_device **device);

/**
 * Frees a handle of a device. The device is closed after its last object.
 */
qd_status qd_device_free(qd_device *device);

/**
 * Describes a device. What the description points to is valid as long as the handle.
 */
qd_status qd_device_describe(const qd_device *device, qd_device_info *info);

/**
 * Finds the devices of this machine: each is opened for a moment. `found` is called with each, and what it gets is
 * valid until it returns; `refused`, unless it is null, with the name of each driver that has none or the id of each
 * device that cannot be opened, and why. Both get `data`.
 */
qd_status qd_devices(void (*found)(const qd_device_info *info, void *data),
                     void (*refused)(const char *what, const char *why, void *data),
                     void *data);

/**
 * How much memory of a device is in use, and what was copied.
 */
qd_status qd_device_memory(const qd_device *device, qd_memory_stats *stats);

/**
 * Has what kernels print (gpu.printf) given to `print` instead of standard output, with `data`: as text that is valid
 * until it returns, a print at a time, when somebody waits for a stream of the device or reads a buffer, by the thread
 * that does so, and when the device is closed. The order is that in which threads came to print. `release`, unless it
 * is null, is called with `data` once `print` is not called any more. A null `print` is standard output again.
 */
qd_status qd_device_on_print(const qd_device *device,
                             void (*print)(const char *text, void *data),
                             qd_release release,
                             void *data);

/**
 * Releases unused memory of a device to the system, until about so many bytes are held.
 */
qd_status qd_device_trim(const qd_device *device, uint64_t keep_bytes);

/**
 * Completes a target for a device: "vulkan:1.3" becomes "vulkan:1.3,subgroup=8" where subgroups have 8 lanes. Writes
 * at most `capacity` bytes with the 0 at the end, and to `length` how many there are without it; `resolved` may be
 * null where `capacity` is 0.
 */
qd_status qd_device_resolve(const qd_device *device,
                            const char *target,
                            char *resolved,
                            size_t capacity,
                            size_t *length);

/**
 * How many diagnostics there are.
 */
qd_status qd_diagnostics_count(const qd_diagnostics *diagnostics, size_t *count);

/**
 * A diagnostic by its index from 0. What it points to is valid as long as the handle.
 */
qd_status qd_diagnostics_get(const qd_diagnostics *diagnostics,
                             size_t index,
                             qd_diagnostic *diagnostic);

/**
 * A note of a diagnostic, both by their indices from 0. What it points to is valid as long as the handle.
 */
qd_status qd_diagnostics_note(const qd_diagnostics *diagnostics,
                              size_t index,
                              size_t note_index,
                              qd_note *note);

/**
 * Frees diagnostics.
 */
qd_status qd_diagnostics_free(qd_diagnostics *diagnostics);

/**
 * Makes a dispatcher of a device's kernels, which have to do the same and take the same arguments: names, types and
 * extents are compared. `geometry` may be null: then all calls have one winner. `geometry_data` is for it, and has to
 * live as long as the dispatcher. `policy` may be null: the first launch of each is untimed, the second counts, and
 * after 300 calls all are tried again. Reads the environment: QD_PERFDISPATCH_FORCE and QD_PERFDISPATCH_PRINT_DEBUG.
 * QD_ERROR_DISPATCH without variants, with two of one name or with other arguments; QD_ERROR_ENVIRONMENT if a
 * variable is malformed.
 */
qd_status qd_dispatcher_new(const qd_device *device,
                            const char *name,
                            const qd_variant *variants,
                            size_t variant_count,
                            qd_geometry geometry,
                            void *geometry_data,
                            const qd_policy *policy,
                            qd_dispatcher **dispatcher);

/**
 * Frees a dispatcher.
 */
qd_status qd_dispatcher_free(qd_dispatcher *dispatcher);

/**
 * Launches one variant, as qd_launch() does: one that is tried, or the winner of the geometry. A timed trial waits,
 * before and after it, for the stream and for what other streams do with the arguments; other calls wait for nothing.
 * On a stream under capture nothing is measured. `options` may be null. QD_ERROR_NO_VARIANT if none is eligible,
 * QD_ERROR_CAPTURE if the stream is captured and the geometry has no winner.
 */
qd_status qd_dispatcher_launch(const qd_dispatcher *dispatcher,
                               const qd_stream *stream,
                               const qd_arg *arguments,
                               size_t count,
                               const qd_launch_options *options);

/**
 * As qd_kernel_minimum(), for which every eligible variant can be launched.
 */
qd_status qd_dispatcher_minimum(const qd_dispatcher *dispatcher,
                                const char *argument,
                                const qd_arg *arguments,
                                size_t count,
                                uint64_t *rows);

/**
 * The index of the variant that is launched with these arguments without measuring: what a recording takes.
 */
qd_status qd_dispatcher_chosen(const qd_dispatcher *dispatcher,
                               const qd_arg *arguments,
                               size_t count,
                               size_t *variant);

/**
 * The name of a variant, by its index from 0.
 */
qd_status qd_dispatcher_variant(const qd_dispatcher *dispatcher, size_t index, const char **name);

/**
 * The index of the variant that has won for a geometry; -1 while they are tried.
 */
qd_status qd_dispatcher_winner(const qd_dispatcher *dispatcher,
                               uint64_t geometry,
                               int64_t *variant);

/**
 * For each variant the mean of its times for a geometry, in nanoseconds; UINT64_MAX of one that has none. Writes at
 * most `capacity` of them.
 */
qd_status qd_dispatcher_times(const qd_dispatcher *dispatcher,
                              uint64_t geometry,
                              uint64_t *nanoseconds,
                              size_t capacity);

/**
 * Has each call launch this variant, whatever its condition says, and measures nothing; null ends that.
 */
qd_status qd_dispatcher_force(const qd_dispatcher *dispatcher,
                              const char *variant);

/**
 * Measures nothing from now on, or measures again. Winners stay.
 */
qd_status qd_dispatcher_freeze(const qd_dispatcher *dispatcher, bool is_frozen);

/**
 * Adds the winners of a dispatcher to a file, which is made if it is not there.
 */
qd_status qd_dispatcher_save(const qd_dispatcher *dispatcher, const char *path);

/**
 * Takes the winners of a dispatcher from a file, and writes how many they are, unless `count` is null. QD_ERROR_FILE
 * if it cannot be read; QD_ERROR_DISPATCH if it is malformed, or its winners are of another device or driver, or
 * among other variants or code. Nothing is taken then.
 */
qd_status qd_dispatcher_load(const qd_dispatcher *dispatcher,
                             const char *path,
                             size_t *count);

/**
 * Makes an event after all work that is on a stream now.
 */
qd_status qd_event_record(const qd_stream *stream, qd_event **event);

/**
 * Frees a handle of an event.
 */
qd_status qd_event_free(qd_event *event);

/**
 * Whether all work before an event has been done. Does not wait.
 */
qd_status qd_event_is_done(const qd_event *event, bool *is_done);

/**
 * Waits until all work before an event has been done.
 */
qd_status qd_event_wait(const qd_event *event);

/**
 * The time on the device from one event to a later one, in nanoseconds; 0 if the second is earlier. Waits for both.
 */
qd_status qd_event_elapsed(const qd_event *from,
                           const qd_event *to,
                           uint64_t *nanoseconds);

/**
 * Prepares an artifact's kernels for a device: with the first of its targets that the device can run.
 * QD_ERROR_UNSUPPORTED if there is none.
 */
qd_status qd_load(const qd_device *device,
                  const qd_artifact *artifact,
                  qd_executable **executable);

/**
 * As qd_artifact_open() and qd_load().
 */
qd_status qd_load_file(const qd_device *device, const char *path, qd_executable **executable);

/**
 * Frees a handle of an executable. Its kernels keep what they need.
 */
qd_status qd_executable_free(qd_executable *executable);

/**
 * How many kernels an executable has.
 */
qd_status qd_executable_kernel_count(const qd_executable *executable, size_t *count);

/**
 * The name of a kernel of an executable, by its index from 0.
 */
qd_status qd_executable_kernel_name(const qd_executable *executable,
                                    size_t index,
                                    const char **name);

/**
 * A kernel by name. QD_ERROR_NOT_FOUND if there is none: the message lists those there are. QD_ERROR_UNSUPPORTED if
 * the device lacks what it needs.
 */
qd_status qd_kernel_get(const qd_executable *executable,
                        const char *name,
                        qd_kernel **kernel);

/**
 * The same kernel, whose dispatches (qd.grid.dispatch) run this variant where it is eligible.
 */
qd_status qd_kernel_preferring(const qd_kernel *kernel,
                               const char *variant,
                               qd_kernel **preferring);

/**
 * Frees a handle of a kernel. Launches of it go on.
 */
qd_status qd_kernel_free(qd_kernel *kernel);

/**
 * The name of a kernel, and how many arguments it takes. Either place may be null.
 */
qd_status qd_kernel_describe(const qd_kernel *kernel, const char **name, size_t *parameters);

/**
 * Describes an argument that a kernel takes, by its index from 0. What the description points to is valid as long as
 * the handle.
 */
qd_status qd_kernel_parameter(const qd_kernel *kernel,
                              size_t index,
                              qd_parameter *parameter);

/**
 * The least number of rows of one of a kernel's buffers, from the other arguments: of scratch what its algorithms
 * need, 0 where there is no such bound. Arguments on which it does not depend may be missing, and arrays may be
 * shapes.
 */
qd_status qd_kernel_minimum(const qd_kernel *kernel,
                            const char *argument,
                            const qd_arg *arguments,
                            size_t count,
                            uint64_t *rows);

/**
 * Loads all code of a kernel onto the device, so that no launch does. A driver may take long.
 */
qd_status qd_kernel_load(const qd_kernel *kernel);

/**
 * Prepares a launch with these arguments on this stream, so that it takes no longer than later ones.
 */
qd_status qd_kernel_prepare(const qd_kernel *kernel,
                            const qd_stream *stream,
                            const qd_arg *arguments,
                            size_t count);

/**
 * Puts a kernel onto a stream, after all uses of the same buffers; if its owner is capturing the stream, into that
 * graph. Waits for nothing where the device works by itself, and allocates nothing unless scratch is left out.
 * `options` may be null. The arguments are checked first, and an error has done nothing, but for a loop that goes on
 * too long.
 */
qd_status qd_launch(const qd_kernel *kernel,
                    const qd_stream *stream,
                    const qd_arg *arguments,
                    size_t count,
                    const qd_launch_options *options);

/**
 * Makes so many bytes of page-locked memory, which are 0.
 */
qd_status qd_pinned_new(const qd_device *device, size_t bytes, qd_pinned **pinned);

/**
 * Frees page-locked memory, once no copy uses it any more: it does not wait for that.
 */
qd_status qd_pinned_free(qd_pinned *pinned);

/**
 * Where the memory is, aligned for any element, and how much. It stays there until it is freed.
 */
qd_status qd_pinned_data(const qd_pinned *pinned, void **data, size_t *bytes);

/**
 * As qd_buffer_read(), but asynchronous: the memory begins with the buffer's elements after the event that is given,
 * and must not be used before it.
 */
qd_status qd_buffer_read_async(const qd_buffer *buffer,
                               const qd_stream *stream,
                               const qd_pinned *to,
                               qd_event **done);

/**
 * As qd_buffer_write(), but asynchronous: the first bytes of the memory, as many as the buffer has, have been read
 * after the event that is given, and must not be written before it.
 */
qd_status qd_buffer_write_async(const qd_buffer *buffer,
                                const qd_stream *stream,
                                const qd_pinned *from,
                                qd_event **done);

/**
 * Makes a profiler that is attached to no stream yet.
 */
qd_status qd_profiler_new(const qd_device *device, uint32_t detail, qd_profiler **profiler);

/**
 * Frees a profiler, and detaches it.
 */
qd_status qd_profiler_free(qd_profiler *profiler);

/**
 * Times later work of a stream, until qd_profiler_detach(). Captured launches are not timed.
 */
qd_status qd_profiler_attach(const qd_profiler *profiler, const qd_stream *stream);

/**
 * Times no later work. What has been timed is not lost.
 */
qd_status qd_profiler_detach(const qd_profiler *profiler);

/**
 * Calls `each` with all that has ended and was not taken yet, in the order in which it began, and with `data`. Waits
 * for nothing: synchronize the stream first to have all.
 */
qd_status qd_profiler_take(const qd_profiler *profiler,
                           void (*each)(const qd_span *span, void *data),
                           void *data);

/**
 * Begins a recording for a device.
 */
qd_status qd_recording_new(const qd_device *device, qd_recording **recording);

/**
 * Frees a recording. A graph that was made of it is not affected.
 */
qd_status qd_recording_free(qd_recording *recording);

/**
 * Makes a slot: an argument that is bound before the graph is launched, and may be bound again. Its kind is that of
 * an argument of a kernel, by name. `slot` gets its number, which qd_slot() takes.
 */
qd_status qd_recording_slot(const qd_recording *recording,
                            const qd_kernel *kernel,
                            const char *argument,
                            uint64_t *slot);

/**
 * Adds a launch. Steps that use the same memory run in the order in which they were added; others are concurrent.
 * The graph makes scratch that is left out. Tensors are refused: import them as buffers.
 */
qd_status qd_recording_launch(const qd_recording *recording,
                              const qd_kernel *kernel,
                              const qd_arg *arguments,
                              size_t count);

/**
 * Adds a copy of a buffer to another of the same type and size; either may be a slot.
 */
qd_status qd_recording_copy(const qd_recording *recording, const qd_arg *from, const qd_arg *to);

/**
 * Makes a graph of a recording, to which nothing can be added from then on. The handle of the recording is still to
 * be freed.
 */
qd_status qd_recording_finish(const qd_recording *recording,
                              qd_graph **graph);

/**
 * Frees a graph. Launches of it go on.
 */
qd_status qd_graph_free(qd_graph *graph);

/**
 * Binds a slot for later launches: to a buffer or a value of the slot's kind.
 */
qd_status qd_graph_bind(const qd_graph *graph, uint64_t slot, const qd_arg *to);

/**
 * Puts a graph onto a stream, after all uses of the same buffers and after its last launch; if its owner is capturing
 * the stream, into that graph. QD_ERROR_RECORDING if a slot is not bound.
 */
qd_status qd_graph_launch(const qd_graph *graph,
                          const qd_stream *stream);

/**
 * Makes a session without files, for this machine and environment. `store` may be null; otherwise what is compiled
 * is looked for there, and kept there.
 */
qd_status qd_session_new(const qd_store *store,
                         qd_session **session);

/**
 * Frees a session.
 */
qd_status qd_session_free(qd_session *session);

/**
 * Adds a file to a session: its name in diagnostics, and its text of `length` bytes. `file` gets its number, which is
 * the session's own.
 */
qd_status qd_session_add(const qd_session *session,
                         const char *name,
                         const char *source,
                         size_t length,
                         uint64_t *file);

/**
 * Edits a file of a session: all of its text. Waits until other threads have stopped compiling, which get
 * QD_ERROR_CANCELLED.
 */
qd_status qd_session_edit(const qd_session *session,
                          uint64_t file,
                          const char *source,
                          size_t length);

/**
 * Compiles a file of a session for targets, at least one: what an edit did not reach is not compiled again. The
 * artifact and the diagnostics are as those of qd_compile(). QD_ERROR_CANCELLED if another thread edits meanwhile.
 */
qd_status qd_session_compile(const qd_session *session,
                             uint64_t file,
                             const char *const *targets,
                             size_t target_count,
                             qd_artifact **artifact,
                             qd_diagnostics **diagnostics);

/**
 * Calls `ran` with each query that ran since this was last called: what it was ("compiled", "found", "failed" and
 * others), of what ("k for cpu"), and how long it took in nanoseconds; and `data`. The texts are valid until it
 * returns.
 */
qd_status qd_session_log(const qd_session *session,
                         void (*ran)(const char *query,
                                     const char *of,
                                     uint64_t nanoseconds,
                                     void *data),
                         void *data);

/**
 * Why the last failing call of this thread failed. It is empty if none has failed, never null, and valid until the
 * thread's next failing call or its end.
 */
const char *qd_error_message(void);

/**
 * The name of a status, as in "QD_OK"; "unknown" of a number that is none.
 */
const char *qd_status_name(uint32_t status);

/**
 * Opens the store in a folder, which is made when something is kept, with at most so many bytes; 0: 2 GiB.
 */
qd_status qd_store_open(const char *folder,
                        uint64_t limit_bytes,
                        qd_store **store);

/**
 * Opens the store that the environment names: QD_CACHE_DIR, QD_CACHE_SIZE, QD_CACHE_REMOTE. It is null, and that is
 * no error, if QD_CACHE_DIR is empty. What is malformed there is said by qd_store_troubles().
 */
qd_status qd_store_of_environment(qd_store **store);

/**
 * Frees a handle of a store. Sessions keep it.
 */
qd_status qd_store_free(qd_store *store);

/**
 * How often a store was asked.
 */
qd_status qd_store_count(const qd_store *store, qd_store_counts *counts);

/**
 * Calls `trouble` with each thing that went wrong with a store since this was last called, and `data`. None of it
 * failed a compilation. What it gets is valid until it returns.
 */
qd_status qd_store_troubles(const qd_store *store,
                            void (*trouble)(const char *message, void *data),
                            void *data);

/**
 * Makes a stream.
 */
qd_status qd_stream_new(const qd_device *device, uint32_t priority, qd_stream **stream);

/**
 * Wraps a stream of the caller's, by its driver's handle: a CUstream or cudaStream_t on NVIDIA's devices, any on the
 * cpu. It has to live as long as the handle, and memory that was used on it. While its owner captures it, launches
 * become part of the owner's graph; a call that cannot is QD_ERROR_CAPTURE and leaves the capture as it was. Wrap a
 * stream once only: what is prepared for launches belongs to the wrapper.
 */
qd_status qd_stream_wrap(const qd_device *device,
                         void *raw,
                         qd_stream **stream);

/**
 * As qd_stream_wrap(). `release` is called, with `data`, once the library needs the caller's stream no more; at once
 * if it cannot be wrapped.
 */
qd_status qd_stream_wrap_kept(const qd_device *device,
                              void *raw,
                              qd_release release,
                              void *data,
                              qd_stream **stream);

/**
 * Frees a handle of a stream. Its work goes on.
 */
qd_status qd_stream_free(qd_stream *stream);

/**
 * Waits until all work of a stream has been done. An error of that work is this call's.
 */
qd_status qd_stream_synchronize(const qd_stream *stream);

/**
 * Has later work of a stream wait for an event of the same device. Returns at once.
 */
qd_status qd_stream_wait(const qd_stream *stream, const qd_event *event);

/**
 * Whether a stream's owner is capturing it now.
 */
qd_status qd_stream_is_captured(const qd_stream *stream, bool *is_captured);

/**
 * The library's version, as in "0.1.0".
 */
const char *qd_version(void);

/**
 * Whether a program fits the library, by the version and the hash of the header that it was compiled with:
 * qd_check_header() passes those. A program without the header passes 0 for the hash, and only the version is
 * compared. QD_ERROR_VERSION if they differ; nothing else of the library should be called then.
 */
qd_status qd_check(uint32_t api_version,
                   uint64_t header_hash);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* QD_H */

#ifndef QD_H_INLINE
#define QD_H_INLINE
/** Whether the library is the one that this header belongs to. Call it first. */
static inline qd_status qd_check_header(void) { return qd_check(QD_API_VERSION, QD_HEADER_HASH); }

/** An argument that is a buffer. */
static inline qd_arg qd_array(const qd_buffer *buffer) {
  qd_arg arg = {QD_ARG_BUFFER, 0, buffer, 0};
  return arg;
}

/** An argument that is a DLTensor of DLPack, used where it is. */
static inline qd_arg qd_tensor(const void *tensor) {
  qd_arg arg = {QD_ARG_TENSOR, 0, tensor, 0};
  return arg;
}

/** An argument that is an array of this shape without memory: qd_kernel_minimum() takes it. */
static inline qd_arg qd_shape(const uint64_t *extents, size_t rank) {
  qd_arg arg = {QD_ARG_SHAPE, 0, extents, rank};
  return arg;
}

/** An argument that is left out: scratch, which the launch then makes. */
static inline qd_arg qd_missing(void) {
  qd_arg arg = {QD_ARG_MISSING, 0, NULL, 0};
  return arg;
}

/** An argument that is bound later: see qd_recording_slot(). */
static inline qd_arg qd_slot(uint64_t slot) {
  qd_arg arg = {QD_ARG_SLOT, 0, NULL, slot};
  return arg;
}

/** An argument that is a value: its type, and its bits, zero-extended. */
static inline qd_arg qd_scalar(qd_dtype dtype, uint64_t bits) {
  qd_arg arg = {QD_ARG_SCALAR, dtype, NULL, bits};
  return arg;
}

/** An argument that is an i32. */
static inline qd_arg qd_i32(int32_t value) { return qd_scalar(QD_I32, (uint32_t)value); }

/** An argument that is an i64. */
static inline qd_arg qd_i64(int64_t value) { return qd_scalar(QD_I64, (uint64_t)value); }

/** An argument that is an f32. */
static inline qd_arg qd_f32(float value) {
  union { float value; uint32_t bits; } both;
  both.value = value;
  return qd_scalar(QD_F32, both.bits);
}

/** An argument that is an f64. */
static inline qd_arg qd_f64(double value) {
  union { double value; uint64_t bits; } both;
  both.value = value;
  return qd_scalar(QD_F64, both.bits);
}

#endif /* QD_H_INLINE */
