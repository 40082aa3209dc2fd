// value_types.h: the types of values of the function that is read, and what waits for them.
//
// Relax has neither algebraic data nor functions of types. What depends on types is left open while a function is read,
// a hole, and filled in at its end, when they are inferred (data_type.h). Texts without data types and polymorphic
// functions need none of it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/relay/text/data_type.h"
#include "frontends/relay/text/tree_builder.h"

namespace relaxc::relay {

/// What the parameters of a type or function stand for.
using TypeNames = std::map<std::string, Type*>;

class ValueTypes {
 public:
  explicit ValueTypes(Types& types) : types_(types) {}
  ValueTypes(const ValueTypes&) = delete;

  /// Whether types are inferred: there are data types or polymorphic functions.
  bool are_inferred() const { return inferred_; }
  void infer() { inferred_ = true; }

  /// The type of a value, a hidden variable if nothing is known of it.
  Type* of(Expr value);
  Type* of_name(const std::string& name) { return of_names_[name]; }
  /// Says what type a value has, if types are inferred; returns the value.
  Expr set(Expr value, Type* type);
  void set_name(const std::string& name, Type* type);

  /// Says that a hole stands for an operator, which becomes a function when a call says of which types.
  void set_operator(ast::Expr* hole, std::string name) { operators_[hole] = {hole, std::move(name)}; }
  /// Returns the hole and the operator's name if `value` is one that is no function yet; null and nothing otherwise.
  std::pair<ast::Expr*, std::string> operator_of(Expr value) const;
  void forget_operator(Expr value) { operators_.erase(value); }

  /// What the parameters of the function that is read stand for.
  const TypeNames& parameters() const { return parameters_; }
  void name_type(const std::string& name, Type* type) { parameters_[name] = type; }
  /// The result of the innermost function that is read.
  Type* result() const { return results_.back(); }

  /// Adds what needs all types of the function; `fill` returns false if it reported an error.
  void add_hole(std::function<bool()> fill) { holes_.push_back(std::move(fill)); }
  /// Forgets what belonged to another function of the module.
  void start_function(TypeNames parameters);
  /// Fills all holes: all types of the function are known now, as far as they will be.
  bool fill_holes();

  /// While it lives, names of types belong to a function inside of another one.
  class InTypes {
   public:
    explicit InTypes(ValueTypes& values) : values_(values), outer_(values.parameters_) {}
    InTypes(const InTypes&) = delete;
    ~InTypes() { values_.parameters_ = std::move(outer_); }

   private:
    ValueTypes& values_;
    TypeNames outer_;
  };

  /// While it lives, a function with this result is read.
  class InFunction {
   public:
    InFunction(ValueTypes& values, Type* result) : values_(values) { values.results_.push_back(result); }
    InFunction(const InFunction&) = delete;
    ~InFunction() { values_.results_.pop_back(); }

   private:
    ValueTypes& values_;
  };

 private:
  Types& types_;
  bool inferred_ = false;
  TypeNames parameters_;
  std::unordered_map<Expr, Type*> of_;                                      ///< looked up only
  std::map<std::string, Type*> of_names_;                                   ///< names in the tree
  std::unordered_map<Expr, std::pair<ast::Expr*, std::string>> operators_;  ///< looked up only
  std::vector<Type*> results_;
  std::vector<std::function<bool()>> holes_;
};

}  // namespace relaxc::relay
