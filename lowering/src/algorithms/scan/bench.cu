// What CUB does for the rows: in `rows` of cub.cu.
row("exclusive_scan", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceScan::ExclusiveSum(s, bytes, in, a, n);
});
row("inclusive_scan", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceScan::InclusiveSum(s, bytes, in, a, n);
});
