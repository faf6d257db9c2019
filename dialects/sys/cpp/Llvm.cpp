// What LLVM's C API lacks: leaving passes out, and what of a module makes some of them slow.
#include "mlir-c/Support.h"
#include "mlir/CAPI/Support.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>
#include <mutex>
#include <string>
#include <vector>

/// Leaves passes, by their names with commas between, out of whatever is done in an
/// `LLVMContext`. Only what LLVM takes to be optional is.
extern "C" void qdContextSkipPasses(void *context, MlirStringRef names) {
  static std::mutex mutex;
  // Contexts refer to them, and may outlive all else.
  static auto *gates = new std::map<std::string, llvm::OptDisable>;
  std::lock_guard<std::mutex> lock(mutex);
  auto [gate, isNew] = gates->try_emplace(unwrap(names).str());
  if (isNew)
    for (llvm::StringRef name : llvm::split(unwrap(names), ','))
      gate->second.setDisabled(name);
  static_cast<llvm::LLVMContext *>(context)->setOptPassGate(gate->second);
}

extern "C" {
/// The properties of a module that make LLVM's passes slow.
struct QdLlvmShape {
  size_t longestBlock; // instructions
  size_t deepestLoop;  // loops in one another
};
}

/// How many loops of a function are in one another. LLVM's `LoopInfo` lists the blocks of each loop,
/// the square of what is in one another; this finds the loops as it does and lists nothing.
static size_t deepestLoop(llvm::Function &function, llvm::DominatorTree &dominators) {
  struct Loop {
    llvm::BasicBlock *header;
    size_t parent; // itself: there is none
    size_t outer;  // a loop around it, or itself
  };
  std::vector<Loop> loops; // inner ones before those around them
  llvm::DenseMap<llvm::BasicBlock *, size_t> loopOf;
  auto outermost = [&](size_t loop) {
    while (loops[loop].outer != loop)
      loop = loops[loop].outer = loops[loops[loop].outer].outer;
    return loop;
  };
  dominators.updateDFSNumbers();
  for (auto *node : llvm::post_order(dominators.getRootNode())) {
    llvm::BasicBlock *header = node->getBlock();
    llvm::SmallVector<llvm::BasicBlock *> next;
    for (llvm::BasicBlock *before : llvm::predecessors(header))
      if (dominators.isReachableFromEntry(before) && dominators.dominates(header, before))
        next.push_back(before);
    if (next.empty())
      continue;
    size_t loop = loops.size();
    loops.push_back({header, loop, loop});
    while (!next.empty()) {
      llvm::BasicBlock *block = next.pop_back_val();
      auto [found, isNew] = loopOf.try_emplace(block, loop);
      size_t inner = isNew ? loop : outermost(found->second);
      if (!isNew && inner == loop)
        continue;
      if (!isNew) {
        loops[inner].parent = loops[inner].outer = loop;
        block = loops[inner].header;
      }
      if (block != header)
        for (llvm::BasicBlock *before : llvm::predecessors(block))
          if (dominators.isReachableFromEntry(before))
            next.push_back(before);
    }
  }
  size_t deepest = 0;
  std::vector<size_t> depths(loops.size(), 1);
  for (size_t loop = loops.size(); loop-- > 0;) {
    if (loops[loop].parent != loop)
      depths[loop] = depths[loops[loop].parent] + 1;
    deepest = std::max(deepest, depths[loop]);
  }
  return deepest;
}

/// Measures a module, and marks innermost loops of more than `longest` instructions so that the loop
/// vectorizer leaves them alone: its time grows with the square of the instructions. Not so where
/// more than `deepest` loops are in one another, of which there are no passes on loops.
extern "C" QdLlvmShape qdPrepareLlvm(void *module, size_t longest, size_t deepest) {
  QdLlvmShape shape = {0, 0};
  for (llvm::Function &function : *llvm::unwrap(static_cast<LLVMModuleRef>(module))) {
    if (function.isDeclaration())
      continue;
    for (llvm::BasicBlock &block : function)
      shape.longestBlock = std::max(shape.longestBlock, block.size());
    llvm::DominatorTree dominators(function);
    size_t depth = deepestLoop(function, dominators);
    shape.deepestLoop = std::max(shape.deepestLoop, depth);
    if (depth > deepest)
      continue;
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost())
        continue;
      size_t count = 0;
      for (llvm::BasicBlock *block : loop->blocks())
        count += block->size();
      if (count > longest)
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    }
  }
  return shape;
}
