/* What the test programs share: a failed check ends the program and says where. */
#ifndef CHECK_H
#define CHECK_H

#include "qd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, \
              qd_error_message());                                                \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

/* The call succeeds. */
#define QD(call)                                                                       \
  do {                                                                                 \
    qd_status ended = (call);                                                          \
    if (ended != QD_OK) {                                                              \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,                \
              qd_status_name(ended), qd_error_message());                              \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

/* The call fails with this status, and a message that has this text. */
#define FAILS(status, text, call)                                                      \
  do {                                                                                 \
    qd_status ended = (call);                                                          \
    if (ended != (status) || strstr(qd_error_message(), (text)) == NULL) {             \
      fprintf(stderr, "%s:%d: %s: %s, not %s with '%s': %s\n", __FILE__, __LINE__,     \
              #call, qd_status_name(ended), qd_status_name(status), (text),            \
              qd_error_message());                                                     \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

static const char ADD[] =
    "qd.grid.kernel @add(%x: memref<?xf32> {qd.name = \"x\"}, %value: f32 {qd.name = \"value\"}) {\n"
    "  %zero = arith.constant 0 : index\n"
    "  %n = memref.dim %x, %zero : memref<?xf32>\n"
    "  qd.grid.for_each %i to %n {\n"
    "    %a = memref.load %x[%i] : memref<?xf32>\n"
    "    %b = arith.addf %a, %value : f32\n"
    "    memref.store %b, %x[%i] : memref<?xf32>\n"
    "  }\n"
    "}\n";

static const char SUMS[] =
    "qd.grid.kernel @sum(%x: memref<?xi32> {qd.name = \"x\"}, %out: memref<1xi32> {qd.name = \"out\"},\n"
    "                    %scratch: memref<?xi32> {qd.name = \"scratch\", qd.scratch}, %n: memref<i32> {qd.name = \"n\"}) {\n"
    "  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)\n"
    "    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3\n"
    "}\n"
    "qd.grid.kernel @levels(%x: memref<?xi32> {qd.name = \"x\"}, %out: memref<1xi32> {qd.name = \"out\"},\n"
    "                    %scratch: memref<?xi32> {qd.name = \"scratch\", qd.scratch}, %n: memref<i32> {qd.name = \"n\"}) {\n"
    "  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)\n"
    "    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = \"hierarchical\"\n"
    "}\n";

/* The device of the test. */
static inline const char *device_id(void) {
  const char *named = getenv("QD_DEVICE");
  return named == NULL ? "cpu" : named;
}

static inline bool is_cpu(void) { return strcmp(device_id(), "cpu") == 0; }

/* What a text is compiled to. */
static inline qd_artifact *compiled(const char *text, const char *target) {
  qd_request *request;
  qd_artifact *artifact;
  QD(qd_request_new(&request));
  QD(qd_request_text(request, "test.mlir", text, strlen(text)));
  QD(qd_request_target(request, target));
  QD(qd_compile(request, NULL, &artifact, NULL));
  QD(qd_request_free(request));
  return artifact;
}

/* A device, a stream, and kernels on them. */
typedef struct {
  qd_device *device;
  qd_stream *stream;
  qd_executable *executable;
} Machine;

static inline Machine machine(const char *text) {
  Machine made;
  qd_device_info info;
  QD(qd_device_open(device_id(), NULL, &made.device));
  QD(qd_device_describe(made.device, &info));
  qd_artifact *artifact = compiled(text, info.target);
  QD(qd_stream_new(made.device, QD_PRIORITY_NORMAL, &made.stream));
  QD(qd_load(made.device, artifact, &made.executable));
  QD(qd_artifact_free(artifact));
  return made;
}

static inline void close_machine(Machine made) {
  QD(qd_executable_free(made.executable));
  QD(qd_stream_free(made.stream));
  QD(qd_device_free(made.device));
}

/* A buffer of one dimension that holds these elements of 4 bytes. */
static inline qd_buffer *buffer_of(qd_stream *stream, qd_dtype dtype, const void *values, uint64_t length) {
  qd_buffer *buffer;
  QD(qd_buffer_new(stream, dtype, &length, 1, &buffer));
  QD(qd_buffer_write(buffer, stream, values, (size_t)length * 4));
  return buffer;
}

#endif
