// The canonical forms of all that a context has loaded.
#ifndef QD_CLEAN_H
#define QD_CLEAN_H

#include "mlir/IR/DialectInterface.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include <memory>
#include <mutex>

namespace qd {
/// Made once for a context, and again when more has been loaded.
class CanonicalPatterns : public mlir::DialectInterface::Base<CanonicalPatterns> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalPatterns)
  explicit CanonicalPatterns(mlir::Dialect *dialect) : Base(dialect) {}
  std::shared_ptr<const mlir::FrozenRewritePatternSet> get() const;

private:
  mutable std::mutex mutex;
  mutable std::shared_ptr<const mlir::FrozenRewritePatternSet> patterns;
  mutable size_t ops = 0;
};
} // namespace qd

#endif // QD_CLEAN_H
