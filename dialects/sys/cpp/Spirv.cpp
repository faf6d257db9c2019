// Serialisation of SPIR-V modules, which the C API lacks.
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir-c/Support.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"

using namespace mlir;

/// Hands the words of a `spirv.module` to `sink`; false, with diagnostics, if it has no binary form.
extern "C" bool qdSerializeSpirv(MlirOperation operation,
                                 void (*sink)(const uint32_t *words, size_t count, void *data),
                                 void *data) {
  auto module = dyn_cast<spirv::ModuleOp>(unwrap(operation));
  if (!module)
    return false;
  SmallVector<uint32_t, 0> words;
  if (failed(spirv::serialize(module, words)))
    return false;
  sink(words.data(), words.size(), data);
  return true;
}
