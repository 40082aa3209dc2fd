// name_index.cpp: walks the tree of a program for definitions, and its tokens for uses.
#include "compiler/language_server/name_index.h"

#include <algorithm>
#include <set>

#include "frontends/relax/parser.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/grammar.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::language_server {

using frontend::SourceText;
using frontend::Token;
using frontend::TokenKind;
using frontend::ast::Expr;
using frontend::ast::ExprKind;
using frontend::ast::Stmt;
using frontend::ast::StmtKind;

namespace {

uint32_t end_of(const Stmt& stmt) {
  uint32_t end = std::max(stmt.place.end(), stmt.name_place.end());
  for (const Expr* e : {stmt.target, stmt.annotation, stmt.value})
    if (e != nullptr) end = std::max(end, e->place.end());
  for (const frontend::ast::WithItem& item : stmt.with)
    if (item.value != nullptr) end = std::max(end, item.value->place.end());
  for (const auto* body : {&stmt.body, &stmt.orelse})
    if (!body->empty()) end = std::max(end, end_of(*body->back()));
  return end;
}

uint32_t begin_of(const Stmt& stmt) {
  uint32_t begin = stmt.place.begin;
  for (const Expr* decorator : stmt.decorators) begin = std::min(begin, decorator->place.begin);
  return begin;
}

/// Returns whether decorators make it a prim func.
bool is_prim_func(const Stmt& stmt) {
  return std::any_of(stmt.decorators.begin(), stmt.decorators.end(), [](const Expr* decorator) {
    const Expr& callee = decorator->is(ExprKind::kCall) ? *decorator->items[0] : *decorator;
    return frontend::dotted_path(callee).value_or("").ends_with("prim_func");
  });
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

}  // namespace

/// Lists what the statements define.
class NameIndex::Walk {
 public:
  explicit Walk(NameIndex& index) : index_(index) {}

  void suite(const std::vector<const Stmt*>& body, int32_t function, uint32_t end) {
    for (size_t i = 0; i < body.size(); ++i)
      statement(*body[i], function, i + 1 < body.size() ? begin_of(*body[i + 1]) : end);
  }

 private:
  void statement(const Stmt& stmt, int32_t function, uint32_t end) {
    if (stmt.kind == StmtKind::kFunction || stmt.kind == StmtKind::kClass) return scope(stmt, function, end);
    const bool loop = stmt.kind == StmtKind::kFor;
    if (stmt.target != nullptr && (stmt.kind == StmtKind::kAssign || loop))
      for (const Expr* target : frontend::targets_of(*stmt.target))
        if (target->is(ExprKind::kName))
          define(target->text, target->place, loop ? target->place.begin : end_of(stmt), function);
    for (const frontend::ast::WithItem& item : stmt.with)
      if (item.target != nullptr)
        for (const Expr* target : frontend::targets_of(*item.target))
          if (target->is(ExprKind::kName)) define(target->text, target->place, target->place.begin, function);
    suite(stmt.body, function, end);
    suite(stmt.orelse, function, end);
  }

  void scope(const Stmt& stmt, int32_t outer, uint32_t end) {
    const bool is_class = stmt.kind == StmtKind::kClass;
    const Definition::Kind kind = is_class             ? Definition::kModule
                                  : is_prim_func(stmt) ? Definition::kPrimFunc
                                                       : Definition::kFunction;
    // Functions of a class are names of the module, and known before any of them is read.
    const bool in_module =
        outer < 0 || index_.definitions_[index_.functions_[outer].definition].kind == Definition::kModule;
    define(stmt.text, stmt.name_place, in_module ? 0 : stmt.name_place.begin, in_module ? -1 : outer, kind);
    FunctionExtent extent;
    const uint32_t begin = begin_of(stmt);
    extent.range = {begin, end_of(stmt) - begin};
    extent.end = std::max(end, extent.range.end());
    extent.outer = outer;
    extent.definition = index_.definitions_.size() - 1;
    extent.signature = signature(stmt);
    const auto inner = static_cast<int32_t>(index_.functions_.size());
    index_.functions_.push_back(std::move(extent));
    for (const auto* list : {&stmt.type_params, &stmt.params})
      for (const frontend::ast::Parameter& param : *list)
        define(param.name, param.place, param.place.begin, inner, Definition::kParameter);
    suite(stmt.body, inner, end);
  }

