/* The way through all layers: a text is compiled, loaded, launched; artifacts, diagnostics, devices, events. */
#include "check.h"

static void found(const qd_device_info *info, void *data) {
  if (strcmp(info->id, "cpu") == 0 && strncmp(info->target, "cpu", 3) == 0 && info->threads > 0)
    ++*(int *)data;
}

static void versions(void) {
  QD(qd_check_header());
  QD(qd_check(QD_API_VERSION, 0));
  FAILS(QD_ERROR_VERSION, "version 999", qd_check(999, 0));
  FAILS(QD_ERROR_VERSION, "another qd.h", qd_check(QD_API_VERSION, QD_HEADER_HASH + 1));
  CHECK(strchr(qd_version(), '.') != NULL);
  CHECK(strcmp(qd_status_name(QD_ERROR_LOST), "QD_ERROR_LOST") == 0);
  CHECK(strcmp(qd_status_name(12345), "unknown") == 0);
}

static void devices(void) {
  int count = 0;
  QD(qd_devices(found, NULL, &count));
  CHECK(count == 1);
  qd_device *device;
  qd_device_options two = {2, NULL, NULL, NULL};
  QD(qd_device_open("cpu", &two, &device));
  qd_device_info info;
  QD(qd_device_describe(device, &info));
  CHECK(strcmp(info.id, "cpu") == 0 && strstr(info.driver, "2") != NULL);
  char target[8];
  size_t length;
  QD(qd_device_resolve(device, "cpu,wave=8", target, sizeof target, &length));
  CHECK(length == 10 && strcmp(target, "cpu,wav") == 0);
  QD(qd_device_trim(device, 0));
  QD(qd_device_free(device));
  FAILS(QD_ERROR_DEVICE, "abacus", qd_device_open("abacus", NULL, &device));
  CHECK(device == NULL);
  FAILS(QD_ERROR_VALUE, "not UTF-8", qd_device_open("\xff", NULL, &device));
}

static void printed(const char *text, void *data) { strcat(data, text); }

static void forgotten(void *data) { strcat(data, "."); }

static void prints(void) {
  Machine on = machine("qd.grid.kernel @k() {\n"
                       "  %n = arith.constant 1 : index\n"
                       "  qd.grid.for_each \"one\" %i to %n { gpu.printf \"here is %d\", %i : index }\n"
                       "}");
  qd_kernel *kernel;
  char said[64] = "";
  QD(qd_kernel_get(on.executable, "k", &kernel));
  QD(qd_device_on_print(on.device, printed, forgotten, said));
  QD(qd_launch(kernel, on.stream, NULL, 0, NULL));
  QD(qd_stream_synchronize(on.stream));
  CHECK(strcmp(said, "here is 0") == 0);
  QD(qd_device_on_print(on.device, NULL, NULL, NULL));
  CHECK(strcmp(said, "here is 0.") == 0);
  QD(qd_kernel_free(kernel));
  close_machine(on);
}

/* What the host computes for a launch: the status says what is wrong, and the message where. */
static void steps(void) {
  Machine on = machine("qd.grid.kernel @k(%x: memref<?xi32> {qd.name = \"x\"}, %n: index {qd.name = \"n\"}) {\n"
                       "  %zero = arith.constant 0 : index\n"
                       "  %six = arith.constant 6 : i32\n"
                       "  qd.grid.fill %x[%zero to %n] = %six : memref<?xi32>\n"
                       "}\n");
  int32_t values[2] = {0};
  qd_buffer *x = buffer_of(on.stream, QD_I32, values, 2);
  qd_kernel *kernel;
  QD(qd_kernel_get(on.executable, "k", &kernel));
  qd_arg arguments[2] = {qd_array(x), qd_i64(3)};
  FAILS(QD_ERROR_ARGUMENT, "has 8, at test.mlir:4:3", qd_launch(kernel, on.stream, arguments, 2, NULL));
  arguments[1] = qd_i64(-3);
  FAILS(QD_ERROR_ARGUMENT, "negative upper bound, -3, at test.mlir:4:3",
        qd_launch(kernel, on.stream, arguments, 2, NULL));
  QD(qd_kernel_free(kernel));
  QD(qd_buffer_free(x));
  close_machine(on);
}

