// What CUB does for the rows: in `rows` of cub.cu.
flags<<<4096, 256>>>(keys, n);
row("select", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DeviceSelect::Flagged(s, bytes, in, keys, a, number, n);
});
if constexpr (std::is_same<T, uint32_t>::value)
  row("select-if", [=](void *s, size_t &bytes, auto n, auto *number) {
    return cub::DeviceSelect::If(s, bytes, in, a, number, n, IsOdd{});
  });
