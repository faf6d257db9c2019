// Dialect conversion driven from Rust, canonical forms written in Rust, code motion, and what
// these ask of an operation that the C API answers slowly.
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include <mutex>

using namespace mlir;

extern "C" {
/// Rewrites `op`, whose operands have been converted; false: no match.
typedef bool (*QdRewriteFn)(MlirOperation op, intptr_t numOperands, const MlirValue *operands,
                            MlirRewriterBase rewriter, void *data);
/// The converted type, or null where it is not this function's.
typedef MlirType (*QdTypeFn)(MlirType type, void *data);
/// Whether an op is legal as it is.
typedef bool (*QdLegalFn)(MlirOperation op, void *data);
}

/// Whether two operations of one name have the same attributes. The C API lists
/// those of an operation one by one, and makes a dictionary of properties for each.
extern "C" bool qdHaveSameAttributes(MlirOperation left, MlirOperation right) {
  Operation *a = unwrap(left), *b = unwrap(right);
  return a->getName() == b->getName() && a->getRawDictionaryAttrs() == b->getRawDictionaryAttrs() &&
         a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage());
}

/// Where the operation's context has its own handle. Ours is loaded if it is not, which no pass need
/// fear: each depends on it.
extern "C" const MlirContext *qdContextOf(MlirOperation op) {
  auto *dialect = unwrap(op)->getContext()->getOrLoadDialect<qd::QdDialect>();
  static_assert(sizeof(MlirContext) == sizeof(dialect->self));
  return reinterpret_cast<const MlirContext *>(&dialect->self);
}

/// The operation before another in its block, or null.
extern "C" MlirOperation qdPreviousInBlock(MlirOperation op) {
  return wrap(unwrap(op)->getBlock() ? unwrap(op)->getPrevNode() : nullptr);
}

/// Erases an operation. Upstream's way has each level of regions drop the references of all that is
/// below it, again and again: here all are dropped at once, and what is innermost goes first.
extern "C" void qdErase(MlirOperation op) {
  Operation *root = unwrap(op);
  root->remove();
  root->dropAllReferences();
  root->walk<WalkOrder::PostOrder>([](Operation *inner) {
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        block.clear();
  });
  root->destroy();
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

namespace {
struct CanonicalForm {
  std::string root;
  QdRewriteFn rewrite;
  void *data;
};
struct CanonicalForms {
  std::mutex mutex;
  SmallVector<CanonicalForm> all;
};

CanonicalForms &canonicalForms() {
  static CanonicalForms forms;
  return forms;
}

struct CanonicalPattern : public RewritePattern {
  CanonicalPattern(const CanonicalForm &form, MLIRContext *context)
      : RewritePattern(form.root, 1, context), form(form) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    SmallVector<MlirValue> operands;
    for (Value operand : op->getOperands())
      operands.push_back(wrap(operand));
    return success(form.rewrite(wrap(op), operands.size(), operands.data(),
                                wrap(static_cast<RewriterBase *>(&rewriter)), form.data));
  }
  CanonicalForm form;
};
} // namespace

/// Adds a canonical form of `root`; `data` lives for ever.
extern "C" void qdRegisterCanonicalForm(MlirStringRef root, QdRewriteFn rewrite, void *data) {
  CanonicalForms &forms = canonicalForms();
  std::lock_guard<std::mutex> lock(forms.mutex);
  forms.all.push_back({unwrap(root).str(), rewrite, data});
}

void qd::QdDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  CanonicalForms &forms = canonicalForms();
  std::lock_guard<std::mutex> lock(forms.mutex);
  for (const CanonicalForm &form : forms.all)
    patterns.add(std::make_unique<CanonicalPattern>(form, getContext()));
}

