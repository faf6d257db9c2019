// What CUB does for the rows: in `rows` of cub.cu.
if (wanted("reduce_by_key", element) || wanted("by_key_in_order", element))
  fill_runs(keys, n);
row("reduce_by_key", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DeviceReduce::ReduceByKey(s, bytes, keys, keys_out, in, a, number, cuda::std::plus<>{}, n);
});
row("by_key_in_order", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DeviceReduce::ReduceByKey(s, bytes, keys, keys_out, in, a, number, cuda::std::plus<>{}, n);
});
