// Canonical forms written in Rust, code motion, and what these ask of an operation that the C API
// answers slowly.
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include <mutex>

using namespace mlir;

extern "C" {
/// Rewrites `op`; false: no match.
typedef bool (*QdRewriteFn)(MlirOperation op, intptr_t numOperands, const MlirValue *operands,
                            MlirRewriterBase rewriter, void *data);
/// Gets where an operation or a block is.
typedef void (*QdAddressFn)(const void *address, void *data);
typedef void (*QdOperationFn)(MlirOperation op, void *data);
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

/// Visits the operations of a block.
extern "C" void qdOperations(MlirBlock block, QdOperationFn visit, void *data) {
  for (Operation &op : *unwrap(block))
    visit(wrap(&op), data);
}

/// Visits every operation below another one, in pre-order.
extern "C" void qdNested(MlirOperation op, QdOperationFn visit, void *data) {
  for (Region &region : unwrap(op)->getRegions())
    for (Operation &inner : region.getOps()) {
      visit(wrap(&inner), data);
      qdNested(wrap(&inner), visit, data);
    }
}

/// Writes the operands of an operation to `to`, which has room for as many.
extern "C" void qdOperands(MlirOperation op, MlirValue *to) {
  for (Value operand : unwrap(op)->getOperands())
    *to++ = wrap(operand);
}

/// Of what in `root` or of it is used from outside of it, one user, or null.
static Operation *userOutside(Operation *root) {
  Operation *found = nullptr;
  auto look = [&](auto &used) {
    for (Operation *user : used.getUsers())
      if (!found && !root->isAncestor(user))
        found = user;
  };
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      look(result);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        look(block);
        for (Value argument : block.getArguments())
          look(argument);
      }
  });
  return found;
}

/// Takes an operation out of its block and drops all that it and what is in it use. Null, or what
/// uses the operation or what is in it still. Where that is a result of the operation itself,
/// nothing was changed. `visit` gets the address of each operation and block, if it is given.
///
/// Upstream's way to erase has each level of regions drop the references of all that is below it,
/// again and again: here all are dropped at once.
extern "C" MlirOperation qdUnlink(MlirOperation op, QdAddressFn visit, void *data) {
  Operation *root = unwrap(op);
  for (Operation *user : root->getUsers())
    if (!root->isAncestor(user))
      return wrap(user);
  root->remove();
  root->dropAllReferences();
  if (visit)
    root->walk([=](Operation *inner) {
      visit(inner, data);
      for (Region &region : inner->getRegions())
        for (Block &block : region)
          visit(&block, data);
    });
  return wrap(userOutside(root));
}

/// What uses an operation that was unlinked, or what is in it; or null.
extern "C" MlirOperation qdUserOf(MlirOperation op) { return wrap(userOutside(unwrap(op))); }

/// Destroys an operation that was unlinked, what is innermost first.
extern "C" void qdDestroy(MlirOperation op) {
  Operation *root = unwrap(op);
  root->walk<WalkOrder::PostOrder>([](Operation *inner) {
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        block.clear();
  });
  root->destroy();
}

/// Whether an operation is another or in it.
extern "C" bool qdIsWithin(MlirOperation op, MlirOperation around) {
  return unwrap(around)->isAncestor(unwrap(op));
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
