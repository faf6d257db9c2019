// What is read before MLIR's parser sees it.
#ifndef QD_INPUT_H
#define QD_INPUT_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace qd {

/// How deep brackets, and with them regions, types and attributes, may be nested. Upstream's
/// parser, printer and verifier call themselves for each level, and end in an overflow of the
/// stack some thousands below this; what passes do grows faster than the depth.
constexpr unsigned maxNesting = 1024;

/// What the error says.
extern const char *const nestingMessage;

/// Where in a text brackets are nested deeper than that, as an offset.
std::optional<size_t> findNesting(llvm::StringRef text);

} // namespace qd

#endif // QD_INPUT_H
