// import.h: from a text of TVM's Relay to a module.
//
// Relay is what TVM 0.8 to 0.14 print of a model: `#[version = "0.0.5"]`, functions, and behind them the metadata with
// the constants. Its grammar gives the tree of a Relax program (text/grammar.h), which the text frontend reads, with
// Relay's operators in place of Relax's (operators.h).
#pragma once

#include <string>
#include <string_view>

#include "frontends/relax/parser.h"

namespace relaxc::relay {

/// Whether `text`, the content of the file `path`, is Relay: by the extension or its first line.
bool is_relay(const std::string& path, std::string_view text);

/// Reads `text` (quoted in messages as `path`) into a module that verifies; parse_module of Relay.
Result<relax::Module> parse_relay(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                  const frontend::ExternalConstants& beside);

}  // namespace relaxc::relay
