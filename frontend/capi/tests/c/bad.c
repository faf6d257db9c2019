/* Null handles; in debug builds also freed ones and those of another kind or of nobody. */
#include "check.h"

int main(int count, char **words) {
  bool is_debug = count == 2 && strcmp(words[1], "debug") == 0;
  qd_device *device, *opened;
  qd_stream *stream;
  QD(qd_device_open("cpu", NULL, &device));
  QD(qd_stream_new(device, QD_PRIORITY_NORMAL, &stream));

  FAILS(QD_ERROR_HANDLE, "device's id is null", qd_device_open(NULL, NULL, &opened));
  FAILS(QD_ERROR_HANDLE, "place for the device is null", qd_device_open("cpu", NULL, NULL));
  qd_stream *none = stream;
  FAILS(QD_ERROR_HANDLE, "the device is null", qd_stream_new(NULL, QD_PRIORITY_NORMAL, &none));
  CHECK(none == NULL);
  FAILS(QD_ERROR_VALUE, "9 is no priority", qd_stream_new(device, 9, &(qd_stream *){NULL}));
  FAILS(QD_ERROR_HANDLE, "the stream is null", qd_stream_synchronize(NULL));
  FAILS(QD_ERROR_HANDLE, "the event is null", qd_stream_wait(stream, NULL));
  FAILS(QD_ERROR_HANDLE, "the kernel is null", qd_launch(NULL, stream, NULL, 0, NULL));
  FAILS(QD_ERROR_HANDLE, "the arguments", qd_launch(NULL, stream, NULL, 1, NULL));
  qd_arg strange = {99, 0, NULL, 0}, wide = qd_scalar(QD_U8, 256);
  FAILS(QD_ERROR_VALUE, "99 is no kind", qd_launch(NULL, stream, &strange, 1, NULL));
  FAILS(QD_ERROR_VALUE, "more bits than a u8", qd_launch(NULL, stream, &wide, 1, NULL));
  FAILS(QD_ERROR_HANDLE, "`found` is null", qd_devices(NULL, NULL, NULL));
  FAILS(QD_ERROR_HANDLE, "the place for the result is null", qd_device_describe(device, NULL));
  FAILS(QD_ERROR_HANDLE, "the artifact is null", qd_artifact_save(NULL, "x"));
  FAILS(QD_ERROR_HANDLE, "the path is null", qd_artifact_open(NULL, &(qd_artifact *){NULL}));

  /* Freeing null is nothing, whatever it is. */
  QD(qd_device_free(NULL));
  QD(qd_stream_free(NULL));
  QD(qd_event_free(NULL));
  QD(qd_buffer_free(NULL));
  QD(qd_request_free(NULL));
  QD(qd_diagnostics_free(NULL));
  QD(qd_artifact_free(NULL));
  QD(qd_executable_free(NULL));
  QD(qd_kernel_free(NULL));
  QD(qd_recording_free(NULL));
  QD(qd_graph_free(NULL));
  QD(qd_dispatcher_free(NULL));
  QD(qd_session_free(NULL));
  QD(qd_store_free(NULL));

  if (is_debug) {
    qd_stream *freed = stream;
    QD(qd_stream_free(stream));
    FAILS(QD_ERROR_HANDLE, "the stream was freed", qd_stream_synchronize(freed));
    FAILS(QD_ERROR_HANDLE, "the stream was freed", qd_stream_free(freed));
    QD(qd_stream_new(device, QD_PRIORITY_NORMAL, &stream));
    /* The address is not used again at once: the freed one stays freed. */
    CHECK(stream != freed);
    FAILS(QD_ERROR_HANDLE, "was freed", qd_stream_synchronize(freed));
    FAILS(QD_ERROR_HANDLE, "the stream is none: it is a device", qd_stream_synchronize((qd_stream *)device));
    uint64_t mine[16] = {0};
    FAILS(QD_ERROR_HANDLE, "no handle of this library", qd_stream_synchronize((qd_stream *)mine));
    FAILS(QD_ERROR_HANDLE, "no handle of this library", qd_buffer_free((qd_buffer *)mine));
    qd_arg argument = qd_array((qd_buffer *)device);
    FAILS(QD_ERROR_HANDLE, "argument 0: the buffer is none", qd_launch(NULL, stream, &argument, 1, NULL));
    /* More than are remembered: none of it is an error of memory. */
    for (int i = 0; i < 5000; ++i) {
      qd_event *event;
      QD(qd_event_record(stream, &event));
      QD(qd_event_free(event));
    }
    FAILS(QD_ERROR_HANDLE, "no handle of this library", qd_stream_synchronize(freed));
  }
  QD(qd_stream_free(stream));
  QD(qd_device_free(device));
  puts("passed");
  return 0;
}
