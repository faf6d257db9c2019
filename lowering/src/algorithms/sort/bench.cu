// What CUB does for the rows: in `rows` of cub.cu.
auto restore = [=] { CHECK(cudaMemcpy(a, in, sizeof(T) * n, cudaMemcpyDeviceToDevice)); };
auto sort = [=](const char *name) {
  row(name, [=](void *s, size_t &bytes, auto n, auto *) {
    cub::DoubleBuffer<T> of(a, b);
    return cub::DeviceRadixSort::SortKeys(s, bytes, of, n);
  }, restore);
};
sort("sort");
if constexpr (std::is_integral<T>::value) {
  // Values of 4 bytes, whatever they are.
  row("sort-pairs", [=](void *s, size_t &bytes, auto n, auto *) {
    cub::DoubleBuffer<T> of(a, b);
    cub::DoubleBuffer<uint32_t> values(keys, keys_out);
    return cub::DeviceRadixSort::SortPairs(s, bytes, of, values, n);
  }, restore);
  generate<<<4096, 256>>>(in, n, FEW);
  sort("sort-few");
  generate<<<4096, 256>>>(in, n, SORTED);
  sort("sort-sorted");
  generate<<<4096, 256>>>(in, n, RANDOM);
}
