// import.cpp: the entry points of the Relay frontend.
#include "frontends/relay/import.h"

#include <filesystem>

#include "frontends/relax/constants/metadata.h"
#include "frontends/relay/operators.h"
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {
namespace {

frontend::TextConstants parse(SourceText& source, ast::Tree& tree) {
  Tokens tokens = read_tokens(source);
  frontend::TextConstants said;
  if (tokens.metadata.length > 0) {
    Result<std::vector<relax::ConstantRef>> constants = frontend::read_metadata(source, tokens.metadata);
    said.failed = !constants;
    if (constants) said.metadata = std::move(*constants);
  }
  Grammar(source, tree, std::move(tokens)).file();
  return said;
}

/// Marks all blocks as dataflow: no operator of Relay has effects, so passes for pure blocks may work on all of them.
void mark_pure(relax::Module& module) {
  for (relax::Function* function : module.functions())
    for (relax::Op* op : relax::ops_of(function->body(), true)) op->block->dataflow = true;
}

}  // namespace

bool is_relay(const std::string& path, std::string_view text) {
  if (std::filesystem::path(path).extension() == ".relay") return true;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with("#[version");
}

Result<relax::Module> parse_relay(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                  const frontend::ExternalConstants& beside) {
  frontend::Language language{parse, &kDialect};
  RELAXC_TRY(relax::Module module,
             frontend::parse_module(std::move(path), std::move(text), language, table, diag, beside));
  mark_pure(module);
  return module;
}

}  // namespace relaxc::relay