  void define(const std::string& name, Place place, uint32_t from, int32_t function,
              Definition::Kind kind = Definition::kVariable) {
    index_.by_place_.emplace(place.begin, index_.definitions_.size());
    index_.by_name_[name].push_back(index_.definitions_.size());
    index_.definitions_.push_back({kind, name, place, from, function, {}});
  }

  /// Returns the head of a function or class as it is written, from its keyword to the colon, if it is not very long.
  std::string signature(const Stmt& stmt) const {
    constexpr size_t kLongest = 4000;
    const std::string& text = index_.text_;
    size_t begin = text.rfind('\n', stmt.name_place.begin);
    begin = begin == std::string::npos ? 0 : begin + 1;
    begin = std::min(text.find_first_not_of(" \t", begin), text.size());
    uint32_t end = stmt.annotation != nullptr ? stmt.annotation->place.end() : stmt.name_place.end();
    for (const frontend::ast::Parameter& param : stmt.params)
      end = std::max(end, param.annotation != nullptr ? param.annotation->place.end() : param.place.end());
    const size_t colon = std::min(text.find(':', end), text.size());
    return text.substr(begin, std::min(colon - std::min(colon, begin), kLongest));
  }

  NameIndex& index_;
};

std::string Mention::path() const {
  std::string path;
  for (const std::string& one : parts) path += (path.empty() ? "" : ".") + one;
  return path;
}

NameIndex::NameIndex(const std::string& path, const std::string& text, const relax::OpTable& ops) : text_(text) {
  Sources sources;
  Diagnostics unheard;
  SourceText source(sources.add_file(path, text), sources, unheard);
  frontend::ast::Tree tree;
  frontend::parse_file(source, tree);
  Walk(*this).suite(tree.file, -1, static_cast<uint32_t>(text.size()));
  tokens_ = frontend::tokenize(source);
  add_types(ops, path);
}

void NameIndex::add_types(const relax::OpTable& ops, const std::string& path) {
  Diagnostics unheard;
  frontend::ExternalConstants beside;  // weights in files give no types that the text does not have
  beside.load = [](const std::string&, Location) -> Result<frontend::NumberedConstants> {
    return frontend::NumberedConstants();
  };
  (void)frontend::parse_module(
      path, text_, ops, unheard, beside,
      [this](Place place, const std::string& name, const std::string& type) { note(place, name, type); });
  // `n = T.int64()` names the symbol that a parameter's dims bind, and is not bound itself.
  for (const Definition& symbol : definitions_) {
    if (symbol.kind != Definition::kSymbol) continue;
    for (size_t i : by_name_[symbol.name])
      if (definitions_[i].function == symbol.function && definitions_[i].type.empty())
        definitions_[i].type = symbol.type;
  }
}

void NameIndex::note(Place place, const std::string& name, const std::string& type) {
  if (place.length != name.size() || text_.compare(place.begin, place.length, name) != 0) return;
  if (auto known = by_place_.find(place.begin); known != by_place_.end()) {
    if (!type.empty()) definitions_[known->second].type = type;
    return;
  }
  by_place_.emplace(place.begin, definitions_.size());
  by_name_[name].push_back(definitions_.size());
  definitions_.push_back({Definition::kSymbol, name, place, place.begin, function_at(place.begin), type});
}

int32_t NameIndex::function_at(uint32_t byte) const {
  int32_t found = -1;  // inner functions come after outer ones
  for (size_t i = 0; i < functions_.size(); ++i)
    if (functions_[i].range.begin <= byte && byte < functions_[i].end) found = static_cast<int32_t>(i);
  return found;
}

bool NameIndex::is_module(const std::string& name) const {
  auto is = [&](const FunctionExtent& one) {
    const Definition& definition = definitions_[one.definition];
    return definition.kind == Definition::kModule && definition.name == name;
  };
  return name == "cls" || std::any_of(functions_.begin(), functions_.end(), is);
}

Mention NameIndex::mention_at(size_t byte) const {
  Mention mention;
  auto ends_before = [&](const Token& token, size_t at) { return token.place.end() < at; };
  auto token = std::lower_bound(tokens_.begin(), tokens_.end(), byte, ends_before);
  // At the border of two tokens, the name is meant.
  while (token != tokens_.end() && token->kind != TokenKind::kName && token->kind != TokenKind::kString &&
         token->place.end() <= byte)
    ++token;
  if (token == tokens_.end() || token->place.begin > byte) return mention;
  if (token->kind == TokenKind::kString) {
    size_t begin = byte, end = byte;
    while (begin > token->place.begin && is_name_part(text_[begin - 1])) --begin;
    while (end < token->place.end() && is_name_part(text_[end])) ++end;
    mention.place = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin)};
    if (end > begin) mention.parts.push_back(text_.substr(begin, end - begin));
    return mention;
  }
  if (token->kind != TokenKind::kName) return mention;
  auto first = token;
  while (first - tokens_.begin() >= 2 && (first - 1)->text == "." && (first - 2)->kind == TokenKind::kName) first -= 2;
  const bool keyword = first == token && token != tokens_.begin() && token + 1 != tokens_.end() &&
                       (token + 1)->text == "=" && ((token - 1)->text == "(" || (token - 1)->text == ",");
  if (keyword) return mention;  // `axis` of `axis=1`
  mention.place = token->place;
  mention.part = static_cast<size_t>(token - first) / 2;
  for (auto part = first; part <= token; part += 2) mention.parts.push_back(part->text);
  return mention;
}

