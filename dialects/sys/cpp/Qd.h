// The qd dialect: what every C++ file of it includes.
#ifndef QD_H
#define QD_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace qd {
/// The set of lanes that execute a collective together: read by each of them.
struct ConvergenceResource
    : public mlir::SideEffects::Resource::Base<ConvergenceResource> {
  mlir::StringRef getName() final { return "<Convergence>"; }
};

/// What other threads do meanwhile: written by what must not be moved or done twice for it.
struct ConcurrencyResource
    : public mlir::SideEffects::Resource::Base<ConcurrencyResource> {
  mlir::StringRef getName() final { return "<Concurrency>"; }
};
} // namespace qd

#include "QdDialect.h.inc"
#include "QdEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "QdAttrs.h.inc"

namespace qd {
/// Who executes an op: each thread for itself.
template <typename ConcreteOp>
class PerThread : public mlir::OpTrait::TraitBase<ConcreteOp, PerThread> {};

/// Orders accesses to memory between threads: barriers, fences, and atomics.
template <typename ConcreteOp>
class OrdersMemory : public mlir::OpTrait::TraitBase<ConcreteOp, OrdersMemory> {};

/// In which of the threads that execute a collective its results are the same.
enum class ResultUniformity {
  Varying,      // not known to be the same in any two
  FromOperands, // in all of them, where each operand is
  Uniform,      // in all of them, or in all of a cluster
};

/// An operand that must be the same in all of these threads.
struct UniformOperand {
  llvm::StringRef name;
  mlir::Value value;
};

/// What an algorithm does with a buffer, which has n elements unless stated otherwise.
enum class OperandRole {
  Input,     // read
  Output,    // written, of as many elements as there are results
  Total,     // written, one element
  Key,       // read, and in place of it what becomes of it
  Value,     // what goes with a key
  Workspace, // what it holds before and afterwards means nothing
  Scratch,   // the same, of as many elements as the formula says
  Count,     // read, one element: n
};

/// The required number of elements of scratch: the formulas on the page of `qd.algo.scratch_slots`.
enum class ScratchFormula { None, Levels, Histograms, Compaction, Runs };

/// The name and the role of an operand, as in the op's definition.
struct OperandDefinition {
  OperandRole role;
  llvm::StringRef name;
};

/// An operand of an algorithm.
struct AlgorithmOperand {
  OperandRole role;
  llvm::StringRef name; // as in the definition
  unsigned group;       // which operand of the definition it belongs to
  unsigned place;       // among those of its group
  mlir::Value value;
};

/// The operands of an op with this definition.
template <typename ConcreteOp>
llvm::SmallVector<AlgorithmOperand>
operandsWithRoles(ConcreteOp op, llvm::ArrayRef<OperandDefinition> definitions) {
  llvm::SmallVector<AlgorithmOperand> all;
  for (auto [group, definition] : llvm::enumerate(definitions))
    for (auto [place, value] : llvm::enumerate(op.getODSOperands(group)))
      all.push_back({definition.role, definition.name, unsigned(group), unsigned(place), value});
  return all;
}

/// The checks that all algorithms share: they follow from the roles of their operands.
llvm::LogicalResult verifyAlgorithm(mlir::Operation *op);
} // namespace qd

#include "QdInterfaces.h.inc"

namespace qd {
/// Parses the bare keyword of an enum attribute. (Printed as the attribute it
/// would carry its angle brackets into the op.)
template <typename CaseAttr>
mlir::ParseResult parseCase(mlir::OpAsmParser &parser, CaseAttr &attribute) {
  using Case = decltype(attribute.getValue());
  mlir::FailureOr<Case> value = mlir::FieldParser<Case>::parse(parser);
  if (mlir::failed(value))
    return mlir::failure();
  attribute = CaseAttr::get(parser.getContext(), *value);
  return mlir::success();
}

/// Prints it.
template <typename CaseAttr>
void printCase(mlir::OpAsmPrinter &printer, mlir::Operation *, CaseAttr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

/// Parses a region. One that does not parse is freed before what uses its values from outside,
/// which upstream's declarative formats leave pointing into it: here they forget it first.
mlir::ParseResult parseNested(mlir::OpAsmParser &parser, mlir::Region &region);
/// Prints it.
void printNested(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Region &region);
/// The same, for a region that has a block though `{}` names none.
mlir::ParseResult parseBody(mlir::OpAsmParser &parser, mlir::Region &region);
/// Prints it.
void printBody(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &region);
} // namespace qd

#define GET_OP_CLASSES
#include "QdOps.h.inc"

#endif // QD_H
