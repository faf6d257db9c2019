/* Recordings: slots, bound again; graphs outlive what they came of. */
#include "check.h"

int main(void) {
  Machine on = machine(SUMS);
  qd_kernel *sum;
  QD(qd_kernel_get(on.executable, "sum", &sum));
  enum { LENGTH = 1000 };
  int32_t values[LENGTH], n = LENGTH, total = 0, read;
  for (int i = 0; i < LENGTH; ++i) total += values[i] = i * i % 97;
  uint64_t one[1] = {1}, length[1] = {LENGTH};
  qd_buffer *x = buffer_of(on.stream, QD_I32, values, LENGTH), *y, *out, *result, *cell, *count;
  QD(qd_buffer_zeros(on.stream, QD_I32, length, 1, &y));
  QD(qd_buffer_new(on.stream, QD_I32, one, 1, &out));
  QD(qd_buffer_new(on.stream, QD_I32, one, 1, &result));
  count = buffer_of(on.stream, QD_I32, &n, 1);
  QD(qd_buffer_cast(count, QD_I32, NULL, 0, &cell));

  uint64_t rows;
  qd_arg shapes[4] = {qd_shape(length, 1), qd_missing(), qd_missing(), qd_missing()};
  QD(qd_kernel_minimum(sum, "scratch", shapes, 4, &rows));
  CHECK(rows > 0);
  FAILS(QD_ERROR_NOT_FOUND, "no argument 'none'", qd_kernel_minimum(sum, "none", shapes, 4, &rows));

  qd_recording *recording, *other;
  qd_graph *graph, *none;
  QD(qd_recording_new(on.device, &recording));
  QD(qd_recording_new(on.device, &other));
  uint64_t slot, foreign;
  QD(qd_recording_slot(recording, sum, "x", &slot));
  QD(qd_recording_slot(other, sum, "x", &foreign));
  qd_arg arguments[4] = {qd_slot(slot), qd_array(out), qd_missing(), qd_array(cell)};
  QD(qd_recording_launch(recording, sum, arguments, 4));
  qd_arg from = qd_array(out), to = qd_array(result), value = qd_i32(3);
  QD(qd_recording_copy(recording, &from, &to));
  FAILS(QD_ERROR_RECORDING, "two buffers", qd_recording_copy(recording, &value, &to));
  FAILS(QD_ERROR_HANDLE, "null", qd_recording_copy(recording, NULL, &to));
  arguments[0] = qd_slot(foreign);
  FAILS(QD_ERROR_RECORDING, "another recording's", qd_recording_launch(recording, sum, arguments, 4));
  arguments[0] = qd_tensor(&value);
  FAILS(QD_ERROR_FOREIGN, "import it", qd_recording_launch(recording, sum, arguments, 4));
  QD(qd_recording_finish(recording, &graph));
  FAILS(QD_ERROR_RECORDING, "finished", qd_recording_finish(recording, &none));
  FAILS(QD_ERROR_RECORDING, "finished", qd_recording_copy(recording, &from, &to));
  FAILS(QD_ERROR_RECORDING, "nothing is bound to", qd_graph_launch(graph, on.stream));
  FAILS(QD_ERROR_RECORDING, "another recording's", qd_graph_bind(graph, foreign, &to));
  FAILS(QD_ERROR_RECORDING, "cannot be bound", qd_graph_bind(graph, slot, &value));
  QD(qd_recording_free(recording));
  QD(qd_recording_free(other));
  QD(qd_kernel_free(sum));

  qd_arg bound = qd_array(x);
  QD(qd_graph_bind(graph, slot, &bound));
  QD(qd_graph_launch(graph, on.stream));
  QD(qd_buffer_read(result, on.stream, &read, 4));
  CHECK(read == total);
  bound = qd_array(y);
  QD(qd_graph_bind(graph, slot, &bound));
  QD(qd_graph_launch(graph, on.stream));
  QD(qd_buffer_read(result, on.stream, &read, 4));
  CHECK(read == 0);
  QD(qd_graph_free(graph));
  qd_buffer *all[] = {x, y, out, result, cell, count};
  for (int i = 0; i < 6; ++i) QD(qd_buffer_free(all[i]));
  close_machine(on);
  puts("passed");
  return 0;
}
