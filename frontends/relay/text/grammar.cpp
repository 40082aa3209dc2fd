// grammar.cpp: finds the definitions of a text, and reads those that are wanted.
#include "frontends/relay/text/grammar.h"

#include "frontends/relay/text/data.h"
#include "frontends/relay/text/functions.h"

namespace relaxc::relay {

namespace {

bool defines_function(const std::vector<Token>& tokens, size_t at) {
  return tokens[at].is_name("def") && tokens[at + 1].kind == TokenKind::kGlobal;
}

bool defines_type(const std::vector<Token>& tokens, size_t at) {
  return tokens[at].is_name("type") && tokens[at + 1].kind == TokenKind::kName;
}

/// Returns the next `def` or `type` that is outside of braces or at the start of a line.
size_t end_of_definition(const TokenCursor& cursor, size_t begin) {
  const std::vector<Token>& tokens = cursor.all();
  int open = 0;
  for (size_t i = begin; tokens[i].kind != TokenKind::kEnd; ++i) {
    const bool defines = defines_function(tokens, i) || defines_type(tokens, i);
    if (i > begin && defines && (open == 0 || cursor.starts_line(tokens[i].place))) return i;
    open += (tokens[i].is("{") ? 1 : 0) - (tokens[i].is("}") ? 1 : 0);
  }
  return tokens.size() - 1;
}

void add_function(ReaderParts& reader, size_t begin, size_t end) {
  const std::vector<Token>& tokens = reader.tokens.all();
  const Token& name = tokens[begin];
  FunctionDefinition made{begin, end, {}, {}};
  for (size_t i = begin + 1; tokens[begin + 1].is("[") && i < end && !tokens[i].is("]"); ++i)
    if (tokens[i].kind == TokenKind::kName) made.type_params.push_back(tokens[i].text);
  if (!made.type_params.empty()) reader.values.infer();
  for (size_t i = begin + 1; i < end; ++i)
    if (tokens[i].kind == TokenKind::kGlobal) made.mentions.insert(tokens[i].text);
  if (!reader.definitions.add_function(name.text, std::move(made)))
    (void)reader.tokens.refuse(name.place, Kind::redefinition, "two functions are named '@{}'", name.text);
}

void find_definitions(ReaderParts& reader) {
  const std::vector<Token>& tokens = reader.tokens.all();
  size_t end = 0;
  for (size_t at = 0; tokens[at].kind != TokenKind::kEnd; at = end) {
    end = end_of_definition(reader.tokens, at);
    if (defines_type(tokens, at))
      read_type_definition(reader, at, end);
    else if (defines_function(tokens, at))
      add_function(reader, at + 1, end);
    else if (!reader.definitions.functions().empty())
      (void)reader.tokens.refuse(tokens[at].place, Kind::syntax, "expected 'def @name' or 'type'");
  }
  for (size_t at = 0; tokens[at].kind != TokenKind::kEnd; ++at)
    if (tokens[at].is_name("fn") && tokens[at + 1].is("[")) reader.values.infer();
  reader.tokens.go_to(0);
}

}  // namespace

void read_text(SourceText& source, ast::Tree& tree, Tokens tokens, Types::Deduce deduce) {
  ReaderParts reader(source, tree, std::move(tokens.list), std::move(deduce));
  find_definitions(reader);
  const Definitions& definitions = reader.definitions;
  if (definitions.functions().empty()) return read_free_expression(reader);
  const std::set<std::string> wanted = definitions.reachable();
  const bool has_main = definitions.function("main") != nullptr;
  for (const std::string& function : definitions.functions()) {
    const FunctionDefinition& definition = *definitions.function(function);
    if (function == "main" && !definition.type_params.empty())
      (void)reader.tokens.refuse(reader.tokens.all()[definition.begin].place, Kind::unsupported,
                                 "'@main' has parameters that are types, and nothing calls it");
    if (wanted.count(function) == 0 || !definition.type_params.empty()) continue;
    const bool is_private = has_main && function != "main";
    if (!is_private && reader.values.are_inferred() && refuse_data_of(reader, definition, function)) continue;
    reader.values.start_function({});
    read_global_function(reader, definition, function, is_private);
  }
  for (size_t i = 0; i < definitions.instances().size(); ++i) {  // which may need more of them
    const Definitions::Instance& instance = definitions.instances()[i];
    reader.values.start_function(instance.types);
    read_global_function(reader, *definitions.function(instance.function), instance.name, true);
  }
}

}  // namespace relaxc::relay
