// pattern_file.h: reads files of --external-patterns.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/external/external_pattern.h"

namespace relaxc {

/// Reads the rows of a pattern file.
/// \param sources  keeps the text, which messages point to
/// Reports an error at a place in the text if it is no such file, a line is not what docs/external-codegen.md says, a
/// pattern names an unknown operator or attribute, or a row uses a name that nothing in it binds.
Result<ExternalPatterns> read_external_patterns(std::string path, std::string text, const relax::OpTable& ops,
                                                Sources& sources, Diagnostics& diag);

/// The names of a pattern's holes.
struct HoleNames {
  std::vector<std::string> values, attrs;
};
/// Returns the names of holes in `pattern`, each once, in order.
HoleNames holes_of(const PatternNode& pattern);

/// Checks that `pattern` calls operators of `ops` with attributes and numbers of operands that they have. Reports what
/// does not fit; `place` returns the location of a byte of the pattern's text.
Status check_pattern(const PatternNode& pattern, const relax::OpTable& ops,
                     const std::function<Location(size_t at)>& place, Diagnostics& diag);

}  // namespace relaxc
