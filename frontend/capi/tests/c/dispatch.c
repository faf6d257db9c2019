/* Dispatch: variants are measured, conditions and geometries are asked, winners are kept; what is malformed. */
#include "check.h"

static bool long_enough(const qd_given *arguments, size_t count, void *data) {
  CHECK(count == 4 && arguments[0].rank == 1);
  return arguments[0].shape[0] >= *(uint64_t *)data;
}

/* A variant that is a function: what it launches, and how often it was called. */
typedef struct {
  qd_kernel *kernel;
  int calls;
} Job;

static qd_status launch_it(const qd_stream *stream, const qd_arg *arguments, size_t count, void *data) {
  Job *job = data;
  ++job->calls;
  return qd_launch(job->kernel, stream, arguments, count, NULL);
}

static qd_status give_up(const qd_stream *stream, const qd_arg *arguments, size_t count, void *data) {
  (void)data;
  return qd_launch(NULL, stream, arguments, count, NULL);
}

static uint64_t magnitude(const qd_given *arguments, size_t count, void *data) {
  (void)data;
  CHECK(count == 4 && arguments[0].kind == QD_ARG_BUFFER && arguments[0].dtype == QD_I32);
  uint64_t length = arguments[0].shape[0], logarithm = 0;
  while (length >>= 1) ++logarithm;
  return logarithm;
}

static void once(Machine on, qd_dispatcher *sums, int32_t length) {
  int32_t *values = malloc((size_t)length * 4), read;
  for (int32_t i = 0; i < length; ++i) values[i] = 3;
  uint64_t one[1] = {1};
  qd_buffer *x = buffer_of(on.stream, QD_I32, values, (uint64_t)length), *out, *cell, *scratch;
  qd_buffer *count = buffer_of(on.stream, QD_I32, &length, 1);
  QD(qd_buffer_cast(count, QD_I32, NULL, 0, &cell));
  QD(qd_buffer_new(on.stream, QD_I32, one, 1, &out));
  qd_arg arguments[4] = {qd_array(x), qd_array(out), qd_missing(), qd_array(cell)};
  uint64_t rows;
  QD(qd_dispatcher_minimum(sums, "scratch", arguments, 4, &rows));
  QD(qd_buffer_new(on.stream, QD_I32, &rows, 1, &scratch));
  arguments[2] = qd_array(scratch);
  for (int i = 0; i < 8; ++i) {
    QD(qd_dispatcher_launch(sums, on.stream, arguments, 4, NULL));
    QD(qd_buffer_read(out, on.stream, &read, 4));
    CHECK(read == 3 * length);
  }
  size_t chosen;
  QD(qd_dispatcher_chosen(sums, arguments, 4, &chosen));
  CHECK(chosen < 2);
  qd_buffer *all[] = {x, out, cell, scratch, count};
  for (int i = 0; i < 5; ++i) QD(qd_buffer_free(all[i]));
  free(values);
}

