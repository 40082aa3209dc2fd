// grammar.h: parses Relay's tokens into the tree of a Relax program.
//
// Relay and Relax agree on what a function is: values that are bound to names, calls, tuples, branches, closures. So
// the grammar writes a Relay function as the statements of a Relax one, with their places in the Relay text; inference,
// loops, captures and messages are the same for both. Calls of operators keep Relay's names under the root `relay`;
// operators.h gives their meaning.
//
// Relay is an expression language, so a branch becomes an `if` whose sides bind one name, and an expression in braces
// becomes the statements before its last value. A numbered value (%3) belongs to no scope: TVM prints it at its first
// use, and may use it outside of the branch of that use. It is then computed again.
#pragma once

#include <map>
#include <set>

#include "frontends/relax/text/ast.h"
#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

namespace ast = frontend::ast;

class Grammar {
 public:
  Grammar(SourceText& source, ast::Tree& tree, Tokens tokens);
  /// Parses all functions that @main reaches, or all functions if there is no @main. Reports at most one syntax error
  /// for each function.
  void file();

 private:
  using Expr = const ast::Expr*;  ///< null if an error was reported
  using Suite = std::vector<const ast::Stmt*>;

  /// Where a function of the module is in the text.
  struct Definition {
    size_t begin = 0, end = 0;  ///< indices of tokens
    std::set<std::string> mentions;
  };
  struct Scope {
    std::map<std::string, std::string> locals;  ///< a variable's name in the tree
    std::map<std::string, Expr> numbered;
  };
  /// While an object of this class lives, names are declared in a new innermost scope.
  class InScope {
   public:
    explicit InScope(Grammar& grammar) : grammar_(grammar) { grammar.scopes_.emplace_back(); }
    InScope(const InScope&) = delete;
    ~InScope() { grammar_.scopes_.pop_back(); }

   private:
    Grammar& grammar_;
  };

  // grammar.cpp: files and functions
  void find_definitions();
  size_t end_of_definition(size_t begin) const;
  void declare_type(size_t begin, size_t end);
  std::set<std::string> reachable() const;
  void global_function(const Definition& definition, bool is_private);
  void free_expression();
  bool function_head(ast::Stmt& function, std::vector<Expr>& attributes_kept);
  bool parameter(ast::Stmt& function);
  bool function_attributes(std::vector<Expr>* kept = nullptr);
  /// Parses a function from its parameters on into statements.
  bool function(ast::Stmt& function);
  ast::Stmt* make_function(const std::string& name, Place place, bool is_private);
  /// Parses an expression in braces: returns its last value, and puts the statements before it into `into`. If `last`,
  /// the value is the function's result, and a branch returns it in both sides, so that tail calls stay tail calls.
  Expr block(Suite& into, bool last);
  /// Emits the return of a function, unless the branch that ends it has returned.
  void give(Expr value);

  // expressions.cpp
  Expr expression();
  bool let();
  bool numbered_binding();
  Expr infix(int least);
  Expr postfix();
  Expr atom();
  Expr name_atom();
  Expr call(Expr callee);
  Expr part(Expr tuple);
  Expr too_deep(Place place);
  Expr tuple();
  Expr branch(bool last);
  Expr branch_value(Suite& side, bool last, const std::string& result);
  Expr closure(const std::string& name);
  Expr constant();
  Expr stored_constant();
  Expr local(const Token& token);
  Expr numbered(const Token& token);
  bool define_again(const std::string& number, Place place);
  Expr named_attribute();
  Expr attribute_value();
  Expr attribute_number(const Token& token);

  // types.cpp
  /// Whether an unknown dim, `?`, becomes a symbol, as in parameters, or only the rank is kept.
  enum class Unknown : uint8_t { kSymbols, kRank };
  Expr type(Unknown unknown, const std::string& name);
  Expr tensor_type(Unknown unknown, const std::string& name, Place begin);
  Expr callable_type(Unknown unknown, const std::string& name, Place begin);
  Expr dim(Unknown unknown, const std::string& name, bool& known);
  Expr tensor_info(Place place, Expr shape, const std::string& dtype, size_t rank);

  // tree.cpp: nodes of the tree, tokens, names
  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool accept(std::string_view text);
  bool expect(std::string_view text, std::string_view where);
  Expr unexpected(std::string_view wanted);
  Expr make(ast::ExprKind kind, Place place, std::vector<Expr> items = {}, std::string text = {});
  Expr name(Place place, std::string text);
  Expr relax_call(Place place, std::string_view function, std::vector<Expr> arguments);
  ast::Stmt* emit(ast::StmtKind kind, Place place);
  /// Binds a value to a new name, unless it is a name itself; returns the name.
  Expr named(Expr value, const std::string& wanted, Place place);
  std::string unique(const std::string& wanted);
  std::string declare(const std::string& variable);
  template <typename... Args>
  std::nullptr_t refuse(Place place, Kind kind, fmt::format_string<Args...> format, Args&&... args) {
    (void)source_.error(place, kind, format, std::forward<Args>(args)...);
    return nullptr;
  }

  SourceText& source_;
  ast::Tree& tree_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::map<std::string, Definition> functions_;
  std::vector<std::string> order_;              ///< functions in the order of the text
  std::set<std::string> types_, constructors_;  ///< algebraic data types, and their constructors
  std::set<std::string> used_;                  ///< names that the tree uses
  std::vector<Scope> scopes_;
  std::map<std::string, size_t> numbered_at_;  ///< in the current function, the token after `%3 =`
  Suite* suite_ = nullptr;                     ///< the suite to which statements are appended
  bool last_ = false;                          ///< whether the current expression is the function's result
  const ast::Expr returned_;                   ///< stands for a value that branches have already returned
};

}  // namespace relaxc::relay
