// Op interfaces, for passes in Rust: the C API does not expose them.
#include "Qd.h"
#include "mlir-c/IR.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;

extern "C" {
/// How threads execute an op.
enum QdConvergence {
  QdConvergenceUnknown = 0,
  QdConvergencePerThread = 1,
  QdConvergenceCollective = 2,
};

/// The properties of a collective (`CollectiveOpInterface`).
struct QdCollective {
  uint32_t scope;             // as `qd::Scope`
  uint32_t resultUniformity;  // as `qd::ResultUniformity`
  int32_t log2ClusterSize;    // -1: all lanes are one cluster
  bool supportsClusters;
  MlirValue sourceLane;       // null: it has none
};

/// What an op does, or does to one of its operands; a sum of these.
enum QdEffect : uint32_t {
  QdEffectRead = 1,
  QdEffectWrite = 2,
  QdEffectOther = 4,   // allocates, frees, or is not to be done twice for another reason
  QdEffectUnknown = 8, // it does not say, or the operand lives on under another name
  QdEffectView = 16,   // the operand lives on as the op's result
};

typedef void (*QdNameFn)(MlirStringRef name, void *data);
typedef void (*QdNamedValueFn)(MlirStringRef name, MlirValue value, void *data);
}

/// How threads execute an op, and its interface if it is a collective.
extern "C" QdConvergence qdConvergence(MlirOperation op, QdCollective *said) {
  if (unwrap(op)->hasTrait<qd::PerThread>())
    return QdConvergencePerThread;
  // Asked first: a cast asks the dialects of ops without it, too, which takes longer.
  if (!unwrap(op)->getName().hasInterface<qd::CollectiveOpInterface>())
    return QdConvergenceUnknown;
  auto collective = cast<qd::CollectiveOpInterface>(unwrap(op));
  std::optional<uint32_t> cluster = collective.getLog2ClusterSize();
  *said = {static_cast<uint32_t>(collective.getExecutionScope()),
           static_cast<uint32_t>(collective.getResultUniformity()),
           cluster ? static_cast<int32_t>(*cluster) : -1, collective.supportsClusters(),
           wrap(collective.getSourceLane())};
  return QdConvergenceCollective;
}

/// Hands out the operands of a collective that must be uniform.
extern "C" void qdUniformOperands(MlirOperation op, QdNamedValueFn visit, void *data) {
  auto collective = dyn_cast<qd::CollectiveOpInterface>(unwrap(op));
  if (!collective)
    return;
  for (const qd::UniformOperand &operand : collective.getUniformOperands())
    visit(wrap(operand.name), wrap(operand.value), data);
}

/// Hands out the names of all collectives that the context knows.
extern "C" void qdCollectives(MlirContext context, QdNameFn visit, void *data) {
  for (RegisteredOperationName op : unwrap(context)->getRegisteredOperations())
    if (op.hasInterface<qd::CollectiveOpInterface>())
      visit(wrap(op.getStringRef()), data);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint32_t kindOf(const MemoryEffects::EffectInstance &effect) {
  bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
  if (effect.getResource() != SideEffects::DefaultResource::get())
    return isRead ? 0 : QdEffectOther;
  if (isRead)
    return QdEffectRead;
  return isa<MemoryEffects::Write>(effect.getEffect()) ? QdEffectWrite : QdEffectOther;
}

/// Of a memref it reads the shape alone, or nothing that a program sees.
static bool ignoresContents(Operation *op) {
  // Upstream does not say what a prefetch does.
  return isa<ShapedDimOpInterface, memref::RankOp, memref::PrefetchOp>(op);
}

/// What an op does, without what is in its regions.
extern "C" uint32_t qdEffects(MlirOperation raw) {
  Operation *op = unwrap(raw);
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    bool isKnown = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || ignoresContents(op);
    return isKnown ? 0 : QdEffectUnknown;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  uint32_t all = 0;
  for (const MemoryEffects::EffectInstance &effect : effects)
    all |= kindOf(effect);
  return all;
}

/// What an op does to the memory that an operand refers to.
extern "C" uint32_t qdEffectsOn(MlirOperation raw, intptr_t number) {
  Operation *op = unwrap(raw);
  Value operand = op->getOperand(number);
  auto view = dyn_cast<ViewLikeOpInterface>(op);
  if (view && view.getViewSource() == operand)
    return QdEffectView;
  if (ignoresContents(op))
    return 0;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return QdEffectUnknown;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  uint32_t all = 0;
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (!effect.getValue() || effect.getValue() == operand)
      all |= kindOf(effect);
  // What does nothing to it hands it on: a branch, a return, a choice between two.
  return (all & (QdEffectRead | QdEffectWrite)) ? all : all | QdEffectUnknown;
}

/// Whether an op orders accesses to memory between threads.
/// Whether an op, with what is in its regions, may be executed where its results are not used: it
/// has no effects, and is defined whatever its operands are.
extern "C" bool qdIsPure(MlirOperation op) { return isPure(unwrap(op)); }

extern "C" bool qdOrdersMemory(MlirOperation op) { return unwrap(op)->hasTrait<qd::OrdersMemory>(); }

/// The value of which an op's result is a view, or null.
extern "C" MlirValue qdViewSource(MlirOperation op) {
  auto view = dyn_cast<ViewLikeOpInterface>(unwrap(op));
  return wrap(view ? view.getViewSource() : Value());
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

extern "C" {
/// The properties of an algorithm (`AlgorithmOpInterface`).
struct QdAlgorithm {
  int32_t log256Capacity; // -1: it has none
  uint32_t formula;       // as `qd::ScratchFormula`
};

/// `role` is as `qd::OperandRole`.
typedef void (*QdAlgorithmOperandFn)(MlirValue value, uint32_t role, uint32_t group, void *data);
}

/// The properties of an algorithm, and of its operands in their order; false: it is not an algorithm.
extern "C" bool qdAlgorithm(MlirOperation op, QdAlgorithm *said, QdAlgorithmOperandFn visit,
                            void *data) {
  auto algorithm = dyn_cast<qd::AlgorithmOpInterface>(unwrap(op));
  if (!algorithm)
    return false;
  std::optional<uint32_t> capacity = algorithm.getLog256Capacity();
  *said = {capacity ? static_cast<int32_t>(*capacity) : -1,
           static_cast<uint32_t>(algorithm.getScratchFormula())};
  for (const qd::AlgorithmOperand &operand : algorithm.getAlgorithmOperands())
    visit(wrap(operand.value), static_cast<uint32_t>(operand.role), operand.group, data);
  return true;
}

/// The formula, as `qd::ScratchFormula`, of algorithms of a full name; that of none if there are
/// none of this name.
extern "C" uint32_t qdScratchFormula(MlirContext context, MlirStringRef name) {
  auto known = RegisteredOperationName::lookup(unwrap(name), unwrap(context));
  auto *interface = known ? known->getInterface<qd::AlgorithmOpInterface>() : nullptr;
  return static_cast<uint32_t>(interface ? interface->getScratchFormula()
                                         : qd::ScratchFormula::None);
}

/// Whether ops of a full name say how many values each of their operands is.
extern "C" bool qdHasOperandSegments(MlirContext context, MlirStringRef name) {
  auto known = RegisteredOperationName::lookup(unwrap(name), unwrap(context));
  return known && known->hasTrait<OpTrait::AttrSizedOperandSegments>();
}
