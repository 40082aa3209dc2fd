// parser.h: parses the text IR (TVMScript, any version of its syntax) to a module.
//
// There are three steps: the lexer handles Python's lines and indentation, the grammar makes a tree without Relax's
// semantics, and the readers make the graph of that tree. The grammar is Python's own, restricted to what modules
// need, so that an unsupported construct is still parsed, and is refused by its name and place instead of as a syntax
// error.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "compiler/relax/op_def.h"
#include "frontends/relax/shared/bindings.h"

namespace relaxc::frontend {

/// The constants `metadata["relax.expr.Constant"][i]`, by i.
using NumberedConstants = std::map<int64_t, relax::ConstantRef>;

/// Constants in files beside a text.
struct ExternalConstants {
  /// Given by the user; these have precedence over those of the text.
  NumberedConstants constants;
  /// Reads the file of `metadata = relaxc.load_params("file")`; null: a text that has this line is refused.
  std::function<Result<NumberedConstants>(const std::string& file, Location where)> load;
  /// Told of the values that the text gives for parameters of a function (`params` of its attributes), by name; a value
  /// is null if the text refers to it and does not have it. Null: such parameters stay inputs.
  std::function<void(const std::string& function, std::map<std::string, relax::ConstantRef> values)> give;
};

struct Language;

/// Parses `text` (`path` in messages) to a module that verifies. Reports every error of the file, at most one for each
/// cause, with its place and, for a misspelt name, the nearest one. The module's name is the class's, or the file's if
/// there is no class. `bound`, unless it is null, is called for every name that the functions bind.
Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   const ExternalConstants& beside, const TellBinding& bound = {});
/// The same with a list of constants (relax::large_constants of the module that was printed).
Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   std::span<const relax::ConstantRef> constants = {});

/// The same for a text in another language, which language.h describes.
Result<relax::Module> parse_module(std::string path, std::string text, const Language& language,
                                   const relax::OpTable& table, Diagnostics& diag, const ExternalConstants& beside,
                                   const TellBinding& bound = {});

}  // namespace relaxc::frontend
