// What CUB does for the rows: in `rows` of cub.cu.
row("reduce", [=](void *s, size_t &bytes, auto n, auto *) { return cub::DeviceReduce::Sum(s, bytes, in, a, n); });
row("reduce_in_order", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceReduce::Sum(s, bytes, in, a, n);
});
if constexpr (sizeof(T) == 4) {
  auto squares = thrust::make_transform_iterator(in, Square{});
  row("transform-reduce", [=](void *s, size_t &bytes, auto n, auto *) {
    return cub::DeviceReduce::Sum(s, bytes, squares, a, n);
  });
}
