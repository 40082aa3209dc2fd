// variables.h: what Relay's variables, numbered values and references are called in the tree, by scope.
//
// A numbered value (%3) belongs to no scope: TVM prints it at its first use, and may use it outside of the branch of
// that use. So where the text defines each one is kept for the whole function.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/relay/text/lexer.h"

namespace relaxc::relay {

class Variables {
 public:
  Variables() = default;
  Variables(const Variables&) = delete;

  /// Forgets all, at the begin of a function of the module.
  void clear();
  void set_local(const std::string& variable, std::string name) { scopes_.back().locals[variable] = std::move(name); }
  void set_numbered(const std::string& number, std::string name) { scopes_.back().numbered[number] = std::move(name); }
  /// The name of a variable of the innermost scope that has it; null: there is none.
  const std::string* local(const std::string& variable) const { return find(&Scope::locals, variable); }
  const std::string* numbered(const std::string& number) const { return find(&Scope::numbered, number); }

  /// The token after `%3 =` in the current function.
  void define(const std::string& number, size_t at) { defined_at_[number] = at; }
  std::optional<size_t> definition(const std::string& number) const;

  /// Names that stand for a reference's value, in the function that makes it.
  void add_cell(const std::string& name) { cells_[name] = function_depth_; }
  /// The cell that a variable or numbered value stands for; null if it is none.
  const std::string* cell(const Token& token) const;
  bool is_of_this_function(const std::string& cell) const { return cells_.at(cell) == function_depth_; }
  std::vector<std::string> cells_of_this_function() const;

  /// While it lives, variables belong to a new innermost scope.
  class InScope {
   public:
    explicit InScope(Variables& variables) : variables_(variables) { variables.scopes_.emplace_back(); }
    InScope(const InScope&) = delete;
    ~InScope() { variables_.scopes_.pop_back(); }

   private:
    Variables& variables_;
  };
  /// While it lives, cells that are added belong to one side of a branch.
  class InSide {
   public:
    explicit InSide(Variables& variables) : variables_(variables), cells_(variables.cells_) {}
    InSide(const InSide&) = delete;
    ~InSide() { variables_.cells_ = std::move(cells_); }

   private:
    Variables& variables_;
    std::map<std::string, size_t> cells_;
  };
  /// While it lives, the body of a function is read.
  class InFunction {
   public:
    explicit InFunction(Variables& variables) : variables_(variables) { ++variables.function_depth_; }
    InFunction(const InFunction&) = delete;
    ~InFunction() { --variables_.function_depth_; }

   private:
    Variables& variables_;
  };

 private:
  using Names = std::map<std::string, std::string>;
  struct Scope {
    Names locals, numbered;
  };
  const std::string* find(Names Scope::*kind, const std::string& key) const;

  std::vector<Scope> scopes_;
  std::map<std::string, size_t> defined_at_;
  std::map<std::string, size_t> cells_;  ///< with the depth of the function that made them
  size_t function_depth_ = 0;
};

}  // namespace relaxc::relay
