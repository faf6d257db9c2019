// Modules from files and from text, with a limit on how deep they are nested.
#include "Input.h"
#include "mlir-c/IR.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

const char *const qd::nestingMessage =
    "is nested more than 1024 levels deep, which is the most that is read";

/// The end of a comment or a string that begins at `at`, or `at`.
static size_t skip(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"' || text[i] == '\n')
      return i;
  }
  return text.size();
}

/// Whether a `<` or `>` is part of an arrow or a comparison.
static bool isOperator(StringRef text, size_t at) {
  bool isArrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
  return isArrow || (at + 1 < text.size() && text[at + 1] == '=');
}

std::optional<size_t> qd::findNesting(StringRef text) {
  SmallVector<char> open;
  for (size_t at = 0; at < text.size(); ++at) {
    // Files are split here into modules that have nothing to do with each other.
    if (text.substr(at).starts_with("// -----"))
      open.clear();
    at = skip(text, at);
    if (at >= text.size())
      break;
    char bracket = text[at];
    switch (bracket) {
    case '<':
      if (isOperator(text, at))
        break;
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      open.push_back(bracket);
      if (open.size() > maxNesting)
        return at;
      break;
    case '>':
      if (!isOperator(text, at) && !open.empty() && open.back() == '<')
        open.pop_back();
      break;
    case ')':
    case ']':
    case '}': {
      // A `<` that has no end was none.
      while (!open.empty() && open.back() == '<')
        open.pop_back();
      if (!open.empty())
        open.pop_back();
      break;
    }
    default:
      break;
    }
  }
  return std::nullopt;
}

/// The first operation that is too deep. Bytecode has no brackets to count.
static Operation *findDeep(Operation *root) {
  SmallVector<std::pair<Operation *, unsigned>> next = {{root, 0}};
  while (!next.empty()) {
    auto [op, depth] = next.pop_back_val();
    if (depth > qd::maxNesting)
      return op;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions() != 0)
          next.push_back({&inner, depth + 1});
  }
  return nullptr;
}

static MlirModule parse(std::unique_ptr<llvm::MemoryBuffer> buffer, MLIRContext *context) {
  StringRef name = buffer->getBufferIdentifier();
  if (!isBytecode(*buffer)) {
    if (std::optional<size_t> at = qd::findNesting(buffer->getBuffer())) {
      StringRef before = buffer->getBuffer().take_front(*at);
      unsigned line = before.count('\n') + 1, column = *at - (before.rfind('\n') + 1) + 1;
      emitError(FileLineColLoc::get(context, name, line, column)) << qd::nestingMessage;
      return {nullptr};
    }
  }
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  ParserConfig config(context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module;
  bool isExplained = false;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      isExplained |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure();
    });
    module = parseSourceFile<ModuleOp>(sources, config);
  }
  if (!module) {
    // The reader of bytecode has errors that it says nothing of.
    if (!isExplained)
      emitError(FileLineColLoc::get(context, name, 0, 0)) << "is not valid bytecode";
    return {nullptr};
  }
  if (Operation *deep = findDeep(*module)) {
    emitError(deep->getLoc()) << qd::nestingMessage;
    // To destroy it would be as deep.
    (void)module.release();
    return {nullptr};
  }
  if (failed(verify(*module)))
    return {nullptr};
  return wrap(module.release());
}

extern "C" {
/// Reads and verifies a module, text or bytecode, that lies under this name. Null, with
/// diagnostics, if there is none.
MlirModule qdParse(MlirContext context, MlirStringRef source, MlirStringRef name) {
  return parse(llvm::MemoryBuffer::getMemBufferCopy(unwrap(source), unwrap(name)), unwrap(context));
}
}
