// The main of mlir-opt, and spans: Rust is told when a pass begins and ends, upstream's included.
#include "Input.h"
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

extern "C" {
/// Called on the thread that runs the pass; calls nest.
struct QdSpans {
  void (*begin)(MlirStringRef pass);
  void (*end)();
};
}

namespace {
class Spans : public PassInstrumentation {
public:
  explicit Spans(QdSpans spans) : spans(spans) {}

  void runBeforePass(Pass *pass, Operation *) override {
    // Adaptors that take nested pipelines to their operations have no name.
    StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
    spans.begin(wrap(name));
  }
  void runAfterPass(Pass *, Operation *) override { spans.end(); }
  void runAfterPassFailed(Pass *, Operation *) override { spans.end(); }

private:
  QdSpans spans;
};

/// Says where a text is nested too deep, if it is.
LogicalResult checkNesting(const llvm::MemoryBuffer &text) {
  std::optional<size_t> at = qd::findNesting(text.getBuffer());
  if (!at)
    return success();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), SMLoc());
  const char *begin = sources.getMemoryBuffer(1)->getBufferStart();
  sources.PrintMessage(SMLoc::getFromPointer(begin + *at), llvm::SourceMgr::DK_Error,
                       qd::nestingMessage);
  return failure();
}

/// What upstream's function of the same parameters does, with spans if there are any, and for
/// input that is not nested too deep.
LogicalResult optMain(StringRef input, StringRef output, DialectRegistry &registry,
                      const QdSpans *spans) {
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions();
  MlirOptMainConfig config = given;
  if (spans)
    config.setPassPipelineSetupFn([&given, spans](PassManager &manager) {
      manager.addInstrumentation(std::make_unique<Spans>(*spans));
      return given.setupPassPipeline(manager);
    });
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (!isBytecode(*file) && failed(checkNesting(*file)))
    return failure();
  std::unique_ptr<llvm::ToolOutputFile> to = openOutputFile(output, &error);
  if (!to) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (failed(MlirOptMain(to->os(), std::move(file), registry, config)))
    return failure();
  to->keep();
  return success();
}
} // namespace

extern "C" {
void qdPassManagerTrace(MlirPassManager manager, QdSpans spans) {
  unwrap(manager)->addInstrumentation(std::make_unique<Spans>(spans));
}

/// `main` of an mlir-opt over the given registry; with `spans`, its passes are
/// told of.
int qdOptMain(int argc, char **argv, MlirStringRef name, MlirDialectRegistry registry,
              const QdSpans *spans) {
  DialectRegistry &dialects = *unwrap(registry);
  auto [input, output] = registerAndParseCLIOptions(argc, argv, unwrap(name), dialects);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses() || config.shouldShowDialects())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, dialects));
  return asMainReturnCode(optMain(input, output, dialects, spans));
}
}
