// Subgroup and block ops: verifiers and folders.
#include "Combiner.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace qd;
using namespace qd::simt;

#define GET_OP_CLASSES
#include "QdSimt.cpp.inc"

/// Whether a tile holds one lane, so that nothing is combined with anything.
static bool isOneLane(std::optional<uint32_t> tile) { return tile == 0; }

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult ShuffleOp::verify() {
  bool isDistance = getMode() == ShuffleMode::Up || getMode() == ShuffleMode::Down;
  if (getInRange() && !isDistance)
    return emitOpError("'in_range' is for 'up' and 'down' alone");
  return success();
}

OpFoldResult ShuffleOp::fold(FoldAdaptor adaptor) {
  // Each lane reads itself: at distance 0, or by its own number.
  if (getMode() == ShuffleMode::Idx)
    return getLane().getDefiningOp<LaneIdOp>() ? getValue() : Value();
  auto distance = dyn_cast_if_present<IntegerAttr>(adaptor.getLane());
  return distance && distance.getValue().isZero() ? getValue() : Value();
}

OpFoldResult RotateOp::fold(FoldAdaptor adaptor) {
  auto delta = dyn_cast_if_present<IntegerAttr>(adaptor.getDelta());
  if (isOneLane(getTile()) || (delta && delta.getValue().isZero()))
    return getValue();
  return {};
}

//===----------------------------------------------------------------------===//
// Votes and masks
//===----------------------------------------------------------------------===//

static OpFoldResult foldVote(Value predicate, Attribute constant, std::optional<uint32_t> tile) {
  if (isOneLane(tile))
    return predicate;
  return constant;
}

OpFoldResult AllOp::fold(FoldAdaptor adaptor) {
  return foldVote(getPredicate(), adaptor.getPredicate(), getTile());
}
OpFoldResult AnyOp::fold(FoldAdaptor adaptor) {
  return foldVote(getPredicate(), adaptor.getPredicate(), getTile());
}

OpFoldResult AllEqualOp::fold(FoldAdaptor adaptor) {
  // A NaN does not equal itself, and a float that is not known may be one.
  if (auto value = dyn_cast_if_present<FloatAttr>(adaptor.getValue()))
    return BoolAttr::get(getContext(), !value.getValue().isNaN());
  if (isa_and_present<IntegerAttr>(adaptor.getValue()) ||
      (isOneLane(getTile()) && isa<IntegerType>(getValue().getType())))
    return BoolAttr::get(getContext(), true);
  return {};
}

/// No lanes at all; which lanes there are is not known before the wave is.
static OpFoldResult foldBallot(Attribute predicate, Type mask) {
  auto constant = dyn_cast_if_present<IntegerAttr>(predicate);
  if (!constant || !constant.getValue().isZero())
    return {};
  return IntegerAttr::get(mask, 0);
}

OpFoldResult BallotOp::fold(FoldAdaptor adaptor) {
  return foldBallot(adaptor.getPredicate(), getType());
}
OpFoldResult BallotFirstNOp::fold(FoldAdaptor adaptor) {
  return foldBallot(adaptor.getPredicate(), getType());
}

LogicalResult BallotFirstNOp::verify() {
  int32_t n = getN();
  if (n < 1 || n > 32)
    return emitOpError("'n' must be from 1 to 32, but is ") << n;
  return success();
}

LogicalResult MatchAnyOp::verify() {
  std::optional<uint32_t> bits = getBits();
  unsigned width = getValue().getType().getIntOrFloatBitWidth();
  if (bits && (*bits < 1 || *bits > width))
    return emitOpError("'bits' must be from 1 to ")
           << width << ", but is " << static_cast<int32_t>(*bits);
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

// In a tile of one lane the combination is that lane's value. (The exclusive
// scan, which is an identity there, is a canonical form in Rust.)
#define QD_FOLD_ONE_LANE(OP)                                                                       \
  LogicalResult OP::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {                    \
    if (!isOneLane(getTile()))                                                                     \
      return failure();                                                                            \
    llvm::append_range(results, getValues());                                                      \
    return success();                                                                              \
  }
QD_FOLD_ONE_LANE(ReduceOp)
QD_FOLD_ONE_LANE(ReduceAllOp)
QD_FOLD_ONE_LANE(InclusiveScanOp)
QD_FOLD_ONE_LANE(SegmentedReduceOp)
#undef QD_FOLD_ONE_LANE

LogicalResult BitonicSortKvOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (!isOneLane(getTile()))
    return failure();
  results.append({getKey(), getValue()});
  return success();
}

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

/// The block size around an op, where it can be seen: that of its phase, or of
/// the outlined body it stands in.
static std::optional<int64_t> threadsAround(Operation *op) {
  if (auto phase = op->getParentOfType<grid::PhaseOp>())
    return phase.getThreads();
  if (auto body = op->getParentOfType<FunctionOpInterface>())
    if (auto threads = body->getAttrOfType<IntegerAttr>("qd.threads"))
      return threads.getInt();
  return std::nullopt;
}

OpFoldResult BlockDimOp::fold(FoldAdaptor) {
  if (std::optional<int64_t> threads = threadsAround(*this))
    return IntegerAttr::get(getType(), *threads);
  return {};
}

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
  bool atTop = isa_and_present<grid::PhaseOp>(parent) ||
               (isa_and_present<FunctionOpInterface>(parent) && !isa<grid::KernelOp>(parent));
  if (parent && !atTop)
    return emitOpError("must be at the top level of a phase or of an outlined body, not in '")
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
  std::optional<int64_t> threads = threadsAround(*this);
  if (threads && *threads % (int64_t(1) << bits) != 0)
    return emitOpError("'radix_bits' is ")
           << bits << ", which needs blocks of a multiple of " << (1 << bits)
           << " threads, but this one has " << *threads;
  return success();
}
