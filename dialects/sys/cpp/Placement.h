// Where the steps of a kernel and what depends on its threads may stand, and how
// large blocks may be.
#ifndef QD_PLACEMENT_H
#define QD_PLACEMENT_H

#include "Qd.h"

namespace qd {

/// Rejects a step (phase, algorithm, loop, …) that is not directly in a kernel,
/// or in a `do_while` or an `if` of one: its grid-wide barriers would be lost.
mlir::LogicalResult verifyTopLevel(mlir::Operation *op);

/// Whether an op depends on the executing thread and not on its operands alone: a
/// number or a choice of thread, subgroup or block, or how they are grouped.
bool dependsOnThread(mlir::Operation *op);

/// Rejects a block size that is not a multiple of every candidate wave or is
/// above what every target takes; `name` is what carries it.
mlir::LogicalResult verifyThreads(mlir::Operation *op, llvm::StringRef name, int64_t threads);

/// Rejects a count, a flag or a condition that is not one element, of rank 0 or 1.
mlir::LogicalResult verifyOneElement(mlir::Operation *op, llvm::StringRef name, mlir::Value buffer);

} // namespace qd

#endif // QD_PLACEMENT_H
