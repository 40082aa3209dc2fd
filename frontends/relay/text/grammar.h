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
//
// Relax has neither algebraic data nor functions of types. A value of a data type is what R.adt.construct gives,
// `match` is branches on R.adt.tag and reads of R.adt.field, and a polymorphic function becomes one function for each
// list of types that calls give it. What depends on types is left open while a function is read, and filled in at its
// end, when they are inferred (data_type.h). Texts without data types and polymorphic functions need none of it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "frontends/relax/text/ast.h"
#include "frontends/relay/text/data_type.h"
#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

namespace ast = frontend::ast;

class Grammar {
 public:
  Grammar(SourceText& source, ast::Tree& tree, Tokens tokens, Types::Deduce deduce);
  /// Parses all functions that @main reaches, or all functions if there is no @main. Reports at most one syntax error
  /// for each function.
  void file();

 private:
  using Expr = const ast::Expr*;  ///< null if an error was reported
  using Suite = std::vector<const ast::Stmt*>;
  /// Whether an unknown dim, `?`, becomes a symbol, as in parameters, or only the rank is kept.
  enum class Unknown : uint8_t { kSymbols, kRank };

  /// Where a function of the module is in the text.
  struct Definition {
    size_t begin = 0, end = 0;  ///< indices of tokens
    std::set<std::string> mentions;
    std::vector<std::string> type_params;
  };
  using TypeNames = std::map<std::string, Type*>;
  struct Constructor {
    std::string name, type;
    Place place;
    size_t tag = 0;
    std::vector<size_t> fields;  ///< the tokens where their types begin
  };
  struct DataType {
    Place place;
    std::vector<std::string> params;
    std::vector<std::string> constructors;
  };
  /// A polymorphic function for some types.
  struct Instance {
    std::string function, name;
    TypeNames types;
  };
  struct Pattern {
    enum Kind : uint8_t { kAny, kVariable, kConstructor, kTuple } kind = kAny;
    Place place;
    std::string name;  ///< of the variable or constructor
    std::vector<const Pattern*> parts;
  };
  struct Clause {
    const Pattern* pattern = nullptr;
    size_t begin = 0, end = 0;  ///< the tokens of its value
  };
  /// A clause that still may be the one, with a pattern for each value that is looked at, and what its variables are.
  struct Row {
    std::vector<const Pattern*> patterns;
    size_t clause = 0;
    std::vector<std::pair<std::string, Expr>> bound;
  };
  struct Match {
    Place place;
    bool is_partial = false, last = false;
    std::vector<Clause> clauses;
    Type* result = nullptr;
    size_t values = 0;  ///< how often a clause's value was read
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
  std::set<std::string> reachable() const;
  void global_function(const Definition& definition, const std::string& called, bool is_private);
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

  // data.cpp: data types, and their values
  void declare_type(size_t begin, size_t end);
  bool constructor(DataType& type, const std::string& of);
  Type* data_type_of(const Constructor& made, TypeNames& types);
  std::vector<Type*> fields_of(const Constructor& made, const TypeNames& types);
  Expr construct();
  ast::Expr* hole(Place place);
  bool fill_construct(ast::Expr& into, const Constructor& made, const std::vector<Expr>& values);
  bool add_leaves(Expr value, Type* type, std::vector<Expr>& leaves);
  int64_t leaf_count(Type* type);
  /// A field of `value`, which `made` made; the number of its first leaf is known once types are.
  Expr field(Expr value, const Constructor& made, const std::vector<Type*>& fields, size_t index, Place place);
  Expr read_leaves(Expr value, int64_t tag, int64_t& leaf, Type* type, Place place);
  Expr no_value(Type* type, Place place);
  Expr int_keyword_call(Place place, std::string_view op, std::vector<Expr> arguments,
                        const std::vector<std::pair<std::string, Expr>>& keywords);
  Expr integer(Place place, int64_t value);

  // match.cpp
  Expr match(bool last);
  const Pattern* pattern();
  bool clauses(Match& match);
  Expr decide(Match& match, std::vector<Row> rows, const std::vector<Expr>& values, const std::string& missing);
  Expr clause_value(Match& match, const Row& row);
  Expr switch_on(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values, size_t column);
  Expr test(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values, size_t column,
            const std::vector<std::string>& constructors, size_t next, Expr tag, Type* type);
  Expr with_fields(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values, size_t column,
                   const std::string& constructor, Type* type);
  Expr with_parts(Match& match, const std::vector<Row>& rows, const std::vector<Expr>& values, size_t column,
                  size_t count);
  Expr side(Match& match, Suite& suite, const std::string& result, const std::function<Expr()>& value);

  // signatures.cpp: types of functions and values, instances of polymorphic functions
  Type* read_type(const TypeNames& names);
  Type* read_type_at(size_t at, const TypeNames& names);
  /// A type of the function that is read; one that is wrong was reported.
  Type* written_type(size_t at);
  Type* read_parts(std::string_view close, const TypeNames& names, Type::Kind kind, std::string text);
  Type* signature(const Definition& definition, const TypeNames& names);
  Type* type_of(Expr value);
  Expr typed(Expr value, Type* type) { return types_of_[value] = type, value; }
  Expr global(const Token& token);
  Type* type_of_call(Expr callee, const std::vector<Expr>& arguments, const std::string& attributes);
  void check_call(Expr callee, Type& function, const std::vector<Expr>& arguments);
  std::string instance(const std::string& function, const TypeNames& types, Place place);
  bool refuse_data_of(const Definition& definition, const std::string& called);
  Expr info_of(Type* type, Unknown unknown, const std::string& name, Place place);
  bool fill_holes();

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

  // references.cpp
  bool at_reference() const;
  const std::string* find_cell(const Token& token) const;
  Expr reference();
  Expr read_reference();
  Expr write_reference();
  std::nullptr_t no_reference();
  Expr write_cell(const std::string& cell, Expr value, Place place);
  void keep_cells(Place place);

  // types.cpp
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
  std::vector<std::string> order_;  ///< functions in the order of the text
  Types types_;
  bool infers_ = false;  ///< there are data types or polymorphic functions
  std::map<std::string, DataType> data_types_;
  std::map<std::string, Constructor> constructors_;
  TypeNames type_names_;                            ///< of the function that is read: what its parameters stand for
  std::unordered_map<Expr, Type*> types_of_;        ///< looked up only
  std::map<std::string, Type*> types_of_names_;     ///< names in the tree
  std::vector<Type*> results_;                      ///< of the functions around what is read
  std::vector<std::function<bool()>> holes_;        ///< what needs the types of the function that is read
  std::vector<Instance> instances_;                 ///< in the order in which calls need them
  std::map<std::string, std::string> instance_of_;  ///< by the function and its types
  std::deque<Pattern> patterns_;
  std::set<std::string> used_;  ///< names that the tree uses
  std::vector<Scope> scopes_;
  std::map<std::string, size_t> numbered_at_;  ///< in the current function, the token after `%3 =`
  Suite* suite_ = nullptr;                     ///< the suite to which statements are appended
  std::map<std::string, size_t>
      cells_;  ///< references here: names that have their values, and how deep their functions are
  size_t functions_around_ = 0;
  bool last_ = false;         ///< whether the current expression is the function's result
  const ast::Expr returned_;  ///< stands for a value that branches have already returned
};

}  // namespace relaxc::relay
