// What CUB does for the rows: in `rows` of cub.cu.
// What is not flagged comes out last to first.
flags<<<4096, 256>>>(keys, n);
row("partition", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DevicePartition::Flagged(s, bytes, in, keys, a, number, n);
});
