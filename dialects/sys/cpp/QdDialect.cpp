// The dialect itself: registration, enums, what the families share.
#include "Clean.h"
#include "Combiner.h"
#include "Placement.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace qd;

#include "QdDialect.cpp.inc"
#include "QdEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "QdAttrs.cpp.inc"
#include "QdInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "QdYield.cpp.inc"

namespace {
/// What is legal in a body may be inlined into one: where collectives may be is
/// for qd-verify-convergence to say, before and after.
struct BodyInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *op, Region *dest, bool, IRMapping &) const final {
    // An array of the block's is at the top of its body.
    if (op->getName().getStringRef() == "qd.simt.block.shared")
      return isa<FunctionOpInterface>(dest->getParentOp());
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void QdDialect::initialize() {
  addInterfaces<BodyInliner, CanonicalPatterns>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "QdAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "QdOps.cpp.inc"
      >();
}

Operation *QdDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Attributes by the names of their cases
//===----------------------------------------------------------------------===//

namespace {
/// The attributes of the dialect: each holds an enum.
template <typename... Attrs> struct Cases {
  static StringRef of(Attribute attribute) {
    StringRef name;
    (void)((isa<Attrs>(attribute) &&
            (name = stringifyEnum(cast<Attrs>(attribute).getValue()), true)) ||
           ...);
    return name;
  }

  static Attribute get(MLIRContext *context, StringRef mnemonic, StringRef name) {
    Attribute found;
    (void)((found = one<Attrs>(context, mnemonic, name)) || ...);
    return found;
  }

private:
  template <typename Attr>
  static Attribute one(MLIRContext *context, StringRef mnemonic, StringRef name) {
    if (Attr::getMnemonic() != mnemonic)
      return {};
    auto value = symbolizeEnum<decltype(std::declval<Attr>().getValue())>(name);
    return value ? Attr::get(context, *value) : Attribute();
  }
};

using AllCases = Cases<
#define GET_ATTRDEF_LIST
#include "QdAttrs.cpp.inc"
    >;
} // namespace

/// The case that an attribute of the dialect, or the flags of an arithmetic op, holds; empty of
/// others, and of flags that are several.
extern "C" MlirStringRef qdCaseOf(MlirAttribute attribute) {
  if (auto flags = dyn_cast<arith::IntegerOverflowFlagsAttr>(unwrap(attribute)))
    return wrap(flags.getValue() == arith::IntegerOverflowFlags::none ? StringRef("none")
                                                                      : StringRef());
  return wrap(AllCases::of(unwrap(attribute)));
}

/// The attribute `#qd.mnemonic<name>`; null if there is none.
extern "C" MlirAttribute qdCase(MlirContext context, MlirStringRef mnemonic, MlirStringRef name) {
  return wrap(AllCases::get(unwrap(context), unwrap(mnemonic), unwrap(name)));
}

//===----------------------------------------------------------------------===//
// Attributes on the ops of other dialects
//===----------------------------------------------------------------------===//

/// A body whose wave has been chosen holds no wider tile.
static LogicalResult verifyWave(Operation *op, Attribute value) {
  if (!isa<FunctionOpInterface, grid::PhaseOp>(op))
    return op->emitOpError("cannot have 'qd.wave': it belongs on a phase or a function");
  if (auto any = dyn_cast<StringAttr>(value); any && any.getValue() == "any")
    return success();
  auto wave = dyn_cast<IntegerAttr>(value);
  int64_t lanes = wave ? wave.getInt() : 0;
  if (lanes < 4 || lanes > 64 || !llvm::isPowerOf2_64(lanes))
    return op->emitOpError("'qd.wave' must be 4, 8, 16, 32, 64 or \"any\", but is ") << value;
  WalkResult result = op->walk([&](Operation *inner) {
    if (inner->getName().getDialectNamespace() != "qd")
      return WalkResult::advance();
    auto tile = dyn_cast_if_present<IntegerAttr>(inner->getAttr("tile"));
    if (!tile || int64_t(1) << tile.getInt() <= lanes)
      return WalkResult::advance();
    inner->emitOpError("'tile' is ") << tile.getInt() << ", " << (int64_t(1) << tile.getInt())
                                     << " lanes, but subgroups have " << lanes;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult QdDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "qd.wave")
    return verifyWave(op, attribute.getValue());
  if (attribute.getName() == "qd.threads") {
    auto threads = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!threads)
      return op->emitOpError("'qd.threads' must be an integer, but is ") << attribute.getValue();
    return verifyThreads(op, "qd.threads", threads.getInt());
  }
  return success();
}

/// The width of what `qd.dtype` names, 0 if it names nothing: a letter for what
/// the bits mean, and how many there are.
static unsigned widthOfDtype(StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"bool", "i8", "u8"}, 8)
      .Cases({"i16", "u16", "f16", "bf16"}, 16)
      .Cases({"i32", "u32", "f32"}, 32)
      .Cases({"i64", "u64", "f64"}, 64)
      .Default(0);
}

