// Device-wide algorithms: verifiers.
#include "Combiner.h"
#include "Placement.h"

using namespace mlir;
using namespace qd;
using namespace qd::algo;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses what `reduce_by_key` writes: the runs' keys, any number of values, and how many runs there are.
static ParseResult parseRuns(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &keys,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                             OpAsmParser::UnresolvedOperand &runs, Type &keysType,
                             SmallVectorImpl<Type> &valueTypes, Type &runsType) {
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseOperandList(values) || parser.parseColonTypeList(valueTypes))
    return failure();
  if (values.size() < 3)
    return parser.emitError(start, "expected the runs' keys, their values and their number");
  if (values.size() != valueTypes.size())
    return parser.emitError(start) << values.size() << " operands have " << valueTypes.size() << " types";
  keys = values.front(), runs = values.pop_back_val();
  values.erase(values.begin());
  keysType = valueTypes.front(), runsType = valueTypes.pop_back_val();
  valueTypes.erase(valueTypes.begin());
  return success();
}

static void printRuns(OpAsmPrinter &printer, Operation *, Value keys, OperandRange values, Value runs,
                      Type keysType, TypeRange valueTypes, Type runsType) {
  printer << keys << ", " << values << ", " << runs << " : " << keysType << ", " << valueTypes << ", "
          << runsType;
}

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

/// An operand as messages call it.
static std::string quoted(const AlgorithmOperand &operand, ArrayRef<AlgorithmOperand> all) {
  std::string name = operand.name.str();
  auto isMate = [&](const AlgorithmOperand &other) { return other.group == operand.group; };
  if (llvm::count_if(all, isMate) > 1)
    name += "[" + std::to_string(operand.place) + "]";
  return "'" + name + "'";
}

/// Rejects a buffer that is passed twice, naming both operands. Of several inputs or values two may
/// well be the same.
static LogicalResult verifyDistinct(Operation *op, ArrayRef<AlgorithmOperand> operands) {
  for (const AlgorithmOperand &one : operands)
    for (const AlgorithmOperand &other : operands.drop_front(&one - operands.begin() + 1)) {
      bool isRead = one.role == OperandRole::Input || one.role == OperandRole::Value;
      bool areInputs = isRead && one.group == other.group;
      if (one.value == other.value && !areInputs)
        return op->emitOpError() << quoted(one, operands) << " and " << quoted(other, operands)
                                 << " are the same buffer";
    }
  return success();
}

/// The length of a buffer, 0 where it is not known.
static int64_t lengthOf(Value buffer) {
  int64_t length = cast<MemRefType>(buffer.getType()).getDimSize(0);
  return ShapedType::isDynamic(length) ? 0 : length;
}

/// Rejects buffers that are known to be too short for what is counted, as far as they hold something
/// for each element. Scratch may be: what is needed depends on the live count.
static LogicalResult verifyLengths(Operation *op, ArrayRef<AlgorithmOperand> operands) {
  auto isCounted = [](const AlgorithmOperand &operand) {
    return operand.role == OperandRole::Input || operand.role == OperandRole::Key;
  };
  const AlgorithmOperand *first = llvm::find_if(operands, isCounted);
  for (const AlgorithmOperand &operand : operands) {
    auto type = cast<MemRefType>(operand.value.getType());
    if (type.getRank() == 0 || type.isDynamicDim(0))
      continue;
    int64_t length = type.getDimSize(0);
    if (operand.role == OperandRole::Total && length < 1)
      return op->emitOpError() << quoted(operand, operands) << " holds no element, but one is written";
    bool isPerElement = operand.role == OperandRole::Output || operand.role == OperandRole::Value ||
                        operand.role == OperandRole::Workspace;
    if (!isPerElement || first == operands.end())
      continue;
    // Of several that are counted, the one with its number.
    const AlgorithmOperand *counted = first + operand.place;
    if (counted >= operands.end() || counted->group != first->group)
      counted = first;
    if (int64_t needed = lengthOf(counted->value); length < needed)
      return op->emitOpError() << quoted(operand, operands) << " holds " << length << " elements, but "
                               << quoted(*counted, operands) << " of this length needs " << needed;
  }
  return success();
}

LogicalResult qd::verifyAlgorithm(Operation *op) {
  auto algorithm = cast<AlgorithmOpInterface>(op);
  SmallVector<AlgorithmOperand> operands = algorithm.getAlgorithmOperands();
  if (operands.size() != op->getNumOperands())
    return op->emitOpError("has ") << op->getNumOperands() << " operands, of which its definition gives "
                                   << operands.size() << " a role";
  if (failed(verifyTopLevel(op)))
    return failure();
  if (std::optional<uint32_t> capacity = algorithm.getLog256Capacity())
    if (failed(verifyCapacity(op, *capacity)))
      return failure();
  if (failed(verifyDistinct(op, operands)))
    return failure();
  for (const AlgorithmOperand &operand : operands)
    if (operand.role == OperandRole::Count && failed(verifyOneElement(op, operand.name, operand.value)))
      return failure();
  return verifyLengths(op, operands);
}

//===----------------------------------------------------------------------===//
// What several verify
//===----------------------------------------------------------------------===//

static Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

/// Scratch of reduce and the scans is as wide as the elements, and at least a word.
static LogicalResult verifyScratchWidth(Operation *op, Value scratch, Type element) {
  unsigned width = std::max(32u, element.getIntOrFloatBitWidth());
  if (elementOf(scratch).getIntOrFloatBitWidth() == width)
    return success();
  return op->emitOpError("'scratch' of ")
         << element << " elements must hold i" << width << ", but is " << scratch.getType();
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
  // A boolean is a byte.
  if (!element.isIntOrFloat() || (element.getIntOrFloatBitWidth() % 8 != 0 && !element.isInteger(1)))
    return op->emitOpError("'") << name << "' must hold scalars of whole bytes, but is " << type;
  return success();
}

