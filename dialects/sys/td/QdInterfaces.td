//===- QdInterfaces.td - what passes ask of ops ----------------------------===//
//
// A fact that more than one pass needs is a method here, which an op implements where
// it is defined. Passes keep no lists of names.
//
//===----------------------------------------------------------------------===//

#ifndef QD_INTERFACES_TD
#define QD_INTERFACES_TD

include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Convergence
//===----------------------------------------------------------------------===//

// Every op of `qd.simt` has one of these two. A pass that queries an op with neither reports
// an error.

def PerThread : NativeOpTrait<"PerThread"> {
  let cppNamespace = "::qd";
}

// Orders accesses to memory between threads: barriers, fences, and atomics. What another thread
// has written before may be read after it.
def OrdersMemory : NativeOpTrait<"OrdersMemory"> {
  let cppNamespace = "::qd";
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let description = [{
    An op that the threads of a subgroup or of a block execute together: all of them
    have to reach it, or none.
  }];
  let cppNamespace = "::qd";
  let methods = [
    InterfaceMethod<"The threads that execute the op together.",
      "::qd::Scope", "getExecutionScope">,
    InterfaceMethod<"Whether values can be exchanged within clusters of the lanes.",
      "bool", "supportsClusters", (ins), "", "return false;">,
    InterfaceMethod<"Base-2 logarithm of the lanes in a cluster; none: all lanes are one.",
      "::std::optional<uint32_t>", "getLog2ClusterSize", (ins), "", "return std::nullopt;">,
    InterfaceMethod<"The operands that must be the same in all of these threads, each with its name.",
      "::llvm::SmallVector<::qd::UniformOperand>", "getUniformOperands", (ins), "", "return {};">,
    InterfaceMethod<"In which of these threads the results are the same.",
      "::qd::ResultUniformity", "getResultUniformity">,
    InterfaceMethod<[{The operand with the index of the lane that each lane reads, if there is one.
      Results are uniform where it is uniform.}],
      "::mlir::Value", "getSourceLane", (ins), "", "return {};">,
  ];
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

def AlgorithmOpInterface : OpInterface<"AlgorithmOpInterface"> {
  let description = [{
    A device-wide algorithm: what it does with each of its buffers, and how long these have to be.
    The count is the number of elements of the first operand that is an input or a key.
  }];
  let cppNamespace = "::qd";
  let methods = [
    InterfaceMethod<"All operands in their order, each with its name and its role.",
      "::llvm::SmallVector<::qd::AlgorithmOperand>", "getAlgorithmOperands">,
    InterfaceMethod<"Base-256 logarithm of the most elements that there can be.",
      "::std::optional<uint32_t>", "getLog256Capacity">,
    StaticInterfaceMethod<"How many elements scratch has to have.",
      "::qd::ScratchFormula", "getScratchFormula">,
  ];
  let verify = "return ::qd::verifyAlgorithm($_op);";
}

#endif // QD_INTERFACES_TD
