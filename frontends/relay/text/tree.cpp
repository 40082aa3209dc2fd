// tree.cpp: makes the nodes of the tree, and the names in them.
//
// Relay's variables keep their names, but get a number if the name has a meaning for the readers of Relax or hides
// another variable.
#include <algorithm>

#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {

using ast::ExprKind;

const Token& Grammar::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token Grammar::take() {
  return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_];
}

bool Grammar::accept(std::string_view text) {
  if (!peek().is(text) && !peek().is_name(text)) return false;
  take();
  return true;
}

bool Grammar::expect(std::string_view text, std::string_view where) {
  if (accept(text)) return true;
  unexpected(fmt::format("'{}' {}", text, where));
  return false;
}

Grammar::Expr Grammar::unexpected(std::string_view wanted) {
  const Token& found = peek();
  std::string text = found.kind == TokenKind::kEnd
                         ? "the end of the text"
                         : "'" + source_.text().substr(found.place.begin, found.place.length) + "'";
  constexpr size_t kLongest = 40;
  if (text.size() > kLongest) text = "what is here";
  return refuse(found.place, Kind::syntax, "expected {}, found {}", wanted, text);
}

Grammar::Expr Grammar::make(ExprKind kind, Place place, std::vector<Expr> items, std::string text) {
  ast::Expr& made = tree_.exprs.emplace_back();
  made.kind = kind;
  made.place = place;
  for (Expr item : items) made.depth = std::max(made.depth, item->depth + 1);
  made.items = std::move(items);
  made.text = std::move(text);
  return &made;
}

Grammar::Expr Grammar::name(Place place, std::string text) {
  return make(ExprKind::kName, place, {}, std::move(text));
}

/// Makes the call R.function(arguments).
Grammar::Expr Grammar::relax_call(Place place, std::string_view function, std::vector<Expr> arguments) {
  arguments.insert(arguments.begin(), make(ExprKind::kAttribute, place, {name(place, "R")}, std::string(function)));
  return make(ExprKind::kCall, place, std::move(arguments));
}

ast::Stmt* Grammar::emit(ast::StmtKind kind, Place place) {
  ast::Stmt& made = tree_.stmts.emplace_back();
  made.kind = kind;
  made.place = place;
  if (suite_ != nullptr) suite_->push_back(&made);
  return &made;
}

Grammar::Expr Grammar::named(Expr value, const std::string& wanted, Place place) {
  const bool has_name = value->is(ExprKind::kName) && !value->text.empty();  // a hole has none yet
  if (has_name) return value;
  ast::Stmt* bound = emit(ast::StmtKind::kAssign, place);
  bound->value = value;
  bound->target = name(place, unique(wanted));
  if (infers_) types_of_names_[bound->target->text] = type_of(value);
  return bound->target;
}

std::string Grammar::unique(const std::string& wanted) {
  std::string text = wanted;
  for (int number = 1; !used_.insert(text).second; ++number) text = wanted + "_" + std::to_string(number);
  return text;
}

std::string Grammar::declare(const std::string& variable) {
  std::string text = unique(variable);
  scopes_.back().locals[variable] = text;
  return text;
}

}  // namespace relaxc::relay
