// grammar.cpp: parses statements, and continues after errors.
//
// A statement with an error ends at the end of its line; if it has a block, that is skipped too. The enclosing function
// is marked broken, so that missing names in it are not reported, and parsing continues with the next statement.
#include "frontends/relax/text/grammar.h"

#include "frontends/relax/text/expression_grammar.h"

namespace relaxc::frontend {

using ast::Expr;
using AstKind = ast::ExprKind;
using ast::Stmt;
using ast::StmtKind;

namespace {

class Grammar : ExpressionGrammar {
 public:
  Grammar(SourceText& source, ast::Tree& tree, std::vector<Token> tokens)
      : ExpressionGrammar(source, tree, std::move(tokens)) {}

  void file() {
    while (peek().kind != TokenKind::kEnd) statement(tree_.file);
  }

  const Expr* quoted() {
    const Expr* value = expression_list();
    if (value != nullptr && peek().kind != TokenKind::kEnd) return unexpected("the end of the string"), nullptr;
    return value;
  }

 private:
  using Body = std::vector<const Stmt*>;

  void statement(Body& out) {
    TokenKind kind = peek().kind;
    if (kind == TokenKind::kNewline || kind == TokenKind::kDedent) return (void)take();
    if (kind == TokenKind::kIndent) {
      unexpected("a line at this level");
      broken_ = true;
      take();
      return;
    }
    Stmt* made = compound();
    if (made == nullptr) return recover();
    out.push_back(made);
  }

  /// Skips the rest of the line, its block, and an `elif`, `else` or `except` that follows, which belongs to the same
  /// statement.
  void recover() {
    broken_ = true;
    do skip_line_and_block();
    while (next_is("elif") || next_is("else") || next_is("except") || next_is("finally"));
  }

  void skip_line_and_block() {
    while (peek().kind != TokenKind::kNewline && peek().kind != TokenKind::kEnd) {
      if (peek().kind == TokenKind::kDedent || peek().kind == TokenKind::kIndent) break;
      take();
    }
    if (peek().kind == TokenKind::kNewline) take();
    if (peek().kind != TokenKind::kIndent) return;
    size_t depth = 0;
    do {
      TokenKind kind = take().kind;
      depth += kind == TokenKind::kIndent;
      depth -= kind == TokenKind::kDedent;
    } while (depth > 0 && peek().kind != TokenKind::kEnd);
  }

  Stmt* make(StmtKind kind, Place place) {
    Stmt* stmt = &tree_.stmts.emplace_back();
    stmt->kind = kind;
    stmt->place = place;
    return stmt;
  }

  Stmt* compound() {
    Place place = peek().place;
    if (next_is("@") || next_is("def") || next_is("class")) return decorated();
    if (accept("if")) return conditional(place);
    if (accept("for")) return loop(place);
    if (accept("while")) {
      Stmt* stmt = make(StmtKind::kWhile, place);
      stmt->value = expression();
      return stmt->value != nullptr && block(stmt->body) ? stmt : nullptr;
    }
    if (accept("with")) return with(place);
    Stmt* stmt = simple();
    if (stmt == nullptr) return nullptr;
    if (accept(";")) return stmt;
    if (peek().kind == TokenKind::kNewline) return take(), stmt;
    unexpected("the end of the line");
    return nullptr;
  }

  /// Parses `: NEWLINE INDENT statements DEDENT`, or statements on the same line.
  bool block(Body& out) {
    if (!expect(":", "the head of a block")) return false;
    if (peek().kind != TokenKind::kNewline) return same_line(out);
    take();
    if (peek().kind != TokenKind::kIndent) return unexpected("an indented block"), false;
    take();
    while (peek().kind != TokenKind::kDedent && peek().kind != TokenKind::kEnd) statement(out);
    if (peek().kind == TokenKind::kDedent) take();
    return true;
  }

  /// Parses statements on the same line, which have no blocks, so that a line cannot nest.
  bool same_line(Body& out) {
    do {
      Stmt* stmt = simple();
      if (stmt == nullptr) return false;
      out.push_back(stmt);
    } while (accept(";") && peek().kind != TokenKind::kNewline);
    if (peek().kind == TokenKind::kNewline) return take(), true;
    return unexpected("the end of the line"), false;
  }

  Stmt* decorated() {
    std::vector<const Expr*> decorators;
    while (accept("@")) {
      const Expr* decorator = expression();
      if (decorator == nullptr) return nullptr;
      decorators.push_back(decorator);
      if (peek().kind != TokenKind::kNewline) return unexpected("the end of the line"), nullptr;
      while (peek().kind == TokenKind::kNewline) take();
    }
    Place place = peek().place;
    Stmt* made = nullptr;
    if (accept("def"))
      made = function(place);
    else if (accept("class"))
      made = class_(place);
    else
      unexpected("'def' or 'class' after a decorator");
    if (made != nullptr) made->decorators = std::move(decorators);
    return made;
  }

  Stmt* head(StmtKind kind, Place place, std::string_view what) {
    if (peek().kind != TokenKind::kName) return unexpected(what), nullptr;
    Stmt* stmt = make(kind, place);
    stmt->name_place = peek().place;
    stmt->text = take().text;
    return stmt;
  }

  Stmt* class_(Place place) {
    Stmt* stmt = head(StmtKind::kClass, place, "a name after 'class'");
    if (stmt == nullptr) return nullptr;
    if (accept("(")) {
      while (!next_is(")") && !at_end_of_list()) take();
      if (!expect(")", "the bases")) return nullptr;
    }
    if (!block(stmt->body)) return nullptr;
    return stmt;
  }

