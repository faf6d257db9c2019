/* Handles that threads share; each thread has a message of its own; an edit cancels a compilation. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, CALLS = 200, LENGTH = 64 };

typedef struct {
  Machine on;
  qd_kernel *add;
  int number;
} Job;

static void *work(void *data) {
  Job *job = data;
  char wanted[64], id[32];
  snprintf(id, sizeof id, "abacus%d", job->number);
  snprintf(wanted, sizeof wanted, "'%s'", id);
  float values[LENGTH] = {0};
  qd_buffer *buffer = buffer_of(job->on.stream, QD_F32, values, LENGTH);
  qd_arg arguments[2] = {qd_array(buffer), qd_f32((float)job->number)};
  for (int i = 0; i < CALLS; ++i) {
    qd_device *none;
    FAILS(QD_ERROR_DEVICE, wanted, qd_device_open(id, NULL, &none));
    QD(qd_launch(job->add, job->on.stream, arguments, 2, NULL));
  }
  QD(qd_buffer_read(buffer, job->on.stream, values, sizeof values));
  for (int i = 0; i < LENGTH; ++i) CHECK(values[i] == (float)(job->number * CALLS));
  QD(qd_buffer_free(buffer));
  return NULL;
}

static qd_session *session;
static uint64_t file;

static void *edit(void *data) {
  (void)data;
  char text[sizeof ADD + 32];
  for (int i = 0; i < 50; ++i) {
    int length = snprintf(text, sizeof text, "%s// %d\n", ADD, i);
    QD(qd_session_edit(session, file, text, (size_t)length));
  }
  return NULL;
}

int main(void) {
  Machine on = machine(ADD);
  qd_kernel *add;
  QD(qd_kernel_get(on.executable, "add", &add));
  pthread_t threads[THREADS];
  Job jobs[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    jobs[i] = (Job){on, add, i};
    CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  QD(qd_kernel_free(add));
  close_machine(on);

  pthread_t editor;
  QD(qd_session_new(NULL, &session));
  QD(qd_session_add(session, "add.mlir", ADD, sizeof ADD - 1, &file));
  CHECK(pthread_create(&editor, NULL, edit, NULL) == 0);
  const char *targets[1] = {"cpu"};
  for (int i = 0; i < 20; ++i) {
    qd_artifact *artifact;
    qd_status ended = qd_session_compile(session, file, targets, 1, &artifact, NULL);
    CHECK(ended == QD_OK || (ended == QD_ERROR_CANCELLED && artifact == NULL));
    QD(qd_artifact_free(artifact));
  }
  CHECK(pthread_join(editor, NULL) == 0);
  QD(qd_session_free(session));
  puts("passed");
  return 0;
}
