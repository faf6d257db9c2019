// Registration of the dialect, and the driver of mlir-lsp-server.
#include "Qd.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Qd, qd, qd::QdDialect)

extern "C" {
MlirDialectHandle qdDialectHandle() { return mlirGetDialectHandle__qd__(); }

/// `main` of a language server over the given registry.
int qdLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return failed(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Emits a diagnostic with notes: the C API's has none, and no remarks.
extern "C" void qdEmit(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message,
                       intptr_t numNotes, const MlirLocation *noteLocations,
                       const MlirStringRef *notes) {
  Location at = unwrap(location);
  auto kind = DiagnosticSeverity::Error;
  if (severity == MlirDiagnosticWarning)
    kind = DiagnosticSeverity::Warning;
  if (severity == MlirDiagnosticRemark)
    kind = DiagnosticSeverity::Remark;
  InFlightDiagnostic diagnostic = at.getContext()->getDiagEngine().emit(at, kind);
  diagnostic << unwrap(message);
  for (intptr_t i = 0; i < numNotes; ++i)
    diagnostic.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}
