// Phases and launches: verifiers and hand-written syntax.
#include "Combiner.h"
#include "Placement.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include <map>

using namespace mlir;
using namespace qd;
using namespace qd::grid;

#define GET_OP_CLASSES
#include "QdGrid.cpp.inc"

//===----------------------------------------------------------------------===//
// What may stand where
//===----------------------------------------------------------------------===//

/// Whether `op` is a step of a kernel: what a grid-wide barrier may stand
/// between.
static bool isStep(Operation *op) {
  return isa<PhaseOp, ForEachOp, DoWhileOp, IfOp, LaunchOp, FillOp, DispatchOp>(op) ||
         op->getName().getStringRef().starts_with("qd.algo.");
}

bool qd::dependsOnThread(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return isMemoryEffectFree(op) &&
         (name.starts_with("gpu.") ||
          (name.starts_with("qd.simt.") && !isa<simt::LanemaskOp>(op)));
}

/// Whether the host can evaluate an op before it launches anything.
static bool isHostArithmetic(Operation *op) {
  bool isSize = isa<simt::SubgroupSizeOp, simt::Log2SubgroupSizeOp>(op);
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 && (isSize || !dependsOnThread(op)) &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

/// Verifies that the block of a kernel, a loop or an `if` holds steps and host
/// arithmetic alone.
static LogicalResult verifySteps(Block &block, StringRef where) {
  for (Operation &op : block) {
    if (isStep(&op) || isHostArithmetic(&op) || isa<ControlOp, ScratchOp, FaultsOp, PrintsOp>(op))
      continue;
    return op.emitOpError("is not legal at the top level of ")
           << where << ": only phases, algorithms, 'qd.grid.do_while', 'qd.grid.if' and "
           << "arithmetic that the host can evaluate are";
  }
  return success();
}

LogicalResult qd::verifyTopLevel(Operation *op) {
  Operation *parent = op->getParentOp();
  if (!parent || isa<KernelOp, DoWhileOp, IfOp>(parent))
    return success();
  return op->emitOpError("is only legal at the top level of a 'qd.grid.kernel' or directly in a "
                         "'qd.grid.do_while' or a 'qd.grid.if', not in '")
         << parent->getName() << "': its grid-wide barriers would be lost";
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

// As upstream's functions, but that a body may be empty: that is what is left of
// a kernel whose steps do nothing.
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> results;
  SmallVector<DictionaryAttr> resultAttrs;
  bool variadic = false;
  (void)impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, variadic, results, resultAttrs))
    return failure();
  SmallVector<Type> inputs;
  for (const OpAsmParser::Argument &argument : arguments)
    inputs.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(inputs, results)));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  call_interface_impl::addArgAndResultAttrs(builder, result, arguments, resultAttrs,
                                            getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (Type input : inputs)
      block.addArgument(input, result.location);
  }
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("has results, but a kernel has none: it writes to its buffers");
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs())) {
    if (type.isIntOrIndexOrFloat())
      continue;
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer)
      return emitOpError("argument ") << index << " is of type " << type
                                      << ", but must be a buffer (memref) or a scalar";
    if (!buffer.getLayout().isIdentity())
      return emitOpError("argument ") << index << " is of type " << type
                                      << ", but a buffer must be contiguous";
  }
  return success();
}

/// 4 KiB.
static constexpr int64_t maxControlWords = 1024;

