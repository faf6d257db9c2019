// What CUB does for the rows: in `rows` of cub.cu.
row("exclusive_scan", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceScan::ExclusiveSum(s, bytes, in, a, n);
});
row("inclusive_scan", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceScan::InclusiveSum(s, bytes, in, a, n);
});
// Ours in the fixed order of floats, beside the peer's plain one; so in the other files.
row("scan_in_order", [=](void *s, size_t &bytes, auto n, auto *) {
  return cub::DeviceScan::InclusiveSum(s, bytes, in, a, n);
});