static void launches(void) {
  Machine on = machine(ADD);
  qd_kernel *add;
  QD(qd_kernel_get(on.executable, "add", &add));
  size_t count;
  const char *name;
  QD(qd_executable_kernel_count(on.executable, &count));
  QD(qd_executable_kernel_name(on.executable, 0, &name));
  CHECK(count == 1 && strcmp(name, "add") == 0);
  QD(qd_kernel_describe(add, &name, &count));
  CHECK(count == 2 && strcmp(name, "add") == 0);
  qd_parameter x, value;
  QD(qd_kernel_parameter(add, 0, &x));
  QD(qd_kernel_parameter(add, 1, &value));
  CHECK(strcmp(x.name, "x") == 0 && x.is_buffer && x.dtype == QD_F32 && x.rank == 1);
  CHECK(x.shape[0] == QD_ANY_EXTENT && x.access == QD_ACCESS_READ_WRITE && x.role == QD_ROLE_DATA);
  CHECK(strcmp(value.name, "value") == 0 && !value.is_buffer && value.access == QD_ACCESS_READ);
  FAILS(QD_ERROR_VALUE, "no argument 2", qd_kernel_parameter(add, 2, &x));

  float values[3] = {1, 2, 3};
  qd_buffer *buffer = buffer_of(on.stream, QD_F32, values, 3);
  qd_arg arguments[2] = {qd_array(buffer), qd_f32(0.5f)};
  qd_event *before, *after;
  QD(qd_event_record(on.stream, &before));
  QD(qd_kernel_load(add));
  QD(qd_kernel_prepare(add, on.stream, arguments, 2));
  QD(qd_launch(add, on.stream, arguments, 2, NULL));
  QD(qd_event_record(on.stream, &after));
  QD(qd_stream_wait(on.stream, before));
  QD(qd_event_wait(after));
  bool is_done;
  QD(qd_event_is_done(after, &is_done));
  CHECK(is_done);
  uint64_t nanoseconds;
  QD(qd_event_elapsed(before, after, &nanoseconds));
  CHECK(nanoseconds < 60ull * 1000 * 1000 * 1000);
  QD(qd_stream_synchronize(on.stream));
  bool is_captured;
  QD(qd_stream_is_captured(on.stream, &is_captured));
  CHECK(!is_captured);
  QD(qd_buffer_read(buffer, on.stream, values, sizeof values));
  CHECK(values[0] == 1.5f && values[1] == 2.5f && values[2] == 3.5f);

  FAILS(QD_ERROR_ARGUMENT, "takes 2 arguments", qd_launch(add, on.stream, arguments, 1, NULL));
  qd_arg swapped[2] = {arguments[1], arguments[0]};
  FAILS(QD_ERROR_ARGUMENT, "a scalar f32", qd_launch(add, on.stream, swapped, 2, NULL));
  qd_kernel *none = add;
  FAILS(QD_ERROR_NOT_FOUND, "no kernel 'sub'", qd_kernel_get(on.executable, "sub", &none));
  CHECK(none == NULL);

  QD(qd_event_free(before));
  QD(qd_event_free(after));
  QD(qd_buffer_free(buffer));
  /* A kernel outlives what it came of. */
  close_machine(on);
  QD(qd_kernel_free(add));
}

static void artifacts(const char *path) {
  qd_artifact *artifact = compiled(SUMS, "cpu"), *again, *copy;
  size_t targets, kernels, length;
  const char *name;
  QD(qd_artifact_counts(artifact, &targets, &kernels));
  CHECK(targets == 1 && kernels == 2);
  QD(qd_artifact_target(artifact, 0, &name));
  CHECK(strcmp(name, "cpu") == 0);
  QD(qd_artifact_kernel(artifact, 1, &name));
  CHECK(strcmp(name, "levels") == 0);
  FAILS(QD_ERROR_VALUE, "no kernel 2", qd_artifact_kernel(artifact, 2, &name));
  bool is_there;
  QD(qd_artifact_has_kernel(artifact, "sum", &is_there));
  CHECK(is_there);
  QD(qd_artifact_save(artifact, path));
  QD(qd_artifact_open(path, &again));
  const uint8_t *bytes, *others;
  QD(qd_artifact_bytes(artifact, &bytes, &length));
  QD(qd_artifact_from_bytes(bytes, length, &copy));
  size_t other_length;
  QD(qd_artifact_bytes(copy, &others, &other_length));
  CHECK(length == other_length && memcmp(bytes, others, length) == 0);
  QD(qd_artifact_free(copy));
  FAILS(QD_ERROR_ARTIFACT, "damaged", qd_artifact_from_bytes(bytes, length - 1, &copy));
  FAILS(QD_ERROR_ARTIFACT, "not a qd artifact", qd_artifact_from_bytes((const uint8_t *)"no", 2, &copy));
  FAILS(QD_ERROR_FILE, "/nowhere/a.qd", qd_artifact_open("/nowhere/a.qd", &copy));
  FAILS(QD_ERROR_FILE, "/nowhere/a.qd", qd_artifact_save(artifact, "/nowhere/a.qd"));
  CHECK(copy == NULL);
  QD(qd_artifact_free(again));
  QD(qd_artifact_free(artifact));
}

