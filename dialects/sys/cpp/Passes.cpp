// Passes and pipelines written in Rust, reachable from pipeline strings like
// any other: the C API's external passes are not.
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

extern "C" {
/// One option of a pass or a pipeline: its spelling, help text and default.
struct QdOption {
  MlirStringRef name, description, initial;
};

/// A pass as Rust describes it. `run` gets the operation and one value per
/// option, and returns false to fail. `data` lives for ever.
struct QdPassSpec {
  MlirTypeID id;
  MlirStringRef name, argument, description;
  MlirStringRef anchor; // empty: any operation
  intptr_t numDialects;
  const MlirDialectHandle *dialects;
  intptr_t numOptions;
  const QdOption *options;
  bool (*run)(MlirOperation, intptr_t, const MlirStringRef *, void *);
  void *data;
};

/// A pipeline as Rust describes it. `build` gets one value per option and hands
/// the textual pipeline, or an error, to `sink`; it returns false on error.
struct QdPipelineSpec {
  MlirStringRef argument, description;
  intptr_t numOptions;
  const QdOption *options;
  bool (*build)(intptr_t, const MlirStringRef *, void (*sink)(MlirStringRef, void *), void *sinkData,
                void *data);
  void *data;
};
}

namespace {
struct OptionSpec {
  std::string name, description, initial;
};

SmallVector<OptionSpec> copyOptions(intptr_t count, const QdOption *options) {
  SmallVector<OptionSpec> copies;
  for (const QdOption &option : ArrayRef(options, count))
    copies.push_back({unwrap(option.name).str(), unwrap(option.description).str(),
                      unwrap(option.initial).str()});
  return copies;
}

/// A flag may stand without a value, as those of MLIR's own passes.
llvm::cl::ValueExpected expected(const OptionSpec &option) {
  bool isFlag = option.initial == "true" || option.initial == "false";
  return isFlag ? llvm::cl::ValueOptional : llvm::cl::ValueRequired;
}

using TextOption = detail::PassOptions::Option<std::string>;

MlirStringRef textOf(const TextOption &option) {
  StringRef text = option.getValue();
  if (option.getValueExpectedFlag() == llvm::cl::ValueOptional)
    text = llvm::StringSwitch<StringRef>(text)
               .Cases({"", "1"}, "true")
               .Case("0", "false")
               .Default(text);
  return wrap(text);
}

struct PassSpec {
  TypeID id;
  std::string name, argument, description;
  std::optional<std::string> anchor;
  SmallVector<MlirDialectHandle> dialects;
  SmallVector<OptionSpec> options;
  decltype(QdPassSpec::run) run;
  void *data;
};

class RustPass : public Pass {
public:
  explicit RustPass(std::shared_ptr<const PassSpec> spec)
      : Pass(spec->id, spec->anchor ? std::optional<StringRef>(*spec->anchor) : std::nullopt),
        spec(std::move(spec)) {
    for (const OptionSpec &option : this->spec->options)
      values.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.description), llvm::cl::init(option.initial),
          expected(option)));
  }

  StringRef getName() const override { return spec->name; }
  StringRef getArgument() const override { return spec->argument; }
  StringRef getDescription() const override { return spec->description; }
  bool canScheduleOn(RegisteredOperationName name) const override {
    return !spec->anchor || name.getStringRef() == *spec->anchor;
  }
  // `Pass::clone` copies the options' values over.
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<RustPass>(spec); }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<qd::QdDialect>(); // for qdContextOf
    for (MlirDialectHandle dialect : spec->dialects)
      mlirDialectHandleInsertDialect(dialect, wrap(&registry));
  }
  void runOnOperation() override {
    SmallVector<MlirStringRef> arguments;
    for (const auto &value : values)
      arguments.push_back(textOf(*value));
    if (!spec->run(wrap(getOperation()), arguments.size(), arguments.data(), spec->data))
      signalPassFailure();
  }

private:
  std::shared_ptr<const PassSpec> spec;
  SmallVector<std::unique_ptr<Option<std::string>>> values;
};

/// The options of a pipeline, made at run time from what Rust says.
struct PipelineOptions : public detail::PassOptions {
  explicit PipelineOptions(ArrayRef<OptionSpec> specs) {
    for (const OptionSpec &option : specs)
      values.push_back(std::make_unique<Option<std::string>>(
          *this, option.name, llvm::cl::desc(option.description), llvm::cl::init(option.initial),
          expected(option)));
  }
  SmallVector<std::unique_ptr<Option<std::string>>> values;
};
} // namespace

extern "C" void qdRegisterPass(const QdPassSpec *from) {
  auto spec = std::make_shared<PassSpec>();
  spec->id = unwrap(from->id);
  spec->name = unwrap(from->name).str();
  spec->argument = unwrap(from->argument).str();
  spec->description = unwrap(from->description).str();
  if (from->anchor.length != 0)
    spec->anchor = unwrap(from->anchor).str();
  spec->dialects.append(from->dialects, from->dialects + from->numDialects);
  spec->options = copyOptions(from->numOptions, from->options);
  spec->run = from->run;
  spec->data = from->data;
  registerPass([spec] { return std::make_unique<RustPass>(spec); });
}

extern "C" void qdRegisterPipeline(const QdPipelineSpec *from) {
  auto options = std::make_shared<SmallVector<OptionSpec>>(
      copyOptions(from->numOptions, from->options));
  auto build = from->build;
  void *data = from->data;
  registerPassPipeline(
      unwrap(from->argument), unwrap(from->description),
      [=](OpPassManager &manager, StringRef text,
          function_ref<LogicalResult(const Twine &)> report) -> LogicalResult {
        PipelineOptions parsed(*options);
        std::string error;
        llvm::raw_string_ostream errors(error);
        if (failed(parsed.parseFromString(text, errors)))
          return report(error);
        SmallVector<MlirStringRef> values;
        for (const auto &value : parsed.values)
          values.push_back(textOf(*value));
        std::string pipeline;
        auto sink = [](MlirStringRef text, void *to) {
          *static_cast<std::string *>(to) = unwrap(text).str();
        };
        if (!build(values.size(), values.data(), sink, &pipeline, data))
          return report(pipeline);
        if (failed(parsePassPipeline(pipeline, manager, errors)))
          return report(error);
        return success();
      },
      [=](function_ref<void(const detail::PassOptions &)> visit) {
        visit(PipelineOptions(*options));
      });
}