const Definition* NameIndex::meaning(const Mention& mention) const {
  if (mention.parts.empty()) return nullptr;
  const std::string& name = mention.parts[mention.part];
  if (mention.part == 0) return find(name, mention.place.begin);
  if (mention.part != 1 || !is_module(mention.parts[0])) return nullptr;
  const Definition* found = find(name, 0);
  return found != nullptr && found->function < 0 ? found : nullptr;
}

const Definition* NameIndex::find(const std::string& name, uint32_t byte) const {
  if (auto at = by_place_.find(byte); at != by_place_.end() && definitions_[at->second].name == name)
    return &definitions_[at->second];
  auto known = by_name_.find(name);
  if (known == by_name_.end()) return nullptr;
  for (int32_t function = function_at(byte);; function = functions_[static_cast<size_t>(function)].outer) {
    const Definition *latest = nullptr, *next = nullptr;
    for (size_t i : known->second) {
      const Definition& one = definitions_[i];
      if (one.function != function) continue;
      const bool before = one.visible_from <= byte;
      if (before && (latest == nullptr || one.visible_from >= latest->visible_from)) latest = &one;
      if (!before && (next == nullptr || one.visible_from < next->visible_from)) next = &one;
    }
    // A parameter's dims may name symbols that a later parameter declares.
    if (latest != nullptr || (next != nullptr && next->kind == Definition::kSymbol)) return latest ? latest : next;
    if (function < 0) return nullptr;
  }
}

std::vector<const Definition*> NameIndex::visible_at(size_t byte) const {
  std::vector<const Definition*> out;
  for (const auto& [name, list] : by_name_)
    if (const Definition* found = find(name, static_cast<uint32_t>(byte))) out.push_back(found);
  std::sort(out.begin(), out.end(), [](const Definition* a, const Definition* b) { return a->name < b->name; });
  return out;
}

const FunctionExtent* NameIndex::function_of(const Definition& definition) const {
  for (const FunctionExtent& one : functions_)
    if (&definitions_[one.definition] == &definition) return &one;
  return nullptr;
}

}  // namespace relaxc::language_server