int main(int count, char **words) {
  CHECK(count == 2);
  Machine on = machine(SUMS);
  qd_kernel *sum, *levels;
  QD(qd_kernel_get(on.executable, "sum", &sum));
  QD(qd_kernel_get(on.executable, "levels", &levels));
  uint64_t least = 64;
  qd_variant variants[2] = {{NULL, sum, NULL, NULL, NULL, NULL}, {"by levels", levels, NULL, NULL, long_enough, &least}};
  qd_policy twice = {1, 0, 2, 0, 0};
  qd_dispatcher *sums, *none;
  QD(qd_dispatcher_new(on.device, "sums", variants, 2, magnitude, NULL, &twice, &sums));

  int64_t winner;
  QD(qd_dispatcher_winner(sums, 10, &winner));
  CHECK(winner == -1);
  once(on, sums, 1024);
  QD(qd_dispatcher_winner(sums, 10, &winner));
  CHECK(winner == 0 || winner == 1);
  uint64_t times[3] = {1, 1, 77};
  QD(qd_dispatcher_times(sums, 10, times, 3));
  CHECK(times[0] != UINT64_MAX && times[1] != UINT64_MAX && times[2] == 77);
  /* Of a short array one alone is eligible. */
  once(on, sums, 32);
  QD(qd_dispatcher_winner(sums, 5, &winner));
  CHECK(winner == 0);
  const char *name;
  QD(qd_dispatcher_variant(sums, 1, &name));
  CHECK(strcmp(name, "by levels") == 0);

  QD(qd_dispatcher_force(sums, "by levels"));
  FAILS(QD_ERROR_NOT_FOUND, "no variant 'other'", qd_dispatcher_force(sums, "other"));
  once(on, sums, 32);
  QD(qd_dispatcher_force(sums, NULL));
  QD(qd_dispatcher_freeze(sums, true));
  once(on, sums, 4096);
  QD(qd_dispatcher_winner(sums, 12, &winner));
  CHECK(winner == -1);
  QD(qd_dispatcher_freeze(sums, false));

  size_t loaded;
  QD(qd_dispatcher_save(sums, words[1]));
  qd_dispatcher *again;
  QD(qd_dispatcher_new(on.device, "sums", variants, 2, magnitude, NULL, NULL, &again));
  QD(qd_dispatcher_load(again, words[1], &loaded));
  CHECK(loaded == 2);
  FAILS(QD_ERROR_FILE, "/nowhere", qd_dispatcher_load(again, "/nowhere/winners.json", NULL));
  FILE *file = fopen(words[1], "w");
  fputs("{", file);
  fclose(file);
  FAILS(QD_ERROR_DISPATCH, "no winners", qd_dispatcher_load(again, words[1], NULL));
  QD(qd_dispatcher_free(again));

  /* A function, which is measured like others, and one that fails. */
  Job job = {levels, 0};
  qd_variant functions[2] = {{NULL, sum, NULL, NULL, NULL, NULL}, {"mine", NULL, launch_it, &job, NULL, NULL}};
  qd_dispatcher *mixed;
  QD(qd_dispatcher_new(on.device, "mixed", functions, 2, magnitude, NULL, NULL, &mixed));
  once(on, mixed, 1000);
  CHECK(job.calls >= 2);
  QD(qd_dispatcher_force(mixed, "mine"));
  job.calls = 0;
  once(on, mixed, 1000);
  CHECK(job.calls == 8);
  QD(qd_dispatcher_free(mixed));
  functions[1].function = give_up;
  QD(qd_dispatcher_new(on.device, "mixed", functions + 1, 1, NULL, NULL, NULL, &mixed));
  FAILS(QD_ERROR_HANDLE, "kernel is null", qd_dispatcher_launch(mixed, on.stream, NULL, 0, NULL));
  QD(qd_dispatcher_free(mixed));
  functions[1].kernel = sum;
  FAILS(QD_ERROR_VALUE, "a kernel and a function",
        qd_dispatcher_new(on.device, "mixed", functions, 2, NULL, NULL, NULL, &none));
  functions[1].kernel = NULL;
  functions[1].name = NULL;
  FAILS(QD_ERROR_HANDLE, "a function is null",
        qd_dispatcher_new(on.device, "mixed", functions, 2, NULL, NULL, NULL, &none));

  /* No variants, two of one name, none eligible. */
  FAILS(QD_ERROR_DISPATCH, "no variants", qd_dispatcher_new(on.device, "sums", NULL, 0, NULL, NULL, NULL, &none));
  variants[1].name = "sum";
  FAILS(QD_ERROR_DISPATCH, "two variants 'sum'",
        qd_dispatcher_new(on.device, "sums", variants, 2, NULL, NULL, NULL, &none));
  twice.active = 0;
  FAILS(QD_ERROR_DISPATCH, "active", qd_dispatcher_new(on.device, "sums", variants, 1, NULL, NULL, &twice, &none));
  variants[0].kernel = NULL;
  FAILS(QD_ERROR_HANDLE, "kernel is null",
        qd_dispatcher_new(on.device, "sums", variants, 1, NULL, NULL, NULL, &none));
  CHECK(none == NULL);
  qd_dispatcher *strict;
  QD(qd_dispatcher_new(on.device, "strict", variants + 1, 1, NULL, NULL, NULL, &strict));
  qd_arg missing[4] = {qd_shape(NULL, 0), qd_missing(), qd_missing(), qd_missing()};
  uint64_t short_shape[1] = {3};
  missing[0] = qd_shape(short_shape, 1);
  FAILS(QD_ERROR_NO_VARIANT, "eligible", qd_dispatcher_launch(strict, on.stream, missing, 4, NULL));
  QD(qd_dispatcher_free(strict));

  /* The environment. */
  variants[0].kernel = sum;
  setenv("QD_PERFDISPATCH_FORCE", "sums", 1);
  FAILS(QD_ERROR_ENVIRONMENT, "QD_PERFDISPATCH_FORCE='sums'",
        qd_dispatcher_new(on.device, "sums", variants, 1, NULL, NULL, NULL, &none));
  setenv("QD_PERFDISPATCH_FORCE", "", 1);
  setenv("QD_PERFDISPATCH_PRINT_DEBUG", "maybe", 1);
  FAILS(QD_ERROR_ENVIRONMENT, "expected 0 or 1",
        qd_dispatcher_new(on.device, "sums", variants, 1, NULL, NULL, NULL, &none));

  QD(qd_dispatcher_free(sums));
  QD(qd_kernel_free(sum));
  QD(qd_kernel_free(levels));
  close_machine(on);
  puts("passed");
  return 0;
}
