/* Buffers: views, copies, the caller's memory, DLPack, an allocator of the caller's. */
#include "check.h"

/* As dlpack.h has them. */
typedef struct { int32_t kind, number; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } Type;
typedef struct {
  void *data;
  Device device;
  int32_t rank;
  Type type;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;
typedef struct Managed {
  struct { uint32_t major, minor; } version;
  void *context;
  void (*deleter)(struct Managed *);
  uint64_t flags;
  Tensor tensor;
} Managed;
typedef struct Legacy {
  Tensor tensor;
  void *context;
  void (*deleter)(struct Legacy *);
} Legacy;

static int released, deleted, allocated, freed;

static void release(void *data) { released += *(int *)data; }
static void delete_versioned(Managed *managed) { (void)managed; ++deleted; }

static uint64_t allocate(uint64_t bytes, uint64_t stream, void *data) {
  (void)stream;
  ++*(int *)data;
  return (uint64_t)(uintptr_t)aligned_alloc(256, (size_t)((bytes + 255) / 256 * 256));
}

static void give_back(uint64_t address, uint64_t bytes, uint64_t stream, void *data) {
  (void)bytes, (void)stream, (void)data;
  ++freed;
  free((void *)(uintptr_t)address);
}

static void views(Machine on) {
  int32_t values[6] = {1, 2, 3, 4, 5, 6}, read[6];
  qd_buffer *all = buffer_of(on.stream, QD_I32, values, 6), *table, *row, *copy, *bytes;
  uint64_t shape[2] = {2, 3}, long_shape[1] = {24};
  QD(qd_buffer_cast(all, QD_U32, shape, 2, &table));
  qd_buffer_info info;
  QD(qd_buffer_describe(table, &info));
  CHECK(info.dtype == QD_U32 && info.rank == 2 && info.shape[1] == 3 && info.bytes == 24);
  CHECK(!info.read_only && (info.address != 0 || !is_cpu()));
  QD(qd_buffer_rows(table, 1, 2, &row));
  QD(qd_buffer_read(row, on.stream, read, 12));
  CHECK(memcmp(read, values + 3, 12) == 0);
  QD(qd_buffer_cast(all, QD_U8, long_shape, 1, &bytes));
  QD(qd_buffer_zeros(on.stream, QD_U8, long_shape, 1, &copy));
  QD(qd_buffer_read(copy, on.stream, read, 24));
  CHECK(read[0] == 0 && read[5] == 0);
  QD(qd_buffer_copy(bytes, on.stream, copy));
  QD(qd_buffer_read(copy, on.stream, read, 24));
  CHECK(memcmp(read, values, 24) == 0);
  FAILS(QD_ERROR_VIEW, "has 24 bytes, not 20", qd_buffer_read(copy, on.stream, read, 20));
  FAILS(QD_ERROR_HANDLE, "null", qd_buffer_read(copy, on.stream, NULL, 24));
  FAILS(QD_ERROR_VIEW, "share memory", qd_buffer_copy(bytes, on.stream, bytes));
  qd_buffer *none;
  FAILS(QD_ERROR_VIEW, "no rows", qd_buffer_rows(table, 1, 3, &none));
  FAILS(QD_ERROR_VALUE, "no type", qd_buffer_new(on.stream, 99, shape, 2, &none));
  FAILS(QD_ERROR_VALUE, "no type", qd_buffer_new(on.stream, 0, shape, 2, &none));
  uint64_t vast[2] = {1ull << 62, 1ull << 62};
  FAILS(QD_ERROR_OUT_OF_MEMORY, "not enough memory", qd_buffer_new(on.stream, QD_F64, vast, 2, &none));
  FAILS(QD_ERROR_HANDLE, "the extents", qd_buffer_new(on.stream, QD_F64, NULL, 2, &none));
  qd_buffer *views[] = {all, table, row, copy, bytes};
  for (int i = 0; i < 5; ++i) QD(qd_buffer_free(views[i]));
}

static void pinned(Machine on) {
  uint64_t length[1] = {1000};
  qd_pinned *host, *small, *none;
  qd_buffer *buffer;
  qd_event *done;
  void *data;
  size_t bytes;
  QD(qd_pinned_new(on.device, 4000, &host));
  QD(qd_pinned_data(host, &data, &bytes));
  CHECK(bytes == 4000 && ((int32_t *)data)[999] == 0);
  for (int32_t i = 0; i < 1000; ++i) ((int32_t *)data)[i] = 3 * i;
  QD(qd_buffer_new(on.stream, QD_I32, length, 1, &buffer));
  QD(qd_buffer_write_async(buffer, on.stream, host, &done));
  QD(qd_event_wait(done));
  QD(qd_event_free(done));
  memset(data, 0, 4000);
  QD(qd_buffer_read_async(buffer, on.stream, host, &done));
  QD(qd_event_wait(done));
  QD(qd_event_free(done));
  for (int32_t i = 0; i < 1000; ++i) CHECK(((int32_t *)data)[i] == 3 * i);

  /* What fails leaves the memory where it is. */
  QD(qd_pinned_new(on.device, 3999, &small));
  FAILS(QD_ERROR_VIEW, "do not fit", qd_buffer_read_async(buffer, on.stream, small, &done));
  CHECK(done == NULL);
  QD(qd_pinned_data(small, &data, &bytes));
  CHECK(bytes == 3999 && ((char *)data)[3998] == 0);
  FAILS(QD_ERROR_HANDLE, "pinned memory is null", qd_buffer_write_async(buffer, on.stream, NULL, &done));
  FAILS(QD_ERROR_HANDLE, "device is null", qd_pinned_new(NULL, 1, &none));
  CHECK(none == NULL);

  /* Freed while a copy may use it. */
  QD(qd_buffer_read_async(buffer, on.stream, host, &done));
  QD(qd_pinned_free(host));
  QD(qd_event_free(done));
  QD(qd_pinned_free(small));
  QD(qd_buffer_free(buffer));
}

static void foreign(Machine on) {
  int one = 1;
  float values[4] = {1, 2, 3, 4};
  uint64_t shape[1] = {4};
  int64_t strides[1] = {2};
  qd_foreign memory = {(uint64_t)(uintptr_t)values, QD_F32, false, 1, shape, NULL, QD_READY_NOW, NULL, release, &one};
  qd_buffer *buffer, *none;
  QD(qd_buffer_import(on.stream, &memory, &buffer));
  qd_kernel *add;
  QD(qd_kernel_get(on.executable, "add", &add));
  qd_arg arguments[2] = {qd_array(buffer), qd_f32(1)};
  QD(qd_launch(add, on.stream, arguments, 2, NULL));
  QD(qd_stream_synchronize(on.stream));
  CHECK(values[3] == 5 && released == 0);
  QD(qd_buffer_free(buffer));
  QD(qd_stream_synchronize(on.stream));
  CHECK(released == 1);

  /* Released as well where it is refused. */
  memory.strides = strides;
  FAILS(QD_ERROR_FOREIGN, "not contiguous", qd_buffer_import(on.stream, &memory, &none));
  CHECK(released == 2 && none == NULL);
  memory.strides = NULL;
  memory.ready = 7;
  FAILS(QD_ERROR_VALUE, "7", qd_buffer_import(on.stream, &memory, &none));
  memory.ready = QD_READY_AFTER;
  FAILS(QD_ERROR_HANDLE, "event is null", qd_buffer_import(on.stream, &memory, &none));
  FAILS(QD_ERROR_HANDLE, "description is null", qd_buffer_import(on.stream, NULL, &none));
  CHECK(released == 4);

  /* After an event, and read-only. */
  qd_event *event;
  QD(qd_event_record(on.stream, &event));
  memory.after = event;
  memory.read_only = true;
  QD(qd_buffer_import(on.stream, &memory, &buffer));
  QD(qd_event_free(event));
  arguments[0] = qd_array(buffer);
  FAILS(QD_ERROR_ARGUMENT, "read-only", qd_launch(add, on.stream, arguments, 2, NULL));
  FAILS(QD_ERROR_VIEW, "read-only", qd_buffer_write(buffer, on.stream, values, sizeof values));
  QD(qd_buffer_free(buffer));

  /* A stream of the caller's: any on the cpu. */
  qd_stream *wrapped;
  released = 0;
  QD(qd_stream_wrap_kept(on.device, NULL, release, &one, &wrapped));
  QD(qd_stream_synchronize(wrapped));
  QD(qd_stream_free(wrapped));
  QD(qd_stream_synchronize(on.stream));
  CHECK(released == 1);
  QD(qd_kernel_free(add));
}

static void dlpack(Machine on) {
  float values[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  Managed given = {{1, 0}, NULL, delete_versioned, 0, {values, {1, 0}, 1, {2, 32, 1}, shape, NULL, 0}};
  qd_buffer *buffer, *none;
  QD(qd_buffer_from_dlpack(on.stream, QD_DLPACK_VERSIONED, &given, QD_READY_NOW, NULL, &buffer));
  CHECK(deleted == 0);

  /* Given on, and taken back. */
  void *tensor;
  QD(qd_buffer_to_dlpack(buffer, on.stream, QD_DLPACK_LEGACY, &tensor));
  Legacy *legacy = tensor;
  CHECK(legacy->tensor.data == values && legacy->tensor.rank == 1 && legacy->tensor.shape[0] == 3);
  qd_buffer *again;
  QD(qd_buffer_from_dlpack(on.stream, QD_DLPACK_LEGACY, tensor, QD_READY_IN_ORDER, NULL, &again));
  float read[3];
  QD(qd_buffer_read(again, on.stream, read, sizeof read));
  CHECK(read[2] == 3);
  QD(qd_buffer_free(again));
  QD(qd_buffer_to_dlpack(buffer, on.stream, QD_DLPACK_VERSIONED, &tensor));
  Managed *managed = tensor;
  CHECK(managed->version.major == 1 && managed->tensor.type.bits == 32);
  managed->deleter(managed);
  QD(qd_buffer_free(buffer));
  QD(qd_stream_synchronize(on.stream));
  CHECK(deleted == 1);

  /* What is refused is deleted, too. */
  given.version.major = 2;
  FAILS(QD_ERROR_FOREIGN, "version 2",
        qd_buffer_from_dlpack(on.stream, QD_DLPACK_VERSIONED, &given, QD_READY_NOW, NULL, &none));
  CHECK(deleted == 2 && none == NULL);
  given.version.major = 1;
  given.tensor.device.kind = 2;
  FAILS(QD_ERROR_WRONG_DEVICE, "cuda:0",
        qd_buffer_from_dlpack(on.stream, QD_DLPACK_VERSIONED, &given, QD_READY_NOW, NULL, &none));
  CHECK(deleted == 3);
  FAILS(QD_ERROR_VALUE, "form", qd_buffer_from_dlpack(on.stream, 5, &given, QD_READY_NOW, NULL, &none));
  FAILS(QD_ERROR_FOREIGN, "taken already",
        qd_buffer_from_dlpack(on.stream, QD_DLPACK_VERSIONED, NULL, QD_READY_NOW, NULL, &none));

  /* Borrowed for a launch. */
  qd_kernel *add;
  QD(qd_kernel_get(on.executable, "add", &add));
  Tensor borrowed = {values, {1, 0}, 1, {2, 32, 1}, shape, NULL, 0};
  qd_arg arguments[2] = {qd_tensor(&borrowed), qd_f32(10)};
  QD(qd_launch(add, on.stream, arguments, 2, NULL));
  QD(qd_stream_synchronize(on.stream));
  CHECK(values[0] == 11);
  borrowed.type.code = 5;
  FAILS(QD_ERROR_FOREIGN, "argument 0", qd_launch(add, on.stream, arguments, 2, NULL));
  arguments[0] = qd_tensor(NULL);
  FAILS(QD_ERROR_HANDLE, "tensor is null", qd_launch(add, on.stream, arguments, 2, NULL));
  QD(qd_kernel_free(add));
}

static void allocators(void) {
  qd_device_options options = {0, allocate, give_back, &allocated};
  qd_device *device;
  qd_stream *stream;
  qd_buffer *buffer;
  uint64_t shape[1] = {1000};
  QD(qd_device_open("cpu", &options, &device));
  QD(qd_stream_new(device, QD_PRIORITY_HIGH, &stream));
  QD(qd_buffer_new(stream, QD_F64, shape, 1, &buffer));
  CHECK(allocated == 1);
  qd_memory_stats stats;
  QD(qd_device_memory(device, &stats));
  CHECK(stats.live == 8000 && stats.allocations == 1);
  QD(qd_buffer_free(buffer));
  QD(qd_stream_synchronize(stream));
  QD(qd_stream_free(stream));
  QD(qd_device_free(device));
  CHECK(freed == allocated);
  options.release = NULL;
  FAILS(QD_ERROR_HANDLE, "both functions", qd_device_open("cpu", &options, &device));
}

int main(void) {
  Machine on = machine(ADD);
  views(on);
  pinned(on);
  /* These use memory of the host as the device's. */
  if (is_cpu()) {
    foreign(on);
    dlpack(on);
  }
  close_machine(on);
  allocators();
  puts("passed");
  return 0;
}
