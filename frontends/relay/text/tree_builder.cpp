// tree_builder.cpp: nodes, statements and names of the tree.
#include "frontends/relay/text/tree_builder.h"

#include <algorithm>
#include <iterator>

namespace relaxc::relay {

using ast::ExprKind;
using ast::StmtKind;

namespace {

/// Names with a meaning for the readers of Relax functions; no variable may have them.
constexpr const char* kReserved[] = {"R",        "T",   "I",     "relay", "relax", "tir",
                                     "metadata", "cls", "float", "max",   "min",   "_"};
/// More than the depth of R.adt's calls, the deepest that holes become.
constexpr uint32_t kDepthOfHole = 8;

}  // namespace

TreeBuilder::TreeBuilder(ast::Tree& tree, const std::vector<Token>& tokens)
    : tree_(tree), used_(std::begin(kReserved), std::end(kReserved)) {
  for (const Token& token : tokens)
    if (token.kind == TokenKind::kGlobal) used_.insert(token.text);
}

Expr TreeBuilder::make(ExprKind kind, Place place, std::vector<Expr> items, std::string text) {
  ast::Expr& made = tree_.exprs.emplace_back();
  made.kind = kind;
  made.place = place;
  for (Expr item : items) made.depth = std::max(made.depth, item->depth + 1);
  made.items = std::move(items);
  made.text = std::move(text);
  return &made;
}

Expr TreeBuilder::integer(Place place, int64_t value) {
  if (value < 0) return make(ExprKind::kUnary, place, {integer(place, -value)}, "-");
  return make(ExprKind::kInt, place, {}, std::to_string(value));
}

Expr TreeBuilder::subscript(Place place, Expr value, Expr index) {
  return make(ExprKind::kSubscript, place, {value, index});
}

ast::Expr* TreeBuilder::call(Place place, std::vector<Expr> items, std::vector<ast::Keyword> keywords) {
  uint32_t depth = 1;
  for (const ast::Keyword& keyword : keywords) depth = std::max(depth, keyword.value->depth + 1);
  for (Expr item : items) depth = std::max(depth, item->depth + 1);
  return &tree_.exprs.emplace_back(ast::Expr{ExprKind::kCall, place, {}, std::move(items), std::move(keywords), depth});
}

Expr TreeBuilder::relax_call(Place place, std::string_view function, std::vector<Expr> arguments) {
  arguments.insert(arguments.begin(), make(ExprKind::kAttribute, place, {name(place, "R")}, std::string(function)));
  return make(ExprKind::kCall, place, std::move(arguments));
}

Expr TreeBuilder::data_call(Place place, std::string_view function, std::vector<Expr> arguments,
                            std::vector<std::pair<std::string, Expr>> keywords) {
  Expr family = make(ExprKind::kAttribute, place, {name(place, "R")}, "adt");
  arguments.insert(arguments.begin(), make(ExprKind::kAttribute, place, {family}, std::string(function)));
  std::vector<ast::Keyword> written;
  for (auto& [key, value] : keywords) written.push_back({key, place, value});
  return call(place, std::move(arguments), std::move(written));
}

ast::Expr* TreeBuilder::hole(Place place) {
  ast::Expr& made = tree_.exprs.emplace_back();
  made.place = place;
  made.depth = kDepthOfHole;
  return &made;
}

ast::Stmt* TreeBuilder::emit(StmtKind kind, Place place) {
  ast::Stmt& made = tree_.stmts.emplace_back();
  made.kind = kind;
  made.place = place;
  if (suite_ != nullptr) suite_->push_back(&made);
  return &made;
}

Expr TreeBuilder::bind(const std::string& bound, Expr value, Place place) {
  ast::Stmt* made = emit(StmtKind::kAssign, place);
  made->value = value;
  made->target = name(place, bound);
  return made->target;
}

ast::Stmt* TreeBuilder::make_function(const std::string& called, Place place, bool is_private) {
  ast::Stmt& made = tree_.stmts.emplace_back();
  made.kind = StmtKind::kFunction;
  made.place = made.name_place = place;
  made.text = called;
  Expr decorator = make(ExprKind::kAttribute, place, {name(place, "R")}, "function");
  if (is_private) decorator = call(place, {decorator}, {{"private", place, make(ExprKind::kTrue, place)}});
  made.decorators.push_back(decorator);
  return &made;
}

std::string TreeBuilder::unique(const std::string& wanted) {
  std::string text = wanted;
  int& next = next_number_.try_emplace(wanted, 1).first->second;
  while (!used_.insert(text).second) text = wanted + "_" + std::to_string(next++);
  return text;
}

}  // namespace relaxc::relay
