// The peer of the device rows: CUB on the same data, timed by events.
// Usage: cub REPEATS ROWS LOG2...   ROWS are those wanted, such as `reduce u32,sort u64`.
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

// The faster of a row's two forms, if the row is wanted.
void row(const char *name, const char *element, int log2, std::function<double()> a, std::function<double()> b) {
  if (!wanted(name, element))
    return;
  std::printf("%s %s %d %.3f\n", name, element, log2, std::min(a(), b()));
  std::fflush(stdout);
}

template <class T, class N>
struct Forms {
  static double reduce(const T *in, T *out, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, out, n); });
  }
  static double reduce_squares(const T *in, T *out, N n) {
    auto squares = thrust::make_transform_iterator(in, Square{});
    return algorithm([=](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, squares, out, n); });
  }
  static double exclusive_scan(const T *in, T *out, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, in, out, n); });
  }
  static double inclusive_scan(const T *in, T *out, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); });
  }
  static double select(const T *in, const uint32_t *flags, T *out, N *number, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceSelect::Flagged(s, b, in, flags, out, number, n); });
  }
  static double select_odd(const T *in, T *out, N *number, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, in, out, number, n, IsOdd{}); });
  }
  // What is not flagged comes out last to first.
  static double partition(const T *in, const uint32_t *flags, T *out, N *number, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DevicePartition::Flagged(s, b, in, flags, out, number, n); });
  }
  static double reduce_by_key(const uint32_t *keys, uint32_t *keys_out, const T *in, T *out, N *number, N n) {
    return algorithm([=](void *s, size_t &b) {
      return cub::DeviceReduce::ReduceByKey(s, b, keys, keys_out, in, out, number, cuda::std::plus<>{}, n);
    });
  }
  static double unique(const T *in, T *out, N *number, N n) {
    return algorithm([=](void *s, size_t &b) { return cub::DeviceSelect::Unique(s, b, in, out, number, n); });
  }
  static double run_lengths(const T *in, T *out, uint32_t *lengths, N *number, N n) {
    return algorithm([=](void *s, size_t &b) {
      return cub::DeviceRunLengthEncode::Encode(s, b, in, out, lengths, number, n);
    });
  }
  static double sort(const T *in, T *a, T *b, N n) {
    return algorithm([=](void *s, size_t &bytes) {
      cub::DoubleBuffer<T> keys(a, b);
      return cub::DeviceRadixSort::SortKeys(s, bytes, keys, n);
    }, [=] { CHECK(cudaMemcpy(a, in, sizeof(T) * n, cudaMemcpyDeviceToDevice)); });
  }
  static double sort_pairs(const T *in, T *a, T *b, uint32_t *va, uint32_t *vb, N n) {
    return algorithm([=](void *s, size_t &bytes) {
      cub::DoubleBuffer<T> keys(a, b);
      cub::DoubleBuffer<uint32_t> values(va, vb);
      return cub::DeviceRadixSort::SortPairs(s, bytes, keys, values, n);
    }, [=] { CHECK(cudaMemcpy(a, in, sizeof(T) * n, cudaMemcpyDeviceToDevice)); });
  }
};

template <class T>
void rows(const char *element, int log2) {
  using A = Forms<T, int32_t>;
  using B = Forms<T, int64_t>;
  constexpr bool is_integer = std::is_integral<T>::value;
  if (!wanted(element))
    return;
  uint64_t n = 1ull << log2;
  T *in = allocate<T>(n), *a = allocate<T>(n), *b = allocate<T>(n);
  uint32_t *keys = allocate<uint32_t>(n), *keys_out = allocate<uint32_t>(n);
  int64_t *number = allocate<int64_t>(1);
  auto *number32 = reinterpret_cast<int32_t *>(number);
  generate<<<4096, 256>>>(in, n, RANDOM);

  row("reduce", element, log2, [=] { return A::reduce(in, a, n); }, [=] { return B::reduce(in, a, n); });
  if constexpr (sizeof(T) == 4)
    row("transform-reduce", element, log2, [=] { return A::reduce_squares(in, a, n); },
        [=] { return B::reduce_squares(in, a, n); });
  row("exclusive_scan", element, log2, [=] { return A::exclusive_scan(in, a, n); },
      [=] { return B::exclusive_scan(in, a, n); });
  row("inclusive_scan", element, log2, [=] { return A::inclusive_scan(in, a, n); },
      [=] { return B::inclusive_scan(in, a, n); });

  flags<<<4096, 256>>>(keys, n);
  row("select", element, log2, [=] { return A::select(in, keys, a, number32, n); },
      [=] { return B::select(in, keys, a, number, n); });
  row("partition", element, log2, [=] { return A::partition(in, keys, a, number32, n); },
      [=] { return B::partition(in, keys, a, number, n); });
  if constexpr (std::is_same<T, uint32_t>::value)
    row("select-if", element, log2, [=] { return A::select_odd(in, a, number32, n); },
        [=] { return B::select_odd(in, a, number, n); });

  if (wanted("reduce_by_key", element)) {
    std::vector<uint32_t> runs(n);
    uint32_t run = 0;
    for (uint64_t i = 0; i < n; ++i)
      runs[i] = run += (mix(i) & 7) == 0;
    CHECK(cudaMemcpy(keys, runs.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice));
  }
  row("reduce_by_key", element, log2, [=] { return A::reduce_by_key(keys, keys_out, in, a, number32, n); },
      [=] { return B::reduce_by_key(keys, keys_out, in, a, number, n); });

  if (wanted("unique", element) || wanted("run_lengths", element)) {
    std::vector<T> runs(n);
    T run = 0;
    for (uint64_t i = 0; i < n; ++i)
      runs[i] = run += (mix(i) & 7) == 0;
    CHECK(cudaMemcpy(b, runs.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  row("unique", element, log2, [=] { return A::unique(b, a, number32, n); },
      [=] { return B::unique(b, a, number, n); });
  row("run_lengths", element, log2, [=] { return A::run_lengths(b, a, keys_out, number32, n); },
      [=] { return B::run_lengths(b, a, keys_out, number, n); });

  // Values of 4 bytes, whatever they are.
  if constexpr (is_integer)
    row("sort-pairs", element, log2, [=] { return A::sort_pairs(in, a, b, keys, keys_out, n); },
        [=] { return B::sort_pairs(in, a, b, keys, keys_out, n); });
  auto sort = [=](const char *name) {
    row(name, element, log2, [=] { return A::sort(in, a, b, n); }, [=] { return B::sort(in, a, b, n); });
  };
  sort("sort");
  if constexpr (is_integer) {
    generate<<<4096, 256>>>(in, n, FEW);
    sort("sort-few");
    generate<<<4096, 256>>>(in, n, SORTED);
    sort("sort-sorted");
  }
  CHECK(cudaDeviceSynchronize());
  for (void *memory : {(void *)in, (void *)a, (void *)b, (void *)keys, (void *)keys_out, (void *)number})
    CHECK(cudaFree(memory));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: cub REPEATS ROWS LOG2...\n");
    return 1;
  }
  repeats = std::max(1, std::atoi(argv[1]));
  std::istringstream names(argv[2]);
  for (std::string name; std::getline(names, name, ',');)
    rows_wanted.insert(name);
  for (int i = 3; i < argc; ++i) {
    int log2 = std::atoi(argv[i]);
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