static LogicalResult verifyControlWords(KernelOp kernel) {
  int64_t words = 0;
  WalkResult result = kernel.getBody().walk([&](Operation *control) {
    if (!isa<ControlOp, ScratchOp>(control))
      return WalkResult::advance();
    auto type = cast<MemRefType>(control->getResult(0).getType());
    words += type.getNumElements() * (type.getElementTypeBitWidth() / 32);
    if (words <= maxControlWords)
      return WalkResult::advance();
    control->emitOpError("makes ") << words << " control words in this kernel, which has at most "
                                   << maxControlWords;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

// After the steps themselves, whose messages say more.
LogicalResult KernelOp::verifyRegions() {
  if (failed(verifySteps(getBody().front(), "a kernel")) || failed(verifyControlWords(*this)))
    return failure();
  // Not a DenseMap, which keeps two keys for itself: an id may be any number.
  std::map<int64_t, LaunchOp> launches;
  WalkResult result = getBody().walk([&](LaunchOp launch) {
    for (int64_t before : launch.getAfter())
      if (launches.count(before) == 0) {
        launch.emitOpError("waits for launch ") << before << ", which does not come before it";
        return WalkResult::interrupt();
      }
    auto [other, isNew] = launches.try_emplace(launch.getId(), launch);
    if (isNew)
      return WalkResult::advance();
    launch.emitOpError("has the id ").append(launch.getId(), " of another launch of this kernel")
            .attachNote(other->second.getLoc())
        << "the other launch";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

LogicalResult qd::verifyThreads(Operation *op, StringRef name, int64_t threads) {
  if (threads >= 1 && threads <= 1024)
    return success();
  return op->emitOpError("'") << name << "' must be from 1 to 1024, but is " << threads;
}

LogicalResult PhaseOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  return verifyThreads(*this, "threads", getThreads());
}

ParseResult ForEachOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  OptionalParseResult named = parser.parseOptionalAttribute(name, builder.getNoneType());
  if (named.has_value()) {
    if (failed(*named))
      return failure();
    result.addAttribute(getNameAttrName(result.name), name);
  }
  OpAsmParser::Argument index;
  OpAsmParser::UnresolvedOperand extent;
  if (parser.parseArgument(index) || parser.parseKeyword("to") || parser.parseOperand(extent) ||
      parser.resolveOperand(extent, builder.getIndexType(), result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("count"))) {
    OpAsmParser::UnresolvedOperand count;
    Type type;
    if (parser.parseLParen() || parser.parseOperand(count) || parser.parseColonType(type) ||
        parser.parseRParen() || parser.resolveOperand(count, type, result.operands))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("threads"))) {
    IntegerAttr threads;
    if (parser.parseLParen() ||
        parser.parseAttribute(threads, builder.getI64Type(), getThreadsAttrName(result.name),
                              result.attributes) ||
        parser.parseRParen())
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("subgroups"))) {
    StringRef word;
    if (parser.parseLParen())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<SubgroupFill> fill = symbolizeSubgroupFill(word);
    if (!fill)
      return parser.emitError(loc, "'subgroups' must be full or partial, but is '") << word << "'";
    result.addAttribute(getSubgroupsAttrName(result.name),
                        SubgroupFillAttr::get(parser.getContext(), *fill));
    if (parser.parseRParen())
      return failure();
  }
  index.type = builder.getIndexType();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, {index}))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    block.addArgument(index.type, parser.getEncodedSourceLoc(parser.getNameLoc()));
  }
  return success();
}

void ForEachOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (StringAttr name = getNameAttr()) {
    printer.printAttributeWithoutType(name);
    printer << ' ';
  }
  printer << getBody().getArgument(0) << " to " << getExtent();
  if (Value count = getCount())
    printer << " count(" << count << " : " << count.getType() << ')';
  if (auto threads = getThreads())
    printer << " threads(" << *threads << ')';
  if (auto subgroups = getSubgroups())
    printer << " subgroups(" << stringifySubgroupFill(*subgroups) << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNameAttrName(), getThreadsAttrName(), getSubgroupsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult qd::verifyOneElement(Operation *op, StringRef name, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.hasStaticShape() && type.getNumElements() == 1)
    return success();
  auto ofShape = [&](ArrayRef<int64_t> shape) { return MemRefType::get(shape, type.getElementType()); };
  return op->emitOpError("'") << name << "' must hold one element, as " << ofShape({}) << " or "
                              << ofShape({1}) << " does, but is " << type
                              << ": 'qd.grid.view' makes a buffer of one element of a longer one";
}

LogicalResult ForEachOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  if (getBody().getNumArguments() != 1 || !getBody().getArgument(0).getType().isIndex())
    return emitOpError("body must take one argument of type index");
  if (auto threads = getThreads()) {
    if (failed(verifyThreads(*this, "threads", *threads)))
      return failure();
    if (getSubgroups() == SubgroupFill::Full && *threads % 64)
      return emitOpError("'threads' must be a multiple of 64 with 'subgroups(full)', but is ")
             << *threads << ": 'subgroups(partial)' is for others";
  }
  if (Value count = getCount())
    return verifyOneElement(*this, "count", count);
  return success();
}