static LogicalResult verifyDtype(Operation *op, unsigned index, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  unsigned width = name ? widthOfDtype(name) : 0;
  if (width == 0)
    return op->emitOpError("argument ")
           << index << ": 'qd.dtype' must be i, u or f and a width of 8 to 64, such as \"u32\", bf16 or bool, but is "
           << value;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumArguments())
    return success();
  Type type = function.getArgumentTypes()[index];
  Type element = isa<MemRefType>(type) ? cast<MemRefType>(type).getElementType() : type;
  // Arguments hold halves of floats as integers.
  bool isHalf = name.getValue() == "f16" || name.getValue() == "bf16";
  bool isFloat = name.getValue().starts_with("f") || name.getValue() == "bf16";
  bool fits = element.isInteger(1) ? name.getValue() == "bool"
              : isa<Float16Type, BFloat16Type>(element)
                  ? name.getValue() == (isa<Float16Type>(element) ? "f16" : "bf16")
                  : element.isIntOrFloat() && element.getIntOrFloatBitWidth() == width &&
                        (isa<FloatType>(element) == isFloat || isHalf);
  if (!fits)
    return op->emitOpError("argument ")
           << index << ": 'qd.dtype' is " << name << ", but the elements are " << element;
  return success();
}

/// Scratch is a memref that overlaps no other operand.
static LogicalResult verifyScratch(Operation *op, unsigned index) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || index >= function.getNumArguments())
    return success();
  if (Type type = function.getArgumentTypes()[index]; !isa<MemRefType>(type))
    return op->emitOpError("argument ")
           << index << ": 'qd.scratch' is for buffers, but the argument is " << type;
  if (function.getArgAttr(index, "qd.may_alias"))
    return op->emitOpError("argument ")
           << index
           << ": cannot be both 'qd.scratch' and 'qd.may_alias': the contents of what overlaps it "
              "would be lost";
  return success();
}

