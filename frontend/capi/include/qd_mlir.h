/* IR from C: what libqd.so has beside MLIR's C API, which it exports. The rules at the head of qd.h hold.
 *
 * The headers of MLIR are those of version 22: on Debian, of the package libmlir-22-dev, in
 * /usr/lib/llvm-22/include. Link no other LLVM or MLIR: the library is linked to the shared ones. */
#ifndef QD_MLIR_H
#define QD_MLIR_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "qd.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The handle of our dialect, for a context of your own:
 * mlirDialectHandleRegisterDialect(mlirGetDialectHandle__qd__(), context). */
MlirDialectHandle mlirGetDialectHandle__qd__(void);

/** Makes a context with all dialects, MLIR's and ours, loaded. Destroy it by mlirContextDestroy(). Null if that fails. */
MlirContext qd_mlir_context_create(void);

/** Makes all passes and pipelines, MLIR's and ours, known by name, as mlirOpPassManagerAddPipeline() and
 * mlirParsePassPipeline() take them. Further calls do nothing. */
qd_status qd_mlir_register_passes(void);

/** Sets the source of a request: a module of a context that has our dialect. It is copied, and stays the caller's.
 * QD_ERROR_COMPILE if it is not valid. */
qd_status qd_request_module(const qd_request *request, MlirModule module);

#ifdef __cplusplus
}
#endif

#endif
