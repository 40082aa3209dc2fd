// tree_builder.h: makes the nodes of the tree of a Relax program, the names in it, and its statements in order.
//
// Relay's variables keep their names, but get a number if the name has a meaning for the readers of Relax or hides
// another variable.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/relax/text/ast.h"
#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

namespace ast = frontend::ast;

using Expr = const ast::Expr*;  ///< null if an error was reported
using Suite = std::vector<const ast::Stmt*>;

class TreeBuilder {
 public:
  TreeBuilder(ast::Tree& tree, const std::vector<Token>& tokens);
  TreeBuilder(const TreeBuilder&) = delete;

  Expr make(ast::ExprKind kind, Place place, std::vector<Expr> items = {}, std::string text = {});
  Expr name(Place place, std::string text) { return make(ast::ExprKind::kName, place, {}, std::move(text)); }
  Expr string(Place place, std::string text) { return make(ast::ExprKind::kString, place, {}, std::move(text)); }
  Expr integer(Place place, int64_t value);
  /// `value[index]`, of a tuple.
  Expr subscript(Place place, Expr value, Expr index);
  /// A call of `items[0]` with the rest of `items`.
  ast::Expr* call(Place place, std::vector<Expr> items, std::vector<ast::Keyword> keywords);
  /// R.function(arguments)
  Expr relax_call(Place place, std::string_view function, std::vector<Expr> arguments);
  /// R.adt.function(arguments, key=value)
  Expr data_call(Place place, std::string_view function, std::vector<Expr> arguments,
                 std::vector<std::pair<std::string, Expr>> keywords);
  /// An expression that is filled in later. Its depth counts as that of what may be filled in.
  ast::Expr* hole(Place place);

  /// Appends a statement to the suite that is written.
  ast::Stmt* emit(ast::StmtKind kind, Place place);
  /// Emits `name = value`; returns the name.
  Expr bind(const std::string& name, Expr value, Place place);
  /// Makes a function, which is in no suite yet.
  ast::Stmt* make_function(const std::string& name, Place place, bool is_private);
  void append(const ast::Stmt* statement) { suite_->push_back(statement); }
  void append_to_file(ast::Stmt* function) { tree_.file.push_back(function); }

  /// A name like `wanted` that the tree does not use yet.
  std::string unique(const std::string& wanted);

  /// Stands for a value that branches have already returned.
  Expr returned() const { return &returned_; }

  /// While it lives, statements are appended to `suite`.
  class Into {
   public:
    Into(TreeBuilder& tree, Suite& suite) : tree_(tree), outer_(std::exchange(tree.suite_, &suite)) {}
    Into(const Into&) = delete;
    ~Into() { tree_.suite_ = outer_; }

   private:
    TreeBuilder& tree_;
    Suite* outer_;
  };

 private:
  ast::Tree& tree_;
  std::set<std::string> used_;              ///< names
  std::map<std::string, int> next_number_;  ///< for each wanted name, of which all smaller numbers are used
  Suite* suite_ = nullptr;
  const ast::Expr returned_;
};

}  // namespace relaxc::relay
