// parser.h: from the text IR (TVMScript, any age of its spelling) to a module.
//
// Three steps, one concern each: the lexer knows Python's lines and indentation, the grammar gives a tree that knows no
// Relax, and the builders give the tree its meaning. The grammar is Python's own, restricted to what modules need, so
// that a construct that is not yet understood is still read, and is refused by name at its place instead of as a syntax
// error.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "compiler/relax/op_def.h"

namespace relaxc::frontend {

/// What `metadata["relax.expr.Constant"][i]` refers to, by i.
using NumberedConstants = std::map<int64_t, relax::ConstantRef>;

/// Model data that is beside a text.
struct ExternalConstants {
  /// Given by the user; goes before what the text says.
  NumberedConstants constants;
  /// Reads the file of `metadata = relaxc.load_params("file")`; null: a text that has this is refused.
  std::function<Result<NumberedConstants>(const std::string& file, Location where)> load;
};

struct Language;

/// Reads `text` (quoted in messages as `path`) into a module that verifies. Every error of the file is reported, at
/// most one a cause, with its place and, for a misspelt name, the nearest one. The module's name is the class's, or the
/// file's where there is no class.
Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   const ExternalConstants& beside);
/// The same with a list of constants (relax::large_constants of the module that was printed).
Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   std::span<const relax::ConstantRef> constants = {});

/// The same of a text in another language, which language.h describes.
Result<relax::Module> parse_module(std::string path, std::string text, const Language& language,
                                   const relax::OpTable& table, Diagnostics& diag, const ExternalConstants& beside);

}  // namespace relaxc::frontend