LogicalResult QdDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attribute) {
  Attribute value = attribute.getValue();
  for (StringRef name : {"qd.may_alias", "qd.scratch"})
    if (attribute.getName() == name && !isa<UnitAttr>(value))
      return op->emitOpError("argument ") << index << ": '" << name << "' takes no value";
  if (attribute.getName() == "qd.scratch")
    return verifyScratch(op, index);
  if (attribute.getName() == "qd.name") {
    auto name = dyn_cast<StringAttr>(value);
    if (!name || name.empty())
      return op->emitOpError("argument ") << index << ": 'qd.name' must be a name, but is " << value;
  }
  if (attribute.getName() == "qd.dtype")
    return verifyDtype(op, index, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

ParseResult qd::parseNested(OpAsmParser &parser, Region &region) {
  if (succeeded(parser.parseRegion(region)))
    return success();
  for (Block &block : region)
    block.dropAllDefinedValueUses();
  return failure();
}

void qd::printNested(OpAsmPrinter &printer, Operation *, Region &region) {
  printer.printRegion(region);
}

ParseResult qd::parseBody(OpAsmParser &parser, Region &region) {
  if (parseNested(parser, region))
    return failure();
  if (region.empty())
    region.emplaceBlock();
  return success();
}

void qd::printBody(OpAsmPrinter &printer, Operation *op, Region &region) {
  printNested(printer, op, region);
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

OptionalParseResult qd::parseCombiningKind(OpAsmParser &parser, CombiningKindAttr &kind) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  // What follows the kind of an algorithm is a keyword itself, which must be left to be parsed.
  if (std::strncmp(loc.getPointer(), "ins", 3) == 0 ||
      failed(parser.parseOptionalKeyword(&keyword)))
    return std::nullopt;
  std::optional<CombiningKind> value = symbolizeCombiningKind(keyword);
  if (!value)
    return ParseResult(
        parser.emitError(loc, "unknown combining kind '")
        << keyword << "': expected add, mul, minsi, minui, minnumf, maxsi, maxui, maxnumf, and, "
        << "or or xor");
  kind = CombiningKindAttr::get(parser.getContext(), *value);
  return ParseResult(success());
}

void qd::printCombiningKind(OpAsmPrinter &printer, Operation *, CombiningKindAttr kind) {
  if (kind)
    printer << stringifyCombiningKind(kind.getValue());
}

LogicalResult qd::verifyKind(Operation *op, CombiningKind kind, Type type) {
  bool fits = false;
  switch (kind) {
  case CombiningKind::ADD:
  case CombiningKind::MUL:
    fits = true;
    break;
  case CombiningKind::MINNUMF:
  case CombiningKind::MAXNUMF:
    fits = isa<FloatType>(type);
    break;
  case CombiningKind::MINSI:
  case CombiningKind::MINUI:
  case CombiningKind::MAXSI:
  case CombiningKind::MAXUI:
  case CombiningKind::AND:
  case CombiningKind::OR:
  case CombiningKind::XOR:
    fits = isa<IntegerType>(type);
    break;
  }
  if (fits)
    return success();
  return op->emitOpError("kind '") << stringifyCombiningKind(kind)
                                   << "' does not combine elements of type " << type;
}

LogicalResult qd::verifyCombiner(Operation *op, std::optional<CombiningKind> kind,
                                 std::optional<ArrayAttr> identities, Region &combiner,
                                 TypeRange types) {
  if (types.empty())
    return op->emitOpError("combines at least one value");
  if (kind) {
    if (!combiner.empty())
      return op->emitOpError("has both the kind '")
             << stringifyCombiningKind(*kind) << "' and a combiner region: give one";
    if (identities)
      return op->emitOpError("'identity' goes with a combiner region: a kind has its own");
    if (types.size() != 1)
      return op->emitOpError("a kind combines one value, but ")
             << types.size() << " are given: use a combiner region";
    return verifyKind(op, *kind, types.front());
  }
  if (combiner.empty())
    return op->emitOpError("needs a combining kind or a combiner region");
  if (!identities)
    return op->emitOpError("a combiner region needs its 'identity' constants");
  if (identities->size() != types.size())
    return op->emitOpError("has ") << identities->size() << " identities for " << types.size()
                                   << " combined values";
  for (auto [index, identity, type] : llvm::enumerate(*identities, types)) {
    auto typed = dyn_cast<TypedAttr>(identity);
    if (!typed || !isa<IntegerAttr, FloatAttr>(identity) || typed.getType() != type)
      return op->emitOpError("identity ") << index << " must be a constant of type " << type
                                          << ", but is " << identity;
  }
  Block &block = combiner.front();
  SmallVector<Type> expected(types);
  expected.append(types.begin(), types.end());
  if (TypeRange(block.getArgumentTypes()) != TypeRange(expected))
    return op->emitOpError("combiner must take the ")
           << types.size() << " left and then the " << types.size() << " right scalars ("
           << expected << "), but takes (" << block.getArgumentTypes() << ")";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("combiner must end in 'qd.yield'");
  if (yield.getValues().getTypes() != types)
    return yield.emitOpError("yields (") << yield.getValues().getTypes()
                                         << "), but the combiner must yield (" << types << ")";
  auto reject = [&](Operation *inner, const char *why) {
    inner->emitOpError(why).attachNote(op->getLoc()) << "the combiner belongs to this operation";
    return failure();
  };
  for (Operation &inner : block)
    if (!isMemoryEffectFree(&inner))
      return reject(&inner, "has side effects: a combiner must be pure");
  WalkResult result = combiner.walk([&](Operation *inner) -> WalkResult {
    if (!dependsOnThread(inner))
      return WalkResult::advance();
    return reject(inner, "depends on the executing thread: a combiner must be a function of its operands");
  });
  return failure(result.wasInterrupted());
}

LogicalResult YieldOp::verify() {
  // Regions of steps have no terminator, so a stray yield would go unnoticed.
  Operation *parent = (*this)->getParentOp();
  if (!parent || isa<grid::VariantOp>(parent) ||
      (isa_and_present<QdDialect>(parent->getDialect()) && !parent->hasTrait<OpTrait::NoTerminator>()))
    return success();
  return emitOpError("ends a combiner or a variant's predicate, not a body of '")
         << parent->getName() << "'";
}