  Stmt* function(Place place) {
    Stmt* stmt = head(StmtKind::kFunction, place, "a name after 'def'");
    if (stmt == nullptr) return nullptr;
    if (accept("[") && !parameters("]", stmt->type_params)) return nullptr;
    if (!expect("(", "the function's name") || !parameters(")", stmt->params)) return nullptr;
    if (accept("->")) {
      stmt->annotation = expression();
      if (stmt->annotation == nullptr) return nullptr;
    }
    bool outside = broken_;
    broken_ = false;
    bool whole = block(stmt->body);
    stmt->broken = broken_ || !whole;
    broken_ = outside || stmt->broken;
    return whole ? stmt : nullptr;
  }

  bool parameters(std::string_view closing, std::vector<ast::Parameter>& out) {
    while (!next_is(closing)) {
      if (peek().kind != TokenKind::kName) return unexpected("a parameter's name"), false;
      Token name = take();
      const Expr* annotation = nullptr;
      if (accept(":") && (annotation = expression()) == nullptr) return false;
      if (next_is("=")) {
        (void)source_.error(peek().place, Kind::unsupported, "a parameter cannot have a default value");
        return false;
      }
      out.push_back({name.text, name.place, annotation});
      if (!accept(",")) break;
    }
    if (accept(closing)) return true;
    unexpected(fmt::format("',' or '{}'", closing));
    return false;
  }

  Stmt* conditional(Place place) {
    Stmt* stmt = make(StmtKind::kIf, place);
    stmt->value = expression();
    if (stmt->value == nullptr || !block(stmt->body)) return nullptr;
    Place next = peek().place;
    if (accept("elif")) {
      if (++chain_ > kLongestChain) {
        (void)source_.error(next, Kind::syntax, "more than {} branches in one 'if'", kLongestChain);
        return chain_ = 0, nullptr;
      }
      const Stmt* rest = conditional(next);
      --chain_;
      if (rest == nullptr) return nullptr;
      stmt->orelse.push_back(rest);
    } else if (accept("else") && !block(stmt->orelse)) {
      return nullptr;
    }
    return stmt;
  }

  Stmt* loop(Place place) {
    Stmt* stmt = make(StmtKind::kFor, place);
    stmt->target = target_list();
    if (stmt->target == nullptr || !expect("in", "a loop's variables")) return nullptr;
    stmt->value = expression_list();
    return stmt->value != nullptr && block(stmt->body) ? stmt : nullptr;
  }

  Stmt* with(Place place) {
    Stmt* stmt = make(StmtKind::kWith, place);
    do {
      ast::WithItem item;
      item.value = expression();
      if (item.value == nullptr) return nullptr;
      if (accept("as") && (item.target = expression()) == nullptr) return nullptr;
      stmt->with.push_back(item);
    } while (accept(","));
    return block(stmt->body) ? stmt : nullptr;
  }

  Stmt* simple() {
    Place place = peek().place;
    if (accept("pass")) return make(StmtKind::kPass, place);
    if (accept("break")) return make(StmtKind::kBreak, place);
    if (accept("continue")) return make(StmtKind::kContinue, place);
    if (next_is("import") || next_is("from")) {
      while (peek().kind != TokenKind::kNewline && peek().kind != TokenKind::kEnd) take();
      return make(StmtKind::kImport, place);
    }
    if (accept("return")) {
      Stmt* stmt = make(StmtKind::kReturn, place);
      if (at_end_of_list()) return stmt;
      stmt->value = expression_list();
      return stmt->value == nullptr ? nullptr : stmt;
    }
    if (accept("assert")) {
      Stmt* stmt = make(StmtKind::kAssert, place);
      stmt->value = expression();
      if (stmt->value == nullptr) return nullptr;
      if (accept(",") && (stmt->target = expression()) == nullptr) return nullptr;
      return stmt;
    }
    return assignment(place);
  }

  Stmt* assignment(Place place) {
    const Expr* first = expression_list();
    if (first == nullptr) return nullptr;
    static constexpr std::string_view kAugmented[] = {
        "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", "**=", "<<=", ">>="};
    for (std::string_view op : kAugmented) {
      if (!accept(op)) continue;
      Stmt* stmt = make(StmtKind::kAugmentAssign, place);
      stmt->text = op.substr(0, op.size() - 1);
      stmt->target = first;
      stmt->value = expression_list();
      return stmt->value == nullptr ? nullptr : stmt;
    }
    Stmt* stmt = make(StmtKind::kExpr, join(place, first->place));
    if (accept(":")) {
      stmt->kind = StmtKind::kAssign;
      stmt->annotation = expression();
      if (stmt->annotation == nullptr) return nullptr;
    }
    if (accept("=")) {
      stmt->kind = StmtKind::kAssign;
      stmt->value = expression_list();
      if (stmt->value == nullptr) return nullptr;
      if (next_is("=")) {
        (void)source_.error(peek().place, Kind::unsupported, "one assignment a line: 'a = b = c' is not read");
        return nullptr;
      }
    }
    (stmt->kind == StmtKind::kExpr ? stmt->value : stmt->target) = first;
    return stmt;
  }

  static constexpr int kLongestChain = 100;
  bool broken_ = false;
  int chain_ = 0;
};

}  // namespace

void parse_file(SourceText& source, ast::Tree& tree) {
  Grammar(source, tree, tokenize(source)).file();
}

const Expr* parse_quoted(SourceText& source, ast::Tree& tree, Place place) {
  return Grammar(source, tree, tokenize_expression(source, place)).quoted();
}

}  // namespace relaxc::frontend