LogicalResult ForEachOp::verifyRegions() {
  bool hasSubgroups = getSubgroups().has_value();
  WalkResult result = getBody().walk([&](MemoryEffectOpInterface inner) {
    auto collective = dyn_cast<CollectiveOpInterface>(inner.getOperation());
    bool isSubgroups = collective && collective.getExecutionScope() == Scope::Subgroup;
    if (hasSubgroups &&
        (isSubgroups || isa<simt::LaneIdOp, simt::ElectOp, simt::SubgroupSizeOp,
                            simt::Log2SubgroupSizeOp>(inner.getOperation())))
      return WalkResult::advance();
    SmallVector<MemoryEffects::EffectInstance> effects;
    inner.getEffectsOnResource(ConvergenceResource::get(), effects);
    if (!effects.empty()) {
      StringRef instead =
          isSubgroups ? "use 'subgroups(partial)', or 'subgroups(full)' where the elements fill them"
                      : "use a 'qd.grid.phase'";
      inner->emitOpError("is not legal in a 'qd.grid.for_each', whose body is not run by every thread: ")
          << instead;
      return WalkResult::interrupt();
    }
    if (dependsOnThread(inner)) {
      inner->emitOpError("is not legal in a 'qd.grid.for_each', which hides the threads that run "
                         "its body: use its index, or a 'qd.grid.phase'");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

ParseResult DoWhileOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand flag;
  Type type;
  if (parser.parseOperand(flag) || parser.parseColonType(type) ||
      parser.resolveOperand(flag, type, result.operands))
    return failure();
  SmallVector<OpAsmParser::Argument> names;
  if (succeeded(parser.parseOptionalKeyword("swap"))) {
    SmallVector<OpAsmParser::UnresolvedOperand> buffers;
    SmallVector<Type> types;
    auto parseName = [&]() -> ParseResult {
      return failure(parser.parseArgument(names.emplace_back()) || parser.parseEqual() ||
                     parser.parseOperand(buffers.emplace_back()));
    };
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseCommaSeparatedList(parseName) ||
        parser.parseColonTypeList(types) || parser.parseRParen() ||
        parser.resolveOperands(buffers, types, loc, result.operands))
      return failure();
    for (auto [name, type] : llvm::zip(names, types))
      name.type = type;
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (failed(parser.parseRegion(*body, names))) {
    // What `parseNested` says of regions that are dropped.
    for (Block &block : *body)
      block.dropAllDefinedValueUses();
    return failure();
  }
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (const OpAsmParser::Argument &name : names)
      block.addArgument(name.type, result.location);
  }
  return success();
}

void DoWhileOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFlag() << " : " << getFlag().getType();
  if (!getSwap().empty()) {
    printer << " swap(";
    llvm::interleaveComma(llvm::zip(getBody().getArguments(), getSwap()), printer,
                          [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << " : " << getSwap().getTypes() << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult DoWhileOp::verify() {
  if (failed(verifyTopLevel(*this)) || failed(verifyOneElement(*this, "flag", getFlag())))
    return failure();
  OperandRange swap = getSwap();
  if (swap.size() % 2 != 0)
    return emitOpError("'swap' must list pairs of buffers, but lists ") << swap.size();
  for (size_t first = 0; first < swap.size(); first += 2)
    if (swap[first].getType() != swap[first + 1].getType())
      return emitOpError("'swap' exchanges a ")
             << swap[first].getType() << " and a " << swap[first + 1].getType()
             << ", which must be of the same type";
  for (size_t at = 0; at < swap.size(); ++at)
    if (llvm::is_contained(swap.take_front(at), swap[at]))
      return emitOpError("'swap' lists a buffer twice");
  if (TypeRange(getBody().getArgumentTypes()) != swap.getTypes())
    return emitOpError("body takes (") << getBody().getArgumentTypes() << "), but must take what 'swap' lists: ("
                                       << swap.getTypes() << ")";
  return success();
}

LogicalResult DoWhileOp::verifyRegions() {
  if (failed(verifySteps(getBody().front(), "a 'qd.grid.do_while'")))
    return failure();
  WalkResult result = getBody().walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (llvm::is_contained(getSwap(), operand)) {
        inner->emitOpError("uses a buffer that the loop around it swaps: within the loop it has the "
                           "name that 'swap' gives it")
                .attachNote(getLoc())
            << "the loop";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult IfOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  return verifyOneElement(*this, "condition", getCondition());
}

LogicalResult IfOp::verifyRegions() { return verifySteps(getBody().front(), "a 'qd.grid.if'"); }

LogicalResult FillOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  bool isOne = getDest().getType().getRank() == 0;
  if (bool(getLower()) != bool(getUpper()) || isOne == bool(getLower()))
    return emitOpError("must have two bounds for a buffer of rank 1 and none for one of rank 0, but "
                       "fills ")
           << getDest().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto body = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getBodyAttr());
  if (!body)
    return emitOpError("'") << getBody() << "' is not a function of this module";
  auto threads = body->getAttrOfType<IntegerAttr>("qd.threads");
  if (!threads)
    return emitOpError("'") << getBody() << "' has no 'qd.threads' attribute: not an outlined body";
  if (TypeRange(body.getArgumentTypes()) != getArgs().getTypes())
    return emitOpError("passes (") << getArgs().getTypes() << ") to '" << getBody()
                                   << "', which takes (" << body.getArgumentTypes() << ")";
  // A launch passes a buffer as a pointer and one length.
  for (auto [index, type] : llvm::enumerate(getArgs().getTypes())) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (buffer && (!buffer.getLayout().isIdentity() ||
                   (buffer.getRank() > 1 &&
                    llvm::is_contained(buffer.getShape().drop_front(), ShapedType::kDynamic))))
      return emitOpError("passes a ") << type << " as argument " << index
                                      << ", but a body takes contiguous buffers of which only the first "
                                         "dimension may be dynamic: 'qd-expand-views' makes them";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value ViewOp::getViewSource() { return getSource(); }

OpFoldResult ViewOp::fold(FoldAdaptor adaptor) {
  if (!getSize())
    return {};
  // The whole of a buffer whose length is known, as what it is.
  auto offset = dyn_cast_if_present<IntegerAttr>(adaptor.getOffset());
  auto size = dyn_cast_if_present<IntegerAttr>(adaptor.getSize());
  auto source = cast<MemRefType>(getSource().getType());
  if (source == getType() && offset && offset.getInt() == 0 && size &&
      size.getInt() == source.getDimSize(0))
    return getSource();
  return {};
}

LogicalResult ViewOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto result = cast<MemRefType>(getResult().getType());
  // A boolean is a byte.
  auto width = [](MemRefType type) { return std::max(8u, type.getElementTypeBitWidth()); };
  if (width(source) > width(result))
    return emitOpError("result holds ") << result.getElementType() << ", narrower than the source's "
                                        << source.getElementType();
  if ((result.getRank() == 0) == bool(getSize()))
    return emitOpError("must have a size for a result of rank 1 or 2 and none for one of rank 0, but makes ")
           << result;
  if (result.getRank() == 2 && result.isDynamicDim(1))
    return emitOpError("result has rows of an extent that is not known: ") << result;
  if (source.getMemorySpace() != result.getMemorySpace())
    return emitOpError("source and result are in different memory spaces");
  if (!source.getLayout().isIdentity() || !result.getLayout().isIdentity())
    return emitOpError("source and result must be contiguous");
  return success();
}

/// Verifies memory that is the runtime's: where it is made, and its type.
static LogicalResult verifyWorkspace(Operation *op, MemRefType type) {
  Operation *parent = op->getParentOp();
  if (parent && !isa<KernelOp, DoWhileOp, IfOp>(parent))
    return op->emitOpError("is only legal at the top level of a 'qd.grid.kernel' or directly in a "
                           "'qd.grid.do_while' or a 'qd.grid.if', not in '")
           << parent->getName() << "'";
  if (!type.hasStaticShape() || type.getNumElements() == 0 || !type.getLayout().isIdentity() ||
      type.getMemorySpace())
    return op->emitOpError("is of type ") << type << ", but must be some words of the device's memory: "
                                          << "memref<Nxi32>, N from 1";
  return success();
}

LogicalResult ControlOp::verify() { return verifyWorkspace(*this, getType()); }

LogicalResult ScratchOp::verify() { return verifyWorkspace(*this, getType()); }

/// Verifies memory of the runtime that launches write into: of so many words, for sites that have these strings.
static LogicalResult verifyNotes(Operation *op, Value memory, int64_t words, ArrayAttr sites,
                                 ArrayRef<StringRef> names) {
  auto type = cast<MemRefType>(memory.getType());
  if (failed(verifyWorkspace(op, type)))
    return failure();
  if (type.getNumElements() != words)
    return op->emitOpError("has a record of ") << type.getNumElements() << " words, but there are "
                                               << words;
  if (sites.empty())
    return op->emitOpError("is for a launch without sites, which needs no record");
  for (auto [place, site] : llvm::enumerate(sites.getAsRange<DictionaryAttr>()))
    for (StringRef name : names)
      if (!site.getAs<StringAttr>(name))
        return op->emitOpError("site ") << place << " has no '" << name << "', which is a string";
  return success();
}

LogicalResult FaultsOp::verify() {
  return verifyNotes(*this, getRecord(), 16, getSites(), {"text", "at"});
}

LogicalResult PrintsOp::verify() {
  return verifyNotes(*this, getRing(), 4 + 2048 * 32, getSites(), {"text", "at", "types"});
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// `%memref[%indices] scope order attr-dict : type`, the tail of every atomic.
static ParseResult parseAtomicTail(OpAsmParser &parser, OperationState &result,
                                   ArrayRef<OpAsmParser::UnresolvedOperand> values) {
  Builder &builder = parser.getBuilder();
  OpAsmParser::UnresolvedOperand memref;
  SmallVector<OpAsmParser::UnresolvedOperand> indices;
  MemRefType type;
  StringRef scopeWord, orderWord;
  if (parser.parseOperand(memref) ||
      parser.parseOperandList(indices, OpAsmParser::Delimiter::Square))
    return failure();
  SMLoc scopeLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&scopeWord))
    return failure();
  SMLoc orderLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&orderWord))
    return failure();
  std::optional<Scope> scope = symbolizeScope(scopeWord);
  if (!scope)
    return parser.emitError(scopeLoc, "unknown scope '")
           << scopeWord << "': expected subgroup, block or device";
  std::optional<Order> order = symbolizeOrder(orderWord);
  if (!order)
    return parser.emitError(orderLoc, "unknown order '")
           << orderWord << "': expected relaxed, acquire, release or acq_rel";
  result.addAttribute("scope", ScopeAttr::get(parser.getContext(), *scope));
  result.addAttribute("order", OrderAttr::get(parser.getContext(), *order));
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  for (const auto &value : values)
    if (parser.resolveOperand(value, type.getElementType(), result.operands))
      return failure();
  return failure(parser.resolveOperand(memref, type, result.operands) ||
                 parser.resolveOperands(indices, builder.getIndexType(), result.operands));
}

static ParseResult parseAtomic(OpAsmParser &parser, OperationState &result, unsigned values,
                               bool yields) {
  SmallVector<OpAsmParser::UnresolvedOperand, 2> operands(values);
  for (auto &operand : operands)
    if (parser.parseOperand(operand) || parser.parseComma())
      return failure();
  if (parseAtomicTail(parser, result, operands))
    return failure();
  if (yields) {
    // The memref follows the values.
    auto type = cast<MemRefType>(result.operands[values].getType());
    result.addTypes(type.getElementType());
  }
  return success();
}

template <typename AtomicOp>
static void printAtomic(OpAsmPrinter &printer, AtomicOp op, ValueRange values,
                        ArrayRef<StringRef> elided = {}) {
  for (Value value : values)
    printer << value << ", ";
  printer << op.getMemref() << '[' << op.getIndices() << "] " << stringifyScope(op.getScope())
          << ' ' << stringifyOrder(op.getOrder());
  SmallVector<StringRef> names = {"scope", "order"};
  names.append(elided.begin(), elided.end());
  printer.printOptionalAttrDict(op->getAttrs(), names);
  printer << " : " << op.getMemref().getType();
}

template <typename AtomicOp>
static LogicalResult verifyAtomic(AtomicOp op, Type element) {
  auto type = cast<MemRefType>(op.getMemref().getType());
  if (type.getElementType() != element)
    return op.emitOpError("accesses a ") << element << ", but 'memref' holds "
                                         << type.getElementType();
  if (static_cast<int64_t>(op.getIndices().size()) != type.getRank())
    return op.emitOpError("has ") << op.getIndices().size() << " indices for a memref of rank "
                                  << type.getRank();
  return success();
}

ParseResult AtomicRmwOp::parse(OpAsmParser &parser, OperationState &result) {
  CombiningKindAttr kind;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parseCombiningKind(parser, kind);
  if (!parsed.has_value())
    return parser.emitError(loc, "expected a combining kind");
  if (failed(*parsed))
    return failure();
  result.addAttribute(getKindAttrName(result.name), kind);
  return parseAtomic(parser, result, 1, /*yields=*/true);
}
void AtomicRmwOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyCombiningKind(getKind()) << ' ';
  printAtomic(printer, *this, getValue(), {"kind"});
}
LogicalResult AtomicRmwOp::verify() {
  if (failed(verifyAtomic(*this, getValue().getType())))
    return failure();
  return verifyKind(*this, getKind(), getValue().getType());
}

