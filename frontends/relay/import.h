// import.h: imports a text of TVM's Relay into a module.
//
// Relay is what TVM 0.8 to 0.14 print for a model: `#[version = "0.0.5"]`, functions, and after them the metadata with
// the constants. The grammar turns it into the tree of a Relax program (text/grammar.h), which the text frontend reads
// with Relay's operators instead of Relax's (operators.h).
#pragma once

#include <string>
#include <string_view>

#include "frontends/relax/parser.h"

namespace relaxc::relay {

/// Returns whether `text`, the content of the file `path`, is Relay, by the extension or the first line.
bool is_relay(const std::string& path, std::string_view text);

/// Reads `text` into a module that verifies, as parse_module does for Relax; messages name it `path`.
Result<relax::Module> parse_relay(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                  const frontend::ExternalConstants& beside);

}  // namespace relaxc::relay
