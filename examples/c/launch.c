/* A kernel on the caller's memory and stream, and inside the caller's capture.
 *
 *     qd-translate kernels.mlir --target=cpu -o kernels.qd && launch cpu kernels.qd
 *     qd-translate kernels.mlir --target=nvptx:sm_90 -o kernels.qd && launch cuda:0 kernels.qd
 *
 * The arrays are tensors of DLPack, as another library would hand them over. On an NVIDIA device they, the stream and
 * the graph are made with CUDA's driver, which is opened when it is asked for: no header of CUDA's is needed. */
#include "qd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QD(call)                                                            \
  do {                                                                      \
    if ((call) != QD_OK) {                                                  \
      fprintf(stderr, "launch: %s: %s\n", #call, qd_error_message());       \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

#define CU(call)                                                            \
  do {                                                                      \
    int code = (call);                                                      \
    if (code != 0) {                                                        \
      fprintf(stderr, "launch: %s: CUDA's error %d\n", #call, code);        \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

/* As dlpack.h has it. */
typedef struct {
  void *data;
  struct { int32_t kind, number; } device;
  int32_t rank;
  struct { uint8_t code, bits; uint16_t lanes; } type;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

/* CUDA's driver. */
static int (*cuInit)(unsigned), (*cuDeviceGet)(int *, int), (*cuDevicePrimaryCtxRetain)(void **, int),
    (*cuCtxSetCurrent)(void *), (*cuMemAlloc)(void **, size_t), (*cuMemFree)(void *),
    (*cuMemcpyHtoD)(void *, const void *, size_t), (*cuMemcpyDtoH)(void *, const void *, size_t),
    (*cuStreamCreate)(void **, unsigned), (*cuStreamDestroy)(void *), (*cuStreamSynchronize)(void *),
    (*cuStreamBeginCapture)(void *, int), (*cuStreamEndCapture)(void *, void **),
    (*cuGraphInstantiate)(void **, void *, unsigned long long), (*cuGraphLaunch)(void *, void *),
    (*cuGraphExecDestroy)(void *), (*cuGraphDestroy)(void *);

static void open_cuda(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (cuda == NULL) {
    fprintf(stderr, "launch: %s\n", dlerror());
    exit(1);
  }
  struct { const char *name; void *to; } all[] = {
      {"cuInit", &cuInit}, {"cuDeviceGet", &cuDeviceGet}, {"cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain},
      {"cuCtxSetCurrent", &cuCtxSetCurrent}, {"cuMemAlloc_v2", &cuMemAlloc}, {"cuMemFree_v2", &cuMemFree},
      {"cuMemcpyHtoD_v2", &cuMemcpyHtoD}, {"cuMemcpyDtoH_v2", &cuMemcpyDtoH}, {"cuStreamCreate", &cuStreamCreate},
      {"cuStreamDestroy_v2", &cuStreamDestroy}, {"cuStreamSynchronize", &cuStreamSynchronize},
      {"cuStreamBeginCapture_v2", &cuStreamBeginCapture}, {"cuStreamEndCapture", &cuStreamEndCapture},
      {"cuGraphInstantiateWithFlags", &cuGraphInstantiate}, {"cuGraphLaunch", &cuGraphLaunch},
      {"cuGraphExecDestroy", &cuGraphExecDestroy}, {"cuGraphDestroy", &cuGraphDestroy}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    void *found = dlsym(cuda, all[i].name);
    if (found == NULL) {
      fprintf(stderr, "launch: CUDA's driver has no %s\n", all[i].name);
      exit(1);
    }
    memcpy(all[i].to, &found, sizeof found);
  }
  int number;
  void *context;
  CU(cuInit(0));
  CU(cuDeviceGet(&number, 0));
  CU(cuDevicePrimaryCtxRetain(&context, number));
  CU(cuCtxSetCurrent(context));
}

static bool is_cuda;

/* The caller's memory. */
static void *allocate(size_t bytes) {
  void *memory;
  if (!is_cuda) return malloc(bytes);
  CU(cuMemAlloc(&memory, bytes));
  return memory;
}

static void copy(void *to, const void *from, size_t bytes, bool is_upload) {
  if (!is_cuda) memcpy(to, from, bytes);
  else if (is_upload) CU(cuMemcpyHtoD(to, from, bytes));
  else CU(cuMemcpyDtoH(to, from, bytes));
}

static DLTensor tensor(int64_t *length, int rank) {
  DLTensor made = {allocate((size_t)*length * 4), {is_cuda ? 2 : 1, 0}, rank, {0, 32, 1}, length, NULL, 0};
  return made;
}

static void check_sums(const DLTensor *out, const int32_t *values, int32_t length) {
  int32_t *sums = malloc((size_t)length * 4), total = 0;
  copy(sums, out->data, (size_t)length * 4, false);
  for (int32_t i = 0; i < length; ++i) {
    total += values[i];
    if (sums[i] != total) {
      fprintf(stderr, "launch: sum %d is %d, not %d\n", i, sums[i], total);
      exit(1);
    }
  }
  free(sums);
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: launch DEVICE ARTIFACT\n");
    return 1;
  }
  enum { LENGTH = 10000 };
  static int32_t values[LENGTH];
  int32_t length = LENGTH;
  int64_t extent = LENGTH, one = 1;
  for (int32_t i = 0; i < LENGTH; ++i) values[i] = i * 7 % 101;

  QD(qd_check_header());
  is_cuda = strncmp(words[1], "cuda", 4) == 0;
  void *raw = NULL;
  if (is_cuda) {
    open_cuda();
    CU(cuStreamCreate(&raw, 1));
  }
  qd_device *device;
  qd_executable *executable;
  qd_kernel *scan;
  qd_stream *stream;
  QD(qd_device_open(words[1], NULL, &device));
  QD(qd_load_file(device, words[2], &executable));
  QD(qd_kernel_get(executable, "scan", &scan));
  QD(qd_stream_wrap(device, raw, &stream));

  DLTensor in = tensor(&extent, 1), out = tensor(&extent, 1), n = tensor(&one, 0);
  qd_arg arguments[4] = {qd_tensor(&in), qd_tensor(&out), qd_missing(), qd_tensor(&n)};
  uint64_t slots;
  QD(qd_kernel_minimum(scan, "scratch", arguments, 4, &slots));
  int64_t scratch_extent = (int64_t)slots;
  DLTensor scratch = tensor(&scratch_extent, 1);
  arguments[2] = qd_tensor(&scratch);
  copy(in.data, values, sizeof values, true);
  copy(n.data, &length, sizeof length, true);

  QD(qd_launch(scan, stream, arguments, 4, NULL));
  QD(qd_stream_synchronize(stream));
  check_sums(&out, values, LENGTH);

  if (is_cuda) {
    void *graph, *runnable;
    CU(cuStreamBeginCapture(raw, 0));
    QD(qd_launch(scan, stream, arguments, 4, NULL)); /* allocates nothing, waits for nothing */
    CU(cuStreamEndCapture(raw, &graph));
    /* What the graph needs of them it keeps. */
    QD(qd_kernel_free(scan));
    QD(qd_executable_free(executable));
    CU(cuGraphInstantiate(&runnable, graph, 0));
    for (int round = 0; round < 10; ++round) {
      for (int32_t i = 0; i < LENGTH; ++i) values[i] += round;
      copy(in.data, values, sizeof values, true);
      CU(cuGraphLaunch(runnable, raw));
      CU(cuStreamSynchronize(raw));
      check_sums(&out, values, LENGTH);
    }
    CU(cuGraphExecDestroy(runnable));
    CU(cuGraphDestroy(graph));
  } else {
    QD(qd_kernel_free(scan));
    QD(qd_executable_free(executable));
  }
  QD(qd_stream_free(stream));
  QD(qd_device_free(device));
  void *memory[] = {in.data, out.data, scratch.data, n.data};
  for (int i = 0; i < 4; ++i) {
    if (is_cuda) CU(cuMemFree(memory[i]));
    else free(memory[i]);
  }
  if (is_cuda) CU(cuStreamDestroy(raw));
  puts(is_cuda ? "sums, and sums of 10 replays of a captured launch" : "sums");
  return 0;
}
