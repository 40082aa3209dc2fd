// problems.h: what is wrong with a text, as diagnostics of the language server protocol.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/api/compile_options.h"
#include "compiler/language_server/document.h"

namespace relaxc::language_server {

/// How much of the compiler runs.
enum class Depth {
  kRead,    ///< reads the program, which deduces all shapes; or the steps of a schedule file
  kPasses,  ///< also runs all passes, as `relaxc --check` does
};

/// Returns the list of diagnostics. `stop` may end the passes; then nullopt is returned.
/// \param options  flags of a compilation, which say for what machine and which dims a program is checked
std::optional<nlohmann::json> problems(const Document& document, Depth depth, const api::CompileOptions& options,
                                       const relax::OpTable& ops, const std::function<bool()>& stop);

/// Returns the range of a place of the document.
nlohmann::json range_of(const Document& document, size_t begin, size_t end);

}  // namespace relaxc::language_server
