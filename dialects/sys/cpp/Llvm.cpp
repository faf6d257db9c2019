// What LLVM's C API lacks: leaving passes of code generation out.
#include "mlir-c/Support.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"
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
