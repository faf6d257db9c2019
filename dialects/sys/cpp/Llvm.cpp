// What LLVM's C API lacks: leaving passes out, and what of a module makes some of them slow.
#include "mlir-c/Support.h"
#include "mlir/CAPI/Support.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>
#include <mutex>
#include <string>

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
/// What of a module makes passes of LLVM's slow.
struct QdLlvmShape {
  size_t longestBlock; // instructions
  size_t deepestLoop;  // loops in one another
};
}

/// Measures a module, and marks innermost loops of more than `longest` instructions so that the loop
/// vectorizer leaves them alone: its time grows with the square of the instructions.
extern "C" QdLlvmShape qdPrepareLlvm(void *module, size_t longest) {
  QdLlvmShape shape = {0, 0};
  for (llvm::Function &function : *llvm::unwrap(static_cast<LLVMModuleRef>(module))) {
    if (function.isDeclaration())
      continue;
    for (llvm::BasicBlock &block : function)
      shape.longestBlock = std::max(shape.longestBlock, block.size());
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost())
        continue;
      shape.deepestLoop = std::max<size_t>(shape.deepestLoop, loop->getLoopDepth());
      size_t count = 0;
      for (llvm::BasicBlock *block : loop->blocks())
        count += block->size();
      if (count > longest)
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
    }
  }
  return shape;
}
