// expression_grammar.h: parses expressions by precedence climbing.
//
// The depth is limited twice: `nesting_` during recursion (parentheses, prefix operators, powers of powers), and
// Expr::depth of the result, since a chain of a thousand `+` is deep without nesting. So no later walk over the tree
// overflows the stack.
#pragma once

#include <algorithm>
#include <utility>

#include "frontends/relax/text/ast.h"
#include "frontends/relax/text/lexer.h"

namespace relaxc::frontend {

class ExpressionGrammar {
 public:
  ExpressionGrammar(SourceText& source, ast::Tree& tree, std::vector<Token> tokens)
      : source_(source), tree_(tree), tokens_(std::move(tokens)) {}

  /// Parses one expression; null if an error was reported.
  const ast::Expr* expression();
  /// Parses expressions separated by commas: a tuple if there is a comma.
  const ast::Expr* expression_list();
  /// Parses the target of a for: a `name` without operators, since `in` is not one there.
  const ast::Expr* target_list();

 protected:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool next_is(std::string_view text) const {
    return (peek().kind == TokenKind::kPunctuation || peek().kind == TokenKind::kName) && peek().text == text;
  }
  bool accept(std::string_view text) { return next_is(text) && (take(), true); }
  bool expect(std::string_view text, std::string_view after);
  /// Reports what was found instead of `wanted`, except at a kError, which was reported before.
  void unexpected(std::string_view wanted);
  bool at_end_of_list() const;

  const ast::Expr* python_only(Place place, std::string_view what);
  ast::Expr* make(ast::ExprKind kind, Place place, std::vector<const ast::Expr*> items = {}, std::string text = {});

  SourceText& source_;
  ast::Tree& tree_;
  std::vector<Token> tokens_;
  size_t at_ = 0;

 private:
  /// Whether nesting exceeds its limit here, which is then reported.
  bool too_deep();
  const ast::Expr* binary(int least);
  const ast::Expr* prefix();
  const ast::Expr* postfix();
  const ast::Expr* atom();
  const ast::Expr* name_or_constant();
  const ast::Expr* string_atom();
  const ast::Expr* bracketed();
  const ast::Expr* dict();
  const ast::Expr* subscript(const ast::Expr* base);
  const ast::Expr* subscript_item();
  const ast::Expr* call(const ast::Expr* callee);
  const ast::Expr* lambda();

  int nesting_ = 0;
};

}  // namespace relaxc::frontend
