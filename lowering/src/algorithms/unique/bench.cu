// What CUB does for the rows: in `rows` of cub.cu.
if (wanted("unique", element) || wanted("run_lengths", element))
  fill_runs(b, n);
row("unique", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DeviceSelect::Unique(s, bytes, b, a, number, n);
});
row("run_lengths", [=](void *s, size_t &bytes, auto n, auto *number) {
  return cub::DeviceRunLengthEncode::Encode(s, bytes, b, a, keys_out, number, n);
});
