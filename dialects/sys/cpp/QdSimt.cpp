// Subgroup and block ops: verifiers and folders.
#include "Combiner.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qd;
using namespace qd::simt;

#define GET_OP_CLASSES
#include "QdSimt.cpp.inc"

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

OpFoldResult ShuffleOp::fold(FoldAdaptor adaptor) {
  // Every mode but idx reads its own lane at distance 0.
  auto lane = dyn_cast_if_present<IntegerAttr>(adaptor.getLane());
  if (getMode() != ShuffleMode::Idx && lane && lane.getValue().isZero())
    return getValue();
  return {};
}

LogicalResult BroadcastOp::verify() {
  IntegerAttr lane;
  if (matchPattern(getLane(), m_Constant(&lane)) &&
      (lane.getInt() < 0 || lane.getInt() >= 64))
    return emitOpError("'lane' is ") << lane.getInt() << ", outside any subgroup (0 to 63)";
  return success();
}

//===----------------------------------------------------------------------===//
// Votes and masks
//===----------------------------------------------------------------------===//

OpFoldResult AllOp::fold(FoldAdaptor adaptor) { return adaptor.getPredicate(); }
OpFoldResult AnyOp::fold(FoldAdaptor adaptor) { return adaptor.getPredicate(); }

LogicalResult BallotFirstNOp::verify() {
  int32_t n = getN();
  if (n < 1 || n > 32)
    return emitOpError("'n' must be from 1 to 32, but is ") << n;
  return success();
}

OpFoldResult LanemaskOp::fold(FoldAdaptor adaptor) {
  auto lane = dyn_cast_if_present<IntegerAttr>(adaptor.getLane());
  unsigned width = getMask().getType().getIntOrFloatBitWidth();
  if (!lane || lane.getValue().uge(width))
    return {};
  unsigned at = lane.getValue().getZExtValue();
  APInt below = APInt::getLowBitsSet(width, at);
  APInt self = APInt::getOneBitSet(width, at);
  APInt mask(width, 0);
  switch (getRelation()) {
  case LaneRelation::Lt:
    mask = below;
    break;
  case LaneRelation::Le:
    mask = below | self;
    break;
  case LaneRelation::Eq:
    mask = self;
    break;
  case LaneRelation::Gt:
    mask = ~(below | self);
    break;
  case LaneRelation::Ge:
    mask = ~below;
    break;
  }
  return IntegerAttr::get(getMask().getType(), mask);
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

// All combining ops agree on accessors, not on a base class.
#define QD_COMBINE(OP)                                                                             \
  LogicalResult OP::verify() {                                                                     \
    return verifyCombiner(*this, getKind(), getIdentities(), getCombiner(),                        \
                          getValues().getTypes());                                                 \
  }                                                                                                \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location>,                \
                                     ValueRange operands, DictionaryAttr attributes,               \
                                     OpaqueProperties properties, RegionRange regions,             \
                                     SmallVectorImpl<Type> &types) {                               \
    Adaptor adaptor(operands, attributes, properties, regions);                                    \
    llvm::append_range(types, adaptor.getValues().getTypes());                                     \
    return success();                                                                              \
  }
QD_COMBINE(ReduceOp)
QD_COMBINE(ReduceAllOp)
QD_COMBINE(InclusiveScanOp)
QD_COMBINE(ExclusiveScanOp)
QD_COMBINE(SegmentedReduceOp)
QD_COMBINE(BlockReduceOp)
QD_COMBINE(BlockReduceAllOp)
QD_COMBINE(BlockInclusiveScanOp)
QD_COMBINE(BlockExclusiveScanOp)
#undef QD_COMBINE

LogicalResult BitonicSortKvOp::verify() {
  if (getUnsignedKey() && !isa<IntegerType>(getKey().getType()))
    return emitOpError("'unsigned_key' needs an integer key, but 'key' is ") << getKey().getType();
  if (getUnsignedValue() && !isa<IntegerType>(getValue().getType()))
    return emitOpError("'unsigned_value' needs an integer value, but 'value' is ")
           << getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

static bool isShared(MemRefType type) {
  return gpu::GPUDialect::isWorkgroupMemoryAddressSpace(type.getMemorySpace());
}

LogicalResult BlockSharedOp::verify() {
  auto type = cast<MemRefType>(getMemref().getType());
  if (!type.hasStaticShape())
    return emitOpError("needs a static shape, but 'memref' is ") << type;
  if (!isShared(type))
    return emitOpError("'memref' must be in #gpu.address_space<workgroup>, but is ") << type;
  Operation *parent = getOperation()->getParentOp();
  if (parent && !isa<grid::PhaseOp, FunctionOpInterface>(parent))
    return emitOpError("must stand at the top of a phase or of an outlined body, not in '")
           << parent->getName() << "'";
  return success();
}

LogicalResult BlockRadixRankOp::verify() {
  int32_t bits = getRadixBits();
  if (bits < 1 || bits > 10)
    return emitOpError("'radix_bits' must be from 1 to 10, but is ") << bits;
  for (auto [name, value] : {std::pair("histogram", getHistogram()), std::pair("prefix", getPrefix())}) {
    auto type = cast<MemRefType>(value.getType());
    if (!isShared(type))
      return emitOpError("'") << name << "' must be in #gpu.address_space<workgroup>, but is " << type;
    if (!type.hasStaticShape() || type.getDimSize(0) < (int64_t(1) << bits))
      return emitOpError("'") << name << "' must hold " << (1 << bits) << " elements for "
                              << bits << " radix bits, but is " << type;
  }
  if (getHistogram() == getPrefix())
    return emitOpError("'histogram' and 'prefix' are the same buffer");
  return success();
}
