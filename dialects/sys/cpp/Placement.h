// Where the steps of a kernel may stand.
#ifndef QD_PLACEMENT_H
#define QD_PLACEMENT_H

#include "Qd.h"

namespace qd {

/// Rejects a step (phase, algorithm, loop, …) that is not directly in a kernel
/// or in a `do_while` of one: its grid-wide barriers would be lost.
mlir::LogicalResult verifyTopLevel(mlir::Operation *op);

} // namespace qd

#endif // QD_PLACEMENT_H