ParseResult AtomicLoadOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAtomic(parser, result, 0, /*yields=*/true);
}
void AtomicLoadOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printAtomic(printer, *this, {});
}
LogicalResult AtomicLoadOp::verify() {
  if (getOrder() == Order::Release || getOrder() == Order::AcqRel)
    return emitOpError("a load cannot have order '") << stringifyOrder(getOrder()) << "'";
  return verifyAtomic(*this, getResult().getType());
}

ParseResult AtomicStoreOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAtomic(parser, result, 1, /*yields=*/false);
}
void AtomicStoreOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printAtomic(printer, *this, getValue());
}
LogicalResult AtomicStoreOp::verify() {
  if (getOrder() == Order::Acquire || getOrder() == Order::AcqRel)
    return emitOpError("a store cannot have order '") << stringifyOrder(getOrder()) << "'";
  return verifyAtomic(*this, getValue().getType());
}

ParseResult AtomicExchangeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAtomic(parser, result, 1, /*yields=*/true);
}
void AtomicExchangeOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printAtomic(printer, *this, getValue());
}
LogicalResult AtomicExchangeOp::verify() { return verifyAtomic(*this, getValue().getType()); }

ParseResult AtomicCasOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAtomic(parser, result, 2, /*yields=*/true);
}
void AtomicCasOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printAtomic(printer, *this, {getExpected(), getDesired()});
}
LogicalResult AtomicCasOp::verify() { return verifyAtomic(*this, getExpected().getType()); }

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult DispatchOp::verify() {
  if (failed(verifyTopLevel(*this)))
    return failure();
  Block &block = getBody().front();
  if (block.empty())
    return emitOpError("has no variants");
  for (Operation &op : block)
    if (!isa<VariantOp>(op))
      return op.emitOpError("is not legal in a 'qd.grid.dispatch': only 'qd.grid.variant' is");
  return success();
}