/// Moves out of loops what yields the same in each iteration, innermost loops first. Upstream's
/// pass looks at all ops of an op before it moves it, for each loop around it. So ops with regions
/// stay in loops that hold more than `deepest` levels of regions.
extern "C" void qdHoistInvariants(MlirOperation root, size_t deepest) {
  llvm::DenseMap<Operation *, size_t> levels;
  unwrap(root)->walk([&](Operation *op) {
    if (op->getNumRegions() == 0)
      return;
    size_t held = levels.lookup(op);
    size_t &around = levels[op->getParentOp()];
    around = std::max(around, held + 1);
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (!loop)
      return;
    moveLoopInvariantCode(
        loop.getLoopRegions(),
        [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [&](Operation *inner, Region *) {
          bool isMovable = held <= deepest || inner->getNumRegions() == 0;
          return isMovable && isMemoryEffectFree(inner) && isSpeculatable(inner);
        },
        [&](Operation *inner, Region *) { loop.moveOutOfLoop(inner); });
  });
}

//===----------------------------------------------------------------------===//
// Dialect conversion
//===----------------------------------------------------------------------===//

extern "C" {
struct QdConversion {
  explicit QdConversion(MLIRContext *context) : target(*context), patterns(context) {
    types.addConversion([](Type type) { return type; });
  }
  TypeConverter types;
  ConversionTarget target;
  RewritePatternSet patterns;
};

QdConversion *qdConversionCreate(MlirContext context) { return new QdConversion(unwrap(context)); }
void qdConversionDestroy(QdConversion *conversion) { delete conversion; }

void qdConversionLegalDialect(QdConversion *conversion, MlirStringRef name) {
  conversion->target.addLegalDialect(unwrap(name));
}
void qdConversionLegalOp(QdConversion *conversion, MlirStringRef name) {
  conversion->target.addLegalOp(OperationName(unwrap(name), conversion->patterns.getContext()));
}
void qdConversionIllegalOp(QdConversion *conversion, MlirStringRef name) {
  conversion->target.addIllegalOp(OperationName(unwrap(name), conversion->patterns.getContext()));
}
/// Every op that nothing else is said of is legal where `legal` says so.
void qdConversionUnknownOps(QdConversion *conversion, QdLegalFn legal, void *data) {
  conversion->target.markUnknownOpDynamicallyLegal(
      [=](Operation *op) -> std::optional<bool> { return legal(wrap(op), data); });
}
void qdConversionAddType(QdConversion *conversion, QdTypeFn convert, void *data) {
  conversion->types.addConversion([=](Type type) -> std::optional<Type> {
    Type converted = unwrap(convert(wrap(type), data));
    if (!converted)
      return std::nullopt;
    return converted;
  });
}

void qdConversionAddPattern(QdConversion *conversion, MlirStringRef root, unsigned benefit,
                            QdRewriteFn rewrite, void *data) {
  struct Pattern : public ConversionPattern {
    Pattern(TypeConverter &types, StringRef root, unsigned benefit, MLIRContext *context,
            QdRewriteFn rewrite, void *data)
        : ConversionPattern(types, root, benefit, context), rewrite(rewrite), data(data) {}
    LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                  ConversionPatternRewriter &rewriter) const override {
      SmallVector<MlirValue> converted;
      for (Value operand : operands)
        converted.push_back(wrap(operand));
      return success(rewrite(wrap(op), converted.size(), converted.data(),
                             wrap(static_cast<RewriterBase *>(&rewriter)), data));
    }
    QdRewriteFn rewrite;
    void *data;
  };
  conversion->patterns.add(std::make_unique<Pattern>(conversion->types, unwrap(root), benefit,
                                                     conversion->patterns.getContext(), rewrite,
                                                     data));
}

/// Applies the conversion, partial or full, and consumes its patterns.
bool qdConversionApply(QdConversion *conversion, MlirOperation op, bool full) {
  FrozenRewritePatternSet patterns(std::move(conversion->patterns));
  if (full)
    return succeeded(applyFullConversion(unwrap(op), conversion->target, patterns));
  return succeeded(applyPartialConversion(unwrap(op), conversion->target, patterns));
}
}
