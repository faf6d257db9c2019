/* MLIR's C API out of the library: a module that is parsed, transformed by passes of ours by name, and compiled. */
#include "check.h"
#include "qd_mlir.h"

#include "mlir-c/Diagnostics.h"

static void append(MlirStringRef text, void *data) {
  char *to = data;
  size_t length = strlen(to);
  CHECK(length + text.length < 4096);
  memcpy(to + length, text.data, text.length);
  to[length + text.length] = 0;
}

static MlirLogicalResult hear(MlirDiagnostic diagnostic, void *data) {
  mlirDiagnosticPrint(diagnostic, append, data);
  return mlirLogicalResultSuccess();
}

static MlirStringRef text(const char *text) { return mlirStringRefCreateFromCString(text); }

int main(void) {
  QD(qd_mlir_register_passes());
  QD(qd_mlir_register_passes());
  MlirContext context = qd_mlir_context_create();
  CHECK(context.ptr != NULL);
  char said[4096] = "";
  mlirContextAttachDiagnosticHandler(context, hear, said, NULL);
  MlirModule module = mlirModuleCreateParse(context, text(ADD));
  CHECK(module.ptr != NULL);

  /* A pass of ours, by name. */
  MlirPassManager manager = mlirPassManagerCreate(context);
  CHECK(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager), text("qd-expand-for-each"), append, said)));
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)));
  CHECK(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(copy))));
  char expanded[4096] = "";
  mlirOperationPrint(mlirModuleGetOperation(copy), append, expanded);
  CHECK(strstr(expanded, "qd.grid.phase") != NULL && strstr(expanded, "for_each") == NULL);
  mlirModuleDestroy(copy);
  mlirPassManagerDestroy(manager);
  manager = mlirPassManagerCreate(context);
  CHECK(mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager), text("qd-no-such-pass"), append, said)));
  mlirPassManagerDestroy(manager);

  /* The module as a request. It stays ours. */
  qd_request *request;
  qd_artifact *artifact;
  bool is_there;
  QD(qd_request_new(&request));
  QD(qd_request_target(request, "cpu"));
  QD(qd_request_module(request, module));
  mlirModuleDestroy(module);
  QD(qd_compile(request, NULL, &artifact, NULL));
  QD(qd_artifact_has_kernel(artifact, "add", &is_there));
  CHECK(is_there);
  QD(qd_artifact_free(artifact));

  /* What is not valid, is null, or is in a context without our dialect. */
  MlirModule null = {NULL};
  FAILS(QD_ERROR_HANDLE, "module is null", qd_request_module(request, null));
  MlirModule empty = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  MlirOperationState state = mlirOperationStateGet(text("arith.addf"), mlirLocationUnknownGet(context));
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(empty), mlirOperationCreate(&state));
  FAILS(QD_ERROR_COMPILE, "not valid", qd_request_module(request, empty));
  CHECK(strstr(said, "arith.addf") != NULL);
  mlirModuleDestroy(empty);
  QD(qd_request_free(request));
  mlirContextDestroy(context);

  /* A context of the caller's, with our dialect alone. */
  context = mlirContextCreate();
  mlirDialectHandleRegisterDialect(mlirGetDialectHandle__qd__(), context);
  mlirContextLoadAllAvailableDialects(context);
  module = mlirModuleCreateParse(context, text("qd.grid.kernel @k() {}"));
  CHECK(module.ptr != NULL);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  puts("passed");
  return 0;
}
