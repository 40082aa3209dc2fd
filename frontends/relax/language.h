// language.h: describes a language whose functions are read like Relax functions.
//
// Languages of tensor programs agree on functions, calls, branches and tuples. One with a grammar and operators of its
// own defines both here; the readers of Relax functions handle its tree.
#pragma once

#include <optional>

#include "frontends/relax/shared/globals.h"

namespace relaxc::frontend {

/// The constants of a text.
struct TextConstants {
  std::optional<std::vector<relax::ConstantRef>> metadata;  ///< nullopt if the text has none
  bool failed = false;                                      ///< whether it has some, and they were reported as invalid
};

struct Language {
  /// Fills the tree, and returns the constants of the text.
  TextConstants (*parse)(SourceText& source, ast::Tree& tree, const relax::OpTable& table);
  /// Operators of its own; null: Relax's.
  const Dialect* dialect = nullptr;
};

}  // namespace relaxc::frontend
