/* Profiles: calls, their steps and copies; an assertion that does not hold. */
#include "check.h"

static const char POSITIVE[] =
    "qd.grid.kernel @positive(%x: memref<?xi32> {qd.name = \"x\"}) {\n"
    "  %zero = arith.constant 0 : index\n"
    "  %none = arith.constant 0 : i32\n"
    "  %n = memref.dim %x, %zero : memref<?xi32>\n"
    "  qd.grid.for_each %i to %n {\n"
    "    %a = memref.load %x[%i] : memref<?xi32>\n"
    "    %is = arith.cmpi sgt, %a, %none : i32\n"
    "    cf.assert %is, \"it is positive\"\n"
    "  }\n"
    "}\n";

typedef struct {
  int calls, steps, uploads, downloads;
  uint64_t start, bytes;
} Seen;

static void see(const qd_span *span, void *data) {
  Seen *seen = data;
  CHECK(span->start >= seen->start && span->duration < 60ull * 1000 * 1000 * 1000);
  seen->start = span->start;
  switch (span->kind) {
    case QD_SPAN_CALL:
      ++seen->calls;
      CHECK(strcmp(span->name, "sum") == 0);
      break;
    case QD_SPAN_STEP:
      ++seen->steps;
      CHECK(span->name != NULL);
      break;
    case QD_SPAN_UPLOAD:
      ++seen->uploads;
      seen->bytes += span->bytes;
      break;
    case QD_SPAN_DOWNLOAD:
      ++seen->downloads;
      CHECK(span->bytes == 4);
      break;
  }
}

static void profiles(uint32_t detail) {
  Machine on = machine(SUMS);
  qd_profiler *profiler;
  QD(qd_profiler_new(on.device, detail, &profiler));
  QD(qd_profiler_attach(profiler, on.stream));
  int32_t values[100], n = 100, sum;
  for (int i = 0; i < 100; ++i) values[i] = i;
  uint64_t one[1] = {1};
  qd_buffer *x = buffer_of(on.stream, QD_I32, values, 100), *out, *cell, *count;
  count = buffer_of(on.stream, QD_I32, &n, 1);
  QD(qd_buffer_cast(count, QD_I32, NULL, 0, &cell));
  QD(qd_buffer_new(on.stream, QD_I32, one, 1, &out));
  qd_kernel *kernel;
  QD(qd_kernel_get(on.executable, "sum", &kernel));
  qd_arg arguments[4] = {qd_array(x), qd_array(out), qd_missing(), qd_array(cell)};
  for (int i = 0; i < 3; ++i) QD(qd_launch(kernel, on.stream, arguments, 4, NULL));
  QD(qd_buffer_read(out, on.stream, &sum, 4));
  CHECK(sum == 4950);
  QD(qd_stream_synchronize(on.stream));
  Seen seen = {0};
  QD(qd_profiler_take(profiler, see, &seen));
  CHECK(seen.calls == 3 && seen.downloads == 1);
  CHECK(seen.uploads == 2 && seen.bytes == 404);
  CHECK((seen.steps >= 3) == (detail == QD_DETAIL_STEPS));

  /* Nothing of what follows. */
  QD(qd_profiler_detach(profiler));
  QD(qd_launch(kernel, on.stream, arguments, 4, NULL));
  QD(qd_stream_synchronize(on.stream));
  Seen none = {0};
  QD(qd_profiler_take(profiler, see, &none));
  CHECK(none.calls == 0 && none.steps == 0);
  FAILS(QD_ERROR_HANDLE, "null", qd_profiler_take(profiler, NULL, NULL));
  FAILS(QD_ERROR_HANDLE, "stream is null", qd_profiler_attach(profiler, NULL));
  QD(qd_profiler_free(profiler));
  FAILS(QD_ERROR_VALUE, "no detail", qd_profiler_new(on.device, 9, &profiler));
  CHECK(profiler == NULL);
  qd_buffer *all[] = {x, out, cell, count};
  for (int i = 0; i < 4; ++i) QD(qd_buffer_free(all[i]));
  QD(qd_kernel_free(kernel));
  close_machine(on);
}

static void assertions(void) {
  Machine on = machine(POSITIVE);
  qd_kernel *kernel;
  QD(qd_kernel_get(on.executable, "positive", &kernel));
  int32_t values[3] = {1, 2, -3};
  qd_buffer *x = buffer_of(on.stream, QD_I32, values, 3);
  qd_arg arguments[1] = {qd_array(x)};
  QD(qd_launch(kernel, on.stream, arguments, 1, NULL));
  FAILS(QD_ERROR_ASSERTION, "it is positive", qd_stream_synchronize(on.stream));
  QD(qd_buffer_free(x));
  QD(qd_kernel_free(kernel));
  close_machine(on);
}

int main(void) {
  profiles(QD_DETAIL_CALLS);
  profiles(QD_DETAIL_STEPS);
  assertions();
  puts("passed");
  return 0;
}