LogicalResult VariantOp::verify() {
  if (getPredicate().empty())
    return success();
  Block &block = getPredicate().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().size() != 1 || !yield.getValues()[0].getType().isInteger(1))
    return emitOpError("predicate must end in a 'qd.yield' of one i1");
  for (Operation &op : block.without_terminator())
    if (!isHostArithmetic(&op))
      return op.emitOpError("is not legal in a variant's predicate: the host evaluates it from "
                            "buffer lengths and scalar arguments");
  return success();
}

/// Whether `kernel` dispatches to `wanted`, directly or through others.
static bool reaches(KernelOp kernel, KernelOp wanted, SymbolTableCollection &symbols,
                    llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (kernel == wanted)
    return true;
  if (!seen.insert(kernel).second)
    return false;
  WalkResult result = kernel.getBody().walk([&](VariantOp variant) {
    auto next = symbols.lookupNearestSymbolFrom<KernelOp>(variant, variant.getCalleeAttr());
    return next && reaches(next, wanted, symbols, seen) ? WalkResult::interrupt()
                                                        : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult VariantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel)
    return emitOpError("'") << getCallee() << "' is not a kernel of this module";
  auto dispatch = cast<DispatchOp>((*this)->getParentOp());
  if (TypeRange(kernel.getArgumentTypes()) != dispatch.getArgs().getTypes())
    return emitOpError("'") << getCallee() << "' takes (" << kernel.getArgumentTypes()
                            << "), but is dispatched with (" << dispatch.getArgs().getTypes() << ")";
  llvm::SmallPtrSet<Operation *, 4> seen;
  auto around = (*this)->getParentOfType<KernelOp>();
  if (around && reaches(kernel, around, symbols, seen))
    return emitOpError("'") << getCallee() << "' leads back to '" << around.getSymName()
                            << "': a dispatch cannot be recursive";
  return success();
}
