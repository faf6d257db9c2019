// What a combining op verifies, in every family: a kind that fits the element
// type, or a region over K scalars with K identities.
#ifndef QD_COMBINER_H
#define QD_COMBINER_H

#include "Qd.h"

namespace qd {

/// Parses the optional keyword before a combining op's operands.
mlir::OptionalParseResult parseCombiningKind(mlir::OpAsmParser &parser, CombiningKindAttr &kind);
/// Prints it.
void printCombiningKind(mlir::OpAsmPrinter &printer, mlir::Operation *op, CombiningKindAttr kind);

/// Rejects a kind that the element type does not have; names both.
mlir::LogicalResult verifyKind(mlir::Operation *op, CombiningKind kind, mlir::Type type);

/// Verifies that exactly one of kind and region is there, and fits `types`.
mlir::LogicalResult verifyCombiner(mlir::Operation *op, std::optional<CombiningKind> kind,
                                   std::optional<mlir::ArrayAttr> identities,
                                   mlir::Region &combiner, mlir::TypeRange types);

} // namespace qd

#endif // QD_COMBINER_H
