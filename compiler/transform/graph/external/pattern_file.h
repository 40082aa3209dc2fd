// pattern_file.h: files of --external-patterns.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/external/external_pattern.h"

namespace relaxc {

/// Reads the rows of a file.
/// \param sources  keeps the text, which messages point to
/// Fails with a place in the text if it is no such file, a line is not what docs/external-codegen.md says, a pattern
/// names an operator or an attribute that there is not, or a row uses a name that nothing in it gives.
Result<ExternalPatterns> read_external_patterns(std::string path, std::string text, const relax::OpTable& ops,
                                                Sources& sources, Diagnostics& diag);

/// The names that the holes of a pattern have.
struct HoleNames {
  std::vector<std::string> values, attrs;
};
/// Those of `pattern`, each once, in their order.
HoleNames holes_of(const PatternNode& pattern);

/// Whether `pattern` calls operators of `ops` with attributes and numbers of operands that they have. Reports what does
/// not fit; `place` gives a location for a byte of the pattern's text.
Status check_pattern(const PatternNode& pattern, const relax::OpTable& ops,
                     const std::function<Location(size_t at)>& place, Diagnostics& diag);

}  // namespace relaxc