/// Same element type and row shape; lengths may differ.
static bool sameRows(Value a, Value b) {
  auto x = cast<MemRefType>(a.getType()), y = cast<MemRefType>(b.getType());
  return x.getElementType() == y.getElementType() && x.getRank() == y.getRank() &&
         x.getShape().drop_front() == y.getShape().drop_front();
}

static LogicalResult mustMatch(Operation *op, StringRef a, Value va, StringRef b, Value vb) {
  return op->emitOpError("'") << a << "' is " << va.getType() << ", but '" << b << "' is "
                              << vb.getType() << ": they must hold the same elements";
}

//===----------------------------------------------------------------------===//
// Reduce and scans
//===----------------------------------------------------------------------===//

template <typename CombineOp>
static LogicalResult verifyCombine(CombineOp op) {
  size_t k = op.getInputs().size();
  if (op.getOutputs().size() != k || op.getScratch().size() != k)
    return op.emitOpError("has ") << k << " inputs, " << op.getOutputs().size() << " outputs and "
                                  << op.getScratch().size()
                                  << " scratch buffers: their numbers must be the same";
  SmallVector<Type> types;
  for (size_t i = 0; i < k; ++i) {
    std::string at = k == 1 ? "" : "[" + std::to_string(i) + "]";
    Value in = op.getInputs()[i], out = op.getOutputs()[i], scratch = op.getScratch()[i];
    if (elementOf(in) != elementOf(out))
      return mustMatch(op, "inputs" + at, in, "outputs" + at, out);
    if (failed(verifyScratchWidth(op, scratch, elementOf(in))))
      return failure();
    types.push_back(elementOf(in));
  }
  return verifyCombiner(op, op.getKind(), op.getIdentities(), op.getCombiner(), types);
}

LogicalResult ReduceOp::verify() { return verifyCombine(*this); }
LogicalResult ExclusiveScanOp::verify() { return verifyCombine(*this); }
LogicalResult InclusiveScanOp::verify() { return verifyCombine(*this); }

//===----------------------------------------------------------------------===//
// Select and partition
//===----------------------------------------------------------------------===//

template <typename CompactOp>
static LogicalResult verifyCompact(CompactOp op) {
  if (failed(verifyRows(op, "input", op.getInput())) ||
      failed(verifyRows(op, "output", op.getOutput())))
    return failure();
  if (!sameRows(op.getInput(), op.getOutput()))
    return mustMatch(op, "input", op.getInput(), "output", op.getOutput());
  return success();
}

LogicalResult SelectOp::verify() { return verifyCompact(*this); }
LogicalResult PartitionOp::verify() { return verifyCompact(*this); }

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

LogicalResult SortOp::verify() {
  Type key = elementOf(getKeys());
  int64_t width = key.getIntOrFloatBitWidth();
  if (std::optional<uint32_t> bits = getEndBit()) {
    int32_t end = *bits;
    if (end <= 0 || end % 8 != 0 || end > std::max<int64_t>(width, 8))
      return emitOpError("'end_bit' must be a positive multiple of 8 and at most the width of ")
             << key << ", " << width << ", but is " << end;
  }
  if (getIsUnsigned() && isa<FloatType>(key))
    return emitOpError("'unsigned' needs integer keys, but 'keys' is ") << getKeys().getType();
  if (!sameRows(getKeys(), getTmpKeys()))
    return mustMatch(*this, "keys", getKeys(), "tmp_keys", getTmpKeys());
  if (bool(getValues()) != bool(getTmpValues()))
    return emitOpError("'values' and 'tmp_values' go together");
  if (!getValues())
    return success();
  if (failed(verifyRows(*this, "values", getValues())))
    return failure();
  if (!sameRows(getValues(), getTmpValues()))
    return mustMatch(*this, "values", getValues(), "tmp_values", getTmpValues());
  return verifyLength(*this, "tmp_values", getTmpValues(), lengthOf(getValues()),
                      "'values' of this length");
}

LogicalResult SortOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  // All of the key's bits is what is sorted by if nothing else is said.
  if (getEndBit() != elementOf(getKeys()).getIntOrFloatBitWidth())
    return failure();
  removeEndBitAttr();
  return success();
}

LogicalResult ParallelSortOp::verify() {
  if (getIsUnsigned() && isa<FloatType>(elementOf(getKeys())))
    return emitOpError("'unsigned' needs integer keys, but 'keys' is ") << getKeys().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Reduce by key
//===----------------------------------------------------------------------===//

LogicalResult ReduceByKeyOp::verify() {
  if (!sameRows(getKeys(), getKeysOut()))
    return mustMatch(*this, "keys", getKeys(), "keys_out", getKeysOut());
  size_t k = getValues().size();
  if (getValuesOut().size() != k)
    return emitOpError("has ") << k << " values and " << getValuesOut().size()
                               << " outputs for them: their numbers must be the same";
  SmallVector<Type> types;
  for (auto [i, in, out] : llvm::enumerate(getValues(), getValuesOut())) {
    std::string at = k == 1 ? "" : "[" + std::to_string(i) + "]";
    if (!sameRows(in, out))
      return mustMatch(*this, "values" + at, in, "values_out" + at, out);
    types.push_back(elementOf(in));
  }
  return verifyCombiner(*this, getKind(), getIdentities(), getCombiner(), types);
}

//===----------------------------------------------------------------------===//
// Sizing
//===----------------------------------------------------------------------===//

LogicalResult ScratchSlotsOp::verify() {
  std::optional<uint32_t> capacity = getLog256MaxN();
  return capacity ? verifyCapacity(*this, *capacity) : success();
}
