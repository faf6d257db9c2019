// The peer of the device rows: CUB on the same data, timed by events. What it does for a row
// is in `bench.cu` of the algorithm's folder; all of these are rows.inc.
// Usage: cub ROWS LOG2 REPEATS...   ROWS are those wanted, such as `reduce u32,sort u64`.
// Prints a line `algorithm element log2 microseconds` for each row.
#include <cub/cub.cuh>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                     \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

// As in data.rs.
__host__ __device__ uint64_t mix(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ void value(uint64_t i, uint32_t &to) { to = uint32_t(mix(i)); }
__device__ void value(uint64_t i, uint64_t &to) { to = mix(i); }
__device__ void value(uint64_t i, float &to) { to = float(mix(i) >> 40) / 16777216.0f; }

enum Pattern { RANDOM, FEW, SORTED };

template <class T>
__global__ void generate(T *to, uint64_t n, Pattern pattern) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
    if (pattern == RANDOM)
      value(i, to[i]);
    else
      to[i] = pattern == FEW ? T(mix(i) & 15) : T(i);
  }
}

__global__ void flags(uint32_t *to, uint64_t n) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
    to[i] = (mix(i) >> 7) & 1;
}

struct Square {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return x * x;
  }
};

struct IsOdd {
  __host__ __device__ bool operator()(uint32_t x) const { return x % 2 == 1; }
};

static int repeats;
static std::set<std::string> rows_wanted;

template <class T>
T *allocate(uint64_t count) {
  T *memory;
  CHECK(cudaMalloc(&memory, std::max<uint64_t>(1, count) * sizeof(T)));
  return memory;
}

// The median of the event times of `run`, each after `prepare`; microseconds.
double measure(std::function<void()> prepare, std::function<void()> run) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < repeats + 2; ++i) {
    prepare();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= 2)
      times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return times[times.size() / 2] * 1e3;
}

// Asks how much it wants, then measures it.
double algorithm(std::function<cudaError_t(void *, size_t &)> call, std::function<void()> prepare = [] {}) {
  size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  char *scratch = allocate<char>(bytes);
  double time = measure(prepare, [&] { CHECK(call(scratch, bytes)); });
  CHECK(cudaFree(scratch));
  return time;
}

// Whether there is a row of this element.
bool wanted(const char *element) {
  auto is_of = [=](const std::string &row) { return row.substr(row.find(' ') + 1) == element; };
  return std::any_of(rows_wanted.begin(), rows_wanted.end(), is_of);
}

bool wanted(const char *name, const char *element) {
  return rows_wanted.count(std::string(name) + " " + element) != 0;
}

// Numbers in runs of eight on average.
template <class T>
void fill_runs(T *to, uint64_t n) {
  std::vector<T> runs(n);
  T run = 0;
  for (uint64_t i = 0; i < n; ++i)
    runs[i] = run += (mix(i) & 7) == 0;
  CHECK(cudaMemcpy(to, runs.data(), n * sizeof(T), cudaMemcpyHostToDevice));
}

template <class T>
void rows(const char *element, int log2) {
  if (!wanted(element))
    return;
  uint64_t n = 1ull << log2;
  // Random elements, in which rows leave the same, and room: all for `n` elements, but one number.
  T *in = allocate<T>(n), *a = allocate<T>(n), *b = allocate<T>(n);
  uint32_t *keys = allocate<uint32_t>(n), *keys_out = allocate<uint32_t>(n);
  int64_t *number = allocate<int64_t>(1);
  generate<<<4096, 256>>>(in, n, RANDOM);

  // A row, if it is wanted: counts have 32 bits or 64, and the faster is taken.
  auto row = [=](const char *name, auto call, std::function<void()> prepare = [] {}) {
    if (!wanted(name, element))
      return;
    auto with = [=](auto n, auto *number) {
      return algorithm([=](void *s, size_t &bytes) { return call(s, bytes, n, number); }, prepare);
    };
    double narrow = with(int32_t(n), reinterpret_cast<int32_t *>(number)), wide = with(int64_t(n), number);
    std::printf("%s %s %d %.3f\n", name, element, log2, std::min(narrow, wide));
    std::fflush(stdout);
  };
#include "rows.inc"

  CHECK(cudaDeviceSynchronize());
  for (void *memory : {(void *)in, (void *)a, (void *)b, (void *)keys, (void *)keys_out, (void *)number})
    CHECK(cudaFree(memory));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: cub ROWS LOG2 REPEATS...\n");
    return 1;
  }
  std::istringstream names(argv[1]);
  for (std::string name; std::getline(names, name, ',');)
    rows_wanted.insert(name);
  for (int i = 2; i + 1 < argc; i += 2) {
    int log2 = std::atoi(argv[i]);
    repeats = std::max(1, std::atoi(argv[i + 1]));
    rows<uint32_t>("u32", log2);
    rows<float>("f32", log2);
    rows<uint64_t>("u64", log2);
  }
  // What a copy moves, read plus written, in bytes a second: the floor.
  uint64_t bytes = 1ull << 30;
  char *from = allocate<char>(bytes), *to = allocate<char>(bytes);
  double copy = measure([] {}, [=] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  std::printf("copy bytes 30 %.3f\n", copy);
}
