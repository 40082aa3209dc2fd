// grammar.h: Relay's tokens to the tree that the readers of Relax functions know.
//
// Relay and Relax agree on what a function is: values that are bound to names, calls, tuples, branches, closures. So
// the grammar writes a Relay function as the statements of a Relax one, at the places where they are in the text, and
// all that follows, inference, loops, captures and messages, is the same for both. Calls of operators keep Relay's
// names below the root `relay`; operators.h has what they mean.
//
// Relay is an expression language, so a branch becomes an `if` whose sides bind one name, and an expression in braces
// the statements in front of its last value. A numbered value (%3) belongs to no scope: the printer writes it where it
// first meets it, and may use it outside of the branch where that was. It is then computed again where it is used.
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
  /// All functions that @main reaches; all that there are, if none has that name. Reports what is not Relay, once a
  /// function.
  void file();

 private:
  using Expr = const ast::Expr*;  ///< null: reported
  using Suite = std::vector<const ast::Stmt*>;

  /// A function of the module, or a declaration of a type.
  struct Definition {
    size_t begin = 0, end = 0;  ///< tokens
    std::set<std::string> mentions;
  };
  struct Scope {
    std::map<std::string, std::string> locals;  ///< what a variable is called in the tree
    std::map<std::string, Expr> numbered;
  };
  /// What is parsed while it lives has names of its own.
  class InScope {
   public:
    explicit InScope(Grammar& grammar) : grammar_(grammar) { grammar.scopes_.emplace_back(); }
    InScope(const InScope&) = delete;
    ~InScope() { grammar_.scopes_.pop_back(); }

   private:
    Grammar& grammar_;
  };

  // grammar.cpp: the file and its functions
  void find_definitions();
  size_t end_of_definition(size_t begin) const;
  void declare_type(size_t begin, size_t end);
  std::set<std::string> reachable() const;
  void global_function(const Definition& definition, bool is_private);
  void free_expression();
  bool function_head(ast::Stmt& function, std::vector<Expr>& attributes_kept);
  bool parameter(ast::Stmt& function);
  bool function_attributes(std::vector<Expr>* kept = nullptr);
  /// The statements of a function from its parameters on.
  bool function(ast::Stmt& function);
  ast::Stmt* make_function(const std::string& name, Place place, bool is_private);
  /// What is between braces: the last value, and the statements in front of it in `into`. `last`: it is what the
  /// function gives, and a branch returns it itself, so that calls stay the last thing that a function does.
  Expr block(Suite& into, bool last);
  /// Ends a function, or a branch that ends one.
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
  /// `?`: whether unknown dims become symbols, as in parameters, or leave the rank alone.
  enum class Unknown : uint8_t { kSymbols, kRank };
  Expr type(Unknown unknown, const std::string& name);
  Expr tensor_type(Unknown unknown, const std::string& name, Place begin);
  Expr callable_type(Unknown unknown, const std::string& name, Place begin);
  Expr dim(Unknown unknown, const std::string& name, bool& known);
  Expr tensor_info(Place place, Expr shape, const std::string& dtype, size_t rank);

  // tree.cpp: nodes of the tree, tokens
  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool accept(std::string_view text);
  bool expect(std::string_view text, std::string_view where);
  Expr unexpected(std::string_view wanted);
  Expr make(ast::ExprKind kind, Place place, std::vector<Expr> items = {}, std::string text = {});
  Expr name(Place place, std::string text);
  Expr relax_call(Place place, std::string_view function, std::vector<Expr> arguments);
  ast::Stmt* emit(ast::StmtKind kind, Place place);
  /// Binds a name to a value that has none.
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
  std::vector<std::string> order_;              ///< of the functions in the text
  std::set<std::string> types_, constructors_;  ///< algebraic data types, and what makes values of them
  std::set<std::string> used_;                  ///< names in the tree
  std::vector<Scope> scopes_;
  std::map<std::string, size_t> numbered_at_;  ///< of the function that is read: the token behind `%3 =`
  Suite* suite_ = nullptr;                     ///< where statements go
  bool last_ = false;                          ///< what is read is what the function gives
  const ast::Expr returned_;                   ///< stands for values that statements returned
};

}  // namespace relaxc::relay
