// Bit operations: folders.
#include "Qd.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace qd::math;

#define GET_OP_CLASSES
#include "QdMath.cpp.inc"

/// Folds a one-operand bit op of constant operand by `count`.
static OpFoldResult foldBits(Attribute operand, MLIRContext *context,
                             function_ref<unsigned(const APInt &)> count) {
  auto value = dyn_cast_if_present<IntegerAttr>(operand);
  if (!value)
    return {};
  return IntegerAttr::get(IntegerType::get(context, 32), count(value.getValue()));
}

OpFoldResult PopcntOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getValue(), getContext(), [](const APInt &v) { return v.popcount(); });
}

OpFoldResult ClzOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getValue(), getContext(), [](const APInt &v) { return v.countl_zero(); });
}

OpFoldResult FfsOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getValue(), getContext(),
                  [](const APInt &v) { return v.isZero() ? 0 : v.countr_zero() + 1; });
}

OpFoldResult FnsOp::fold(FoldAdaptor adaptor) {
  auto mask = dyn_cast_if_present<IntegerAttr>(adaptor.getMask());
  auto base = dyn_cast_if_present<IntegerAttr>(adaptor.getBase());
  auto offset = dyn_cast_if_present<IntegerAttr>(adaptor.getOffset());
  if (!mask || !base || !offset)
    return {};
  uint32_t bits = mask.getValue().getZExtValue();
  uint64_t start = base.getValue().getZExtValue();
  int64_t wanted = offset.getValue().getSExtValue();
  if (start >= 32)
    return {};
  int64_t step = wanted < 0 ? -1 : 1;
  int64_t left = wanted == 0 ? 1 : std::abs(wanted);
  int64_t found = -1;
  for (int64_t bit = start; bit >= 0 && bit < 32; bit += step) {
    if ((bits >> bit) & 1 && --left == 0) {
      found = bit;
      break;
    }
    if (wanted == 0)
      break;
  }
  return IntegerAttr::get(IntegerType::get(getContext(), 32), APInt(32, found, /*isSigned=*/true));
}
