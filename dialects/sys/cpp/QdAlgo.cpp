// Device-wide algorithms: verifiers.
#include "Combiner.h"
#include "Placement.h"

using namespace mlir;
using namespace qd;
using namespace qd::algo;

#define GET_OP_CLASSES
#include "QdAlgo.cpp.inc"

//===----------------------------------------------------------------------===//
// What every algorithm verifies
//===----------------------------------------------------------------------===//

static LogicalResult verifyCapacity(Operation *op, int32_t capacity) {
  if (capacity < 1 || capacity > 4)
    return op->emitOpError("'log256_max_n' must be from 1 to 4 (256^4 = 2^32 elements), but is ")
           << capacity;
  return success();
}

/// Rejects a buffer that is passed twice, naming both operands.
static LogicalResult verifyDistinct(Operation *op, ArrayRef<std::pair<std::string, Value>> buffers) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size(); ++j)
      if (buffers[i].second && buffers[i].second == buffers[j].second)
        return op->emitOpError("'")
               << buffers[i].first << "' and '" << buffers[j].first << "' are the same buffer";
  return success();
}

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

/// Scratch of reduce and the scans is as wide as the elements.
static LogicalResult verifyScratchWidth(Operation *op, Value scratch, Type element) {
  if (elementOf(scratch).getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth())
    return success();
  return op->emitOpError("'scratch' of ")
         << element << " elements must hold i" << element.getIntOrFloatBitWidth() << ", but is "
         << scratch.getType();
}

/// The length of a buffer, 0 where it is not known.
static int64_t lengthOf(Value buffer) {
  int64_t length = cast<MemRefType>(buffer.getType()).getDimSize(0);
  return ShapedType::isDynamic(length) ? 0 : length;
}

/// Rejects a statically known length below `needed`.
static LogicalResult verifyLength(Operation *op, const Twine &name, Value buffer, int64_t needed,
                                  StringRef why) {
  int64_t length = cast<MemRefType>(buffer.getType()).getDimSize(0);
  if (ShapedType::isDynamic(length) || length >= needed)
    return success();
  return op->emitOpError("'") << name << "' holds " << length << " elements, but " << why
                              << " needs " << needed;
}

/// Sorting moves rows of scalars; a trailing dimension must be static.
static LogicalResult verifyRows(Operation *op, StringRef name, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 2 && ShapedType::isDynamic(type.getDimSize(1)))
    return op->emitOpError("'") << name << "' must have a static trailing dimension, but is " << type;
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return op->emitOpError("'") << name << "' must hold scalars of whole bytes, but is " << type;
  return success();
}

/// Same element type and row shape; lengths may differ.
static bool sameRows(Value a, Value b) {
  auto x = cast<MemRefType>(a.getType()), y = cast<MemRefType>(b.getType());
  return x.getElementType() == y.getElementType() && x.getRank() == y.getRank() &&
         x.getShape().drop_front() == y.getShape().drop_front();
}

/// Room for the one number that is written.
static LogicalResult verifyCountOut(Operation *op, StringRef name, Value buffer) {
  if (cast<MemRefType>(buffer.getType()).getRank() == 0)
    return success();
  return verifyLength(op, name, buffer, 1, "a count");
}

static LogicalResult mustMatch(Operation *op, StringRef a, Value va, StringRef b, Value vb) {
  return op->emitOpError("'") << a << "' is " << va.getType() << ", but '" << b << "' is "
                              << vb.getType() << ": they must hold the same elements";
}

//===----------------------------------------------------------------------===//
// Reduce and scans
//===----------------------------------------------------------------------===//

template <typename CombineOp>
static LogicalResult verifyCombine(CombineOp op, bool reduces) {
  if (failed(verifyTopLevel(op)) || failed(verifyCapacity(op, op.getLog256MaxN())))
    return failure();
  size_t k = op.getInputs().size();
  if (op.getOutputs().size() != k || op.getScratch().size() != k)
    return op.emitOpError("has ") << k << " inputs, " << op.getOutputs().size() << " outputs and "
                                  << op.getScratch().size()
                                  << " scratch buffers: their numbers must be the same";
  SmallVector<Type> types;
  SmallVector<std::pair<std::string, Value>> buffers;
  for (size_t i = 0; i < k; ++i) {
    std::string at = k == 1 ? "" : std::to_string(i);
    Value in = op.getInputs()[i], out = op.getOutputs()[i], scratch = op.getScratch()[i];
    if (elementOf(in) != elementOf(out))
      return mustMatch(op, "input" + at, in, "output" + at, out);
    if (failed(verifyScratchWidth(op, scratch, elementOf(in))))
      return failure();
    types.push_back(elementOf(in));
    buffers.push_back({"output" + at, out});
    buffers.push_back({"scratch" + at, scratch});
  }
  for (size_t i = 0; i < k; ++i)
    buffers.push_back({k == 1 ? "input" : "input" + std::to_string(i), op.getInputs()[i]});
  // Two inputs may well be the same buffer; nothing else may.
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size(); ++j)
      if (buffers[i].second == buffers[j].second && i < 2 * k)
        return op.emitOpError("'") << buffers[j].first << "' and '" << buffers[i].first
                                   << "' are the same buffer";
  for (size_t i = 0; i < k; ++i)
    if (failed(verifyLength(op, k == 1 ? "output" : "output" + std::to_string(i),
                            op.getOutputs()[i], reduces ? 1 : lengthOf(op.getInputs()[i]),
                            reduces ? "a reduction" : "an input of this length")))
      return failure();
  return verifyCombiner(op, op.getKind(), op.getIdentities(), op.getCombiner(), types);
}

