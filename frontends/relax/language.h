// language.h: what a language says of itself whose functions are read as Relax functions.
//
// Languages of tensor programs agree on functions, calls, branches and tuples. One that has a grammar of its own, and
// operators of its own, gives both here; the readers of Relax functions give its tree a meaning.
#pragma once

#include <optional>

#include "frontends/relax/shared/globals.h"

namespace relaxc::frontend {

/// What a text says beside its functions.
struct TextConstants {
  std::optional<std::vector<relax::ConstantRef>> metadata;  ///< nothing: there is no metadata
  bool failed = false;                                      ///< there is some, and what is wrong with it was reported
};

struct Language {
  /// Fills the tree, and gives what the text says beside it.
  TextConstants (*parse)(SourceText& source, ast::Tree& tree);
  /// Operators of its own; null: Relax's.
  const Dialect* dialect = nullptr;
};

}  // namespace relaxc::frontend
