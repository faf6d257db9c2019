/* Sessions and stores: an edit compiles what it reaches, and a second process's store finds the rest. */
#include "check.h"

static void count_compiled(const char *query, const char *of, uint64_t nanoseconds, void *data) {
  CHECK(nanoseconds < 60ull * 1000 * 1000 * 1000 && of != NULL);
  if (strcmp(query, "compiled") == 0) ++((int *)data)[0];
  if (strcmp(query, "found") == 0) ++((int *)data)[1];
}

static void count_trouble(const char *message, void *data) {
  if (strstr(message, "QD_CACHE_SIZE") != NULL) ++*(int *)data;
}

static void compile(qd_session *session, uint64_t file, int made, int found) {
  const char *targets[1] = {"cpu"};
  int ran[2] = {0, 0};
  qd_artifact *artifact;
  QD(qd_session_compile(session, file, targets, 1, &artifact, NULL));
  QD(qd_artifact_free(artifact));
  QD(qd_session_log(session, count_compiled, ran));
  CHECK(ran[0] == made && ran[1] == found);
}

int main(int count, char **words) {
  CHECK(count == 2);
  qd_store *store;
  qd_session *session, *other;
  uint64_t file, again;
  QD(qd_store_open(words[1], 0, &store));
  QD(qd_session_new(store, &session));
  QD(qd_session_add(session, "sums.mlir", SUMS, sizeof SUMS - 1, &file));
  compile(session, file, 2, 0);
  compile(session, file, 0, 0);
  char edited[sizeof SUMS];
  memcpy(edited, SUMS, sizeof SUMS);
  strstr(edited, "log256_max_n = 3")[15] = '2';
  QD(qd_session_edit(session, file, edited, sizeof SUMS - 1));
  compile(session, file, 1, 0);

  QD(qd_session_new(store, &other));
  QD(qd_store_free(store));
  QD(qd_session_add(other, "sums.mlir", SUMS, sizeof SUMS - 1, &again));
  compile(other, again, 0, 2);

  /* Errors are data, and the session goes on. */
  const char *targets[1] = {"cpu"};
  qd_artifact *artifact;
  qd_diagnostics *said;
  QD(qd_session_edit(other, again, "nonsense", 8));
  FAILS(QD_ERROR_COMPILE, "sums.mlir:1:", qd_session_compile(other, again, targets, 1, &artifact, &said));
  size_t length;
  QD(qd_diagnostics_count(said, &length));
  CHECK(length > 0 && artifact == NULL);
  QD(qd_diagnostics_free(said));
  FAILS(QD_ERROR_VALUE, "no file 9", qd_session_edit(other, 9, "", 0));
  FAILS(QD_ERROR_COMPILE, "no target", qd_session_compile(other, again, targets, 0, &artifact, NULL));
  FAILS(QD_ERROR_VALUE, "not UTF-8", qd_session_edit(other, again, "\xff", 1));
  QD(qd_session_free(session));
  QD(qd_session_free(other));

  /* The request's way: the store has what the session compiled. */
  qd_request *request;
  qd_store_counts counts;
  QD(qd_store_open(words[1], 1 << 20, &store));
  QD(qd_request_new(&request));
  QD(qd_request_text(request, "sums.mlir", SUMS, sizeof SUMS - 1));
  QD(qd_request_target(request, "cpu"));
  QD(qd_compile(request, store, &artifact, NULL));
  QD(qd_store_count(store, &counts));
  CHECK(counts.hits >= 2);
  QD(qd_artifact_free(artifact));
  QD(qd_request_free(request));
  QD(qd_store_free(store));

  /* The environment: none, and a malformed one, which is a warning. */
  setenv("QD_CACHE_DIR", "", 1);
  QD(qd_store_of_environment(&store));
  CHECK(store == NULL);
  setenv("QD_CACHE_DIR", words[1], 1);
  setenv("QD_CACHE_SIZE", "much", 1);
  QD(qd_store_of_environment(&store));
  int troubles = 0;
  QD(qd_store_troubles(store, count_trouble, &troubles));
  CHECK(troubles == 1);
  QD(qd_store_free(store));
  puts("passed");
  return 0;
}
