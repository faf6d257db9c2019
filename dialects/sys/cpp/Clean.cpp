// Canonical forms, what is computed twice, and the expansion of strided metadata, in bodies of any
// length and depth. Upstream's drivers do all of it in normal bodies; in long and deep ones they
// take the square of the ops.
#include "Clean.h"
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

extern "C" {
/// Beyond which bodies are large.
struct QdLarge {
  size_t longest; // ops in one that is dead or not by these alone: a phase, a loop, a branch
  size_t deepest; // levels of regions in one another
  size_t widest;  // blocks in a region: what is left of levels that have become branches
};
}

std::shared_ptr<const FrozenRewritePatternSet> qd::CanonicalPatterns::get() const {
  MLIRContext *context = getContext();
  std::lock_guard<std::mutex> lock(mutex);
  size_t count = context->getRegisteredOperations().size();
  if (patterns && count == ops)
    return patterns;
  RewritePatternSet all(context);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(all);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(all, context);
  patterns = std::make_shared<const FrozenRewritePatternSet>(std::move(all));
  ops = count;
  return patterns;
}

namespace {
/// The properties of an op that make upstream's drivers slow.
class Shape {
public:
  Shape(Operation *root, const QdLarge &large) : large(large) { visit(root, false); }

  /// Whether levels are in one another, or blocks beside one another, beyond the limits.
  bool isDeep() const { return levels > large.deepest || blocks > large.widest; }
  /// The ops without regions that lie in long ops, in their order.
  ArrayRef<Operation *> inLong() const { return leaves; }

private:
  /// Returns the ops that an op holds.
  size_t visit(Operation *op, bool isInBody) {
    bool isBody = !isInBody && op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    size_t before = leaves.size(), count = 0;
    levels = std::max(levels, ++level);
    for (Region &region : op->getRegions()) {
      size_t width = 0;
      for (Block &block : region) {
        ++width;
        for (Operation &inner : block) {
          ++count;
          if (inner.getNumRegions() != 0)
            count += visit(&inner, isInBody || isBody);
          else if (isInBody || isBody)
            leaves.push_back(&inner);
        }
      }
      blocks = std::max(blocks, width);
    }
    --level;
    if (isBody && count <= large.longest)
      leaves.truncate(before);
    return count;
  }

  const QdLarge &large;
  SmallVector<Operation *> leaves;
  size_t level = 0, levels = 0, blocks = 0;
};

/// Rewrites ops without regions until nothing changes, and looks at no other: neither upwards, where
/// upstream's driver looks again at all that is around an op, nor into what is beside it.
class Leaves : public RewriterBase::Listener {
public:
  Leaves(MLIRContext *context, const FrozenRewritePatternSet &patterns)
      : rewriter(context), folder(context, this), applicator(patterns) {
    rewriter.setListener(this);
    applicator.applyDefaultCostModel();
  }

  void rewrite(ArrayRef<Operation *> ops) {
    // The last one is the first to be looked at.
    for (Operation *op : llvm::reverse(ops))
      add(op);
    while (!waiting.empty()) {
      Operation *op = waiting.pop_back_val();
      if (!op)
        continue;
      places[op] = nowhere;
      if (isOpTriviallyDead(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      if (op->hasTrait<OpTrait::ConstantLike>()) {
        (void)folder.insertKnownConstant(op);
        continue;
      }
      bool isInPlace = false;
      if (succeeded(folder.tryToFold(op, &isInPlace)) && !isInPlace)
        continue;
      rewriter.setInsertionPoint(op);
      (void)applicator.matchAndRewrite(op, rewriter);
    }
  }

private:
  using RewriterBase::Listener::notifyOperationReplaced;

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (op->getNumRegions() == 0)
      add(op);
  }
  void notifyOperationModified(Operation *op) override { addKnown(op); }
  void notifyOperationReplaced(Operation *op, ValueRange) override {
    for (Operation *user : op->getUsers())
      addKnown(user);
  }
  void notifyOperationErased(Operation *op) override {
    folder.notifyRemoval(op);
    // Nothing may use them any more.
    for (Value operand : op->getOperands())
      if (Operation *before = operand.getDefiningOp())
        addKnown(before);
    auto found = places.find(op);
    if (found == places.end())
      return;
    if (found->second != nowhere)
      waiting[found->second] = nullptr;
    places.erase(found);
  }

  void addKnown(Operation *op) {
    if (places.contains(op))
      add(op);
  }
  void add(Operation *op) {
    size_t &place = places.try_emplace(op, nowhere).first->second;
    if (place != nowhere)
      return;
    place = waiting.size();
    waiting.push_back(op);
  }

  static constexpr size_t nowhere = ~size_t(0);
  PatternRewriter rewriter;
  OperationFolder folder;
  PatternApplicator applicator;
  /// The ops to look at, the next one last; null: it has been erased.
  SmallVector<Operation *> waiting;
  /// Where each op that may be rewritten waits, if it does.
  llvm::DenseMap<Operation *, size_t> places;
};

/// Adds the ops below one that have no regions. Constants are moved to where folding looks for them,
/// in the region of `top` or the next that is isolated, so that it need not go up to there from each.
void collectLeaves(Operation *op, Operation *&top, SmallVectorImpl<Operation *> &leaves) {
  for (Region &region : op->getRegions()) {
    bool isTop = op->hasTrait<OpTrait::IsIsolatedFromAbove>() && !region.empty();
    Operation *before = isTop ? &region.front().front() : nullptr;
    Operation *&first = isTop ? before : top;
    for (Block &block : region) {
      for (Operation &inner : llvm::make_early_inc_range(block)) {
        if (inner.getNumRegions() != 0) {
          collectLeaves(&inner, first, leaves);
          continue;
        }
        leaves.push_back(&inner);
        if (first && &inner != first && inner.hasTrait<OpTrait::ConstantLike>())
          inner.moveBefore(first);
      }
    }
  }
}

SmallVector<Operation *> leavesOf(Operation *root) {
  SmallVector<Operation *> leaves;
  Operation *none = nullptr;
  collectLeaves(root, none, leaves);
  return leaves;
}
} // namespace

/// Upstream's `canonicalize` and `cse`. In front of them, ops in long bodies are canonicalised where
/// they have no regions; in deep bodies that is all that is done.
extern "C" void qdClean(MlirOperation rootOp, QdLarge large, intptr_t iterations, bool withRegions) {
  Operation *root = unwrap(rootOp);
  MLIRContext *context = root->getContext();
  auto patterns = context->getLoadedDialect<qd::QdDialect>()
                      ->getRegisteredInterface<qd::CanonicalPatterns>()
                      ->get();
  Shape shape(root, large);
  if (shape.isDeep())
    return Leaves(context, *patterns).rewrite(leavesOf(root));
  if (!shape.inLong().empty())
    Leaves(context, *patterns).rewrite(shape.inLong());
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  config.setMaxIterations(iterations);
  config.setRegionSimplificationLevel(withRegions ? GreedySimplifyRegionLevel::Normal
                                                  : GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(root, *patterns, config);
  IRRewriter rewriter(context);
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
}

/// Upstream's `expand-strided-metadata`, which in deep bodies leaves regions as they are.
extern "C" void qdExpandStridedMetadata(MlirOperation rootOp, QdLarge large) {
  Operation *root = unwrap(rootOp);
  RewritePatternSet patterns(root->getContext());
  memref::populateExpandStridedMetadataPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  if (Shape(root, large).isDeep())
    Leaves(root->getContext(), frozen).rewrite(leavesOf(root));
  else
    (void)applyPatternsGreedily(root, frozen);
}
