// Registration of the dialect, modules from memory, the drivers of
// mlir-lsp-server, mlir-reduce and mlir-query, and how tools end when LLVM gives
// up.
#include "Qd.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Query/Matcher/Registry.h"
#include "mlir/Query/Matcher/SliceMatchers.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-query/MlirQueryMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <unistd.h>

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Qd, qd, qd::QdDialect)

extern "C" {
MlirDialectHandle qdDialectHandle() { return mlirGetDialectHandle__qd__(); }

/// `main` of a language server over the given registry.
int qdLspServerMain(int argc, char **argv, MlirDialectRegistry registry) {
  return failed(MlirLspServerMain(argc, argv, *unwrap(registry)));
}

/// `main` of mlir-reduce in the given context, with every registered pass.
int qdReduceMain(int argc, char **argv, MlirContext context) {
  return failed(mlirReduceMain(argc, argv, *unwrap(context)));
}
}

/// The matchers of upstream's mlir-query, under its names.
static void registerMatchers(query::matcher::Registry &registry) {
  using namespace query::matcher;
  registry.registerMatcher("allOf", query::matcher::internal::allOf);
  registry.registerMatcher("anyOf", query::matcher::internal::anyOf);
  registry.registerMatcher("getAllDefinitions", m_GetAllDefinitions<DynMatcher>);
  registry.registerMatcher("getDefinitions", m_GetDefinitions<DynMatcher>);
  registry.registerMatcher("getDefinitionsByPredicate",
                           m_GetDefinitionsByPredicate<DynMatcher, DynMatcher>);
  registry.registerMatcher("getUsersByPredicate", m_GetUsersByPredicate<DynMatcher, DynMatcher>);
  registry.registerMatcher("hasOpAttrName",
                           static_cast<detail::AttrOpMatcher (*)(StringRef)>(m_Attr));
  registry.registerMatcher("hasOpName", static_cast<detail::NameOpMatcher (*)(StringRef)>(m_Op));
  registry.registerMatcher("isConstantOp",
                           static_cast<detail::constant_op_matcher (*)()>(m_Constant));
  registry.registerMatcher("isNegInfFloat", m_NegInfFloat);
  registry.registerMatcher("isNegZeroFloat", m_NegZeroFloat);
  registry.registerMatcher("isNonZero", m_NonZero);
  registry.registerMatcher("isOne", m_One);
  registry.registerMatcher("isOneFloat", m_OneFloat);
  registry.registerMatcher("isPosInfFloat", m_PosInfFloat);
  registry.registerMatcher("isPosZeroFloat", m_PosZeroFloat);
  registry.registerMatcher("isZero", m_Zero);
  registry.registerMatcher("isZeroFloat", m_AnyZeroFloat);
}

/// `main` of mlir-query in the given context.
extern "C" int qdQueryMain(int argc, char **argv, MlirContext context) {
  query::matcher::Registry matchers;
  registerMatchers(matchers);
  return failed(mlirQueryMain(argc, argv, *unwrap(context), matchers));
}

//===----------------------------------------------------------------------===//
// Fatal errors
//===----------------------------------------------------------------------===//

static void sayAndExit(void *tool, const char *reason, bool) {
  llvm::errs() << *static_cast<std::string *>(tool) << ": " << reason << "\n";
  // Temporary files go. Other threads are still at work: nothing is destroyed.
  llvm::sys::RunInterruptHandlers();
  _exit(1);
}

/// From here on what LLVM gives up at is a message of the tool's, and exit code
/// 1 instead of an abort.
extern "C" void qdExitOnFatalErrors(MlirStringRef tool) {
  llvm::install_fatal_error_handler(sayAndExit, new std::string(unwrap(tool)));
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