static void diagnostics(void) {
  static const char BAD[] = "qd.grid.kernel @k() {\n  nonsense\n}\n";
  qd_request *request;
  qd_artifact *artifact;
  qd_diagnostics *said;
  QD(qd_request_new(&request));
  QD(qd_request_text(request, "bad.mlir", BAD, sizeof BAD - 1));
  FAILS(QD_ERROR_COMPILE, "no target", qd_compile(request, NULL, &artifact, NULL));
  QD(qd_request_target(request, "cpu"));
  FAILS(QD_ERROR_COMPILE, "bad.mlir:2:", qd_compile(request, NULL, &artifact, &said));
  CHECK(artifact == NULL);
  size_t count;
  qd_diagnostic one;
  QD(qd_diagnostics_count(said, &count));
  QD(qd_diagnostics_get(said, 0, &one));
  CHECK(count == 1 && one.severity == QD_SEVERITY_ERROR && one.stage == QD_STAGE_PARSE);
  CHECK(strcmp(one.file, "bad.mlir") == 0 && one.line == 2 && one.column > 0);
  CHECK(strstr(one.text, "error: ") != NULL && strstr(one.message, "error: ") == NULL);
  FAILS(QD_ERROR_VALUE, "no diagnostic 1", qd_diagnostics_get(said, 1, &one));
  qd_note note;
  FAILS(QD_ERROR_VALUE, "no note", qd_diagnostics_note(said, 0, one.note_count, &note));
  QD(qd_diagnostics_free(said));

  /* Of a success, the warnings. */
  QD(qd_request_text(request, "empty.mlir", "", 0));
  QD(qd_compile(request, NULL, &artifact, &said));
  QD(qd_diagnostics_count(said, &count));
  QD(qd_diagnostics_get(said, 0, &one));
  CHECK(count == 1 && one.severity == QD_SEVERITY_WARNING && one.file == NULL);
  QD(qd_diagnostics_free(said));
  QD(qd_artifact_free(artifact));

  /* One kernel, another machine, bytecode that is none. */
  QD(qd_request_text(request, "sums.mlir", SUMS, sizeof SUMS - 1));
  QD(qd_request_kernel(request, "levels"));
  QD(qd_request_host(request, "x86_64-pc-linux-gnu", "x86-64", "+sse3"));
  QD(qd_request_validate_spirv(request, false));
  QD(qd_request_linker(request, "/nowhere/ld.lld"));
  QD(qd_compile(request, NULL, &artifact, NULL));
  size_t kernels;
  QD(qd_artifact_counts(artifact, NULL, &kernels));
  CHECK(kernels == 1);
  QD(qd_artifact_free(artifact));
  QD(qd_request_bytecode(request, (const uint8_t *)"ML\xefR", 4));
  FAILS(QD_ERROR_COMPILE, "", qd_compile(request, NULL, &artifact, NULL));
  FAILS(QD_ERROR_COMPILE, "no such file", qd_request_file(request, "/nowhere/k.mlir"));
  FAILS(QD_ERROR_VALUE, "no name", qd_request_target(request, ""));
  QD(qd_request_free(request));
}

int main(int count, char **words) {
  CHECK(count == 2);
  CHECK(strcmp(qd_error_message(), "") == 0);
  versions();
  devices();
  launches();
  steps();
  prints();
  artifacts(words[1]);
  diagnostics();
  puts("passed");
  return 0;
}