LogicalResult ReduceOp::verify() { return verifyCombine(*this, /*reduces=*/true); }
LogicalResult ExclusiveScanOp::verify() { return verifyCombine(*this, /*reduces=*/false); }
LogicalResult InclusiveScanOp::verify() { return verifyCombine(*this, /*reduces=*/false); }

//===----------------------------------------------------------------------===//
// Select and partition
//===----------------------------------------------------------------------===//

template <typename CompactOp>
static LogicalResult verifyCompact(CompactOp op) {
  if (failed(verifyTopLevel(op)) || failed(verifyCapacity(op, op.getLog256MaxN())) ||
      failed(verifyRows(op, "input", op.getInput())) ||
      failed(verifyRows(op, "output", op.getOutput())))
    return failure();
  if (!sameRows(op.getInput(), op.getOutput()))
    return mustMatch(op, "input", op.getInput(), "output", op.getOutput());
  if (failed(verifyLength(op, "output", op.getOutput(), lengthOf(op.getInput()),
                          "an input of this length")) ||
      failed(verifyCountOut(op, "num_out", op.getNumOut())))
    return failure();
  return verifyDistinct(op, {{"input", op.getInput()},
                             {"flags", op.getFlags()},
                             {"output", op.getOutput()},
                             {"num_out", op.getNumOut()},
                             {"scratch", op.getScratch()},
                             {"count", op.getCount()}});
}

LogicalResult SelectOp::verify() { return verifyCompact(*this); }
LogicalResult PartitionOp::verify() { return verifyCompact(*this); }

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

LogicalResult SortOp::verify() {
  if (failed(verifyTopLevel(*this)) || failed(verifyCapacity(*this, getLog256MaxN())))
    return failure();
  Type key = elementOf(getKeys());
  int64_t width = key.getIntOrFloatBitWidth();
  if (std::optional<uint32_t> bits = getEndBit()) {
    int32_t end = *bits;
    if (end <= 0 || end % 8 != 0 || end > width)
      return emitOpError("'end_bit' must be a positive multiple of 8 and at most the width of ")
             << key << ", " << width << ", but is " << end;
  }
  if (getIsUnsigned() && isa<FloatType>(key))
    return emitOpError("'unsigned' needs integer keys, but 'keys' is ") << getKeys().getType();
  if (!sameRows(getKeys(), getTmpKeys()))
    return mustMatch(*this, "keys", getKeys(), "tmp_keys", getTmpKeys());
  if (failed(verifyLength(*this, "tmp_keys", getTmpKeys(), lengthOf(getKeys()),
                          "'keys' of this length")))
    return failure();
  if (bool(getValues()) != bool(getTmpValues()))
    return emitOpError("'values' and 'tmp_values' go together");
  if (getValues()) {
    if (failed(verifyRows(*this, "values", getValues())))
      return failure();
    if (!sameRows(getValues(), getTmpValues()))
      return mustMatch(*this, "values", getValues(), "tmp_values", getTmpValues());
    if (failed(verifyLength(*this, "values", getValues(), lengthOf(getKeys()),
                            "'keys' of this length")) ||
        failed(verifyLength(*this, "tmp_values", getTmpValues(), lengthOf(getValues()),
                            "'values' of this length")))
      return failure();
  }
  return verifyDistinct(*this, {{"keys", getKeys()},
                                {"tmp_keys", getTmpKeys()},
                                {"values", getValues()},
                                {"tmp_values", getTmpValues()},
                                {"scratch", getScratch()},
                                {"count", getCount()}});
}

LogicalResult SortOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  // All of the key's bits is what is sorted by if nothing else is said.
  if (getEndBit() != elementOf(getKeys()).getIntOrFloatBitWidth())
    return failure();
  removeEndBitAttr();
  return success();
}

LogicalResult ParallelSortOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  if (getIsUnsigned() && isa<FloatType>(elementOf(getKeys())))
    return emitOpError("'unsigned' needs integer keys, but 'keys' is ") << getKeys().getType();
  if (getValues() && failed(verifyLength(*this, "values", getValues(), lengthOf(getKeys()),
                                         "'keys' of this length")))
    return failure();
  return verifyDistinct(*this, {{"keys", getKeys()}, {"values", getValues()}});
}

//===----------------------------------------------------------------------===//
// Reduce by key
//===----------------------------------------------------------------------===//

LogicalResult ReduceByKeyOp::verify() {
  if (failed(verifyTopLevel(*this)) || failed(verifyCapacity(*this, getLog256MaxN())))
    return failure();
  if (!sameRows(getKeys(), getKeysOut()))
    return mustMatch(*this, "keys", getKeys(), "keys_out", getKeysOut());
  if (!sameRows(getValues(), getValuesOut()))
    return mustMatch(*this, "values", getValues(), "values_out", getValuesOut());
  StringRef why = "'keys' of this length";
  if (failed(verifyLength(*this, "values", getValues(), lengthOf(getKeys()), why)) ||
      failed(verifyLength(*this, "keys_out", getKeysOut(), lengthOf(getKeys()), why)) ||
      failed(verifyLength(*this, "values_out", getValuesOut(), lengthOf(getKeys()), why)) ||
      failed(verifyCountOut(*this, "num_runs", getNumRuns())))
    return failure();
  if (failed(verifyDistinct(*this, {{"keys", getKeys()},
                                    {"values", getValues()},
                                    {"keys_out", getKeysOut()},
                                    {"values_out", getValuesOut()},
                                    {"num_runs", getNumRuns()},
                                    {"scratch", getScratch()},
                                    {"count", getCount()}})))
    return failure();
  return verifyCombiner(*this, getKind(), getIdentities(), getCombiner(), elementOf(getValues()));
}

//===----------------------------------------------------------------------===//
// Sizing
//===----------------------------------------------------------------------===//

LogicalResult ScratchSlotsOp::verify() { return verifyCapacity(*this, getLog256MaxN()); }
