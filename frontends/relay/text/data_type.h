// data_type.h: Relay's types, where a program's meaning depends on them.
//
// What relaxc knows of values it deduces itself, so most of a program's types need not be read. Algebraic data is the
// exception: which fields a node has, and which function a polymorphic call means, only types say. They are inferred
// as TVM does it, by unification (Robinson 1965): a variable stands for what is not known yet, and two types that must
// be one bind it. What an operator gives is asked of relaxc's own deduction, once somebody needs to know.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace relaxc::relay {

struct Type {
  enum Kind : uint8_t {
    kVariable,  ///< `bound`, if it is known by now
    kOperator,  ///< what the operator `text` gives for `parts` with the attributes `attrs`; asked for once
    kTensor,    ///< `dims` and the dtype `text`
    kTuple,     ///< of `parts`
    kFunction,  ///< from `parts` but the last to the last
    kData,      ///< of the definition `text`, with the arguments `parts`
  };
  static constexpr int64_t kOpenDim = -1;

  Kind kind = kVariable;
  std::string text, attrs;
  std::vector<int64_t> dims;
  std::vector<Type*> parts;
  Type* bound = nullptr;
  bool is_hidden = false;  ///< a variable for what the text does not say; one that stays free otherwise has no values
};

/// Owns the types of a text.
class Types {
 public:
  /// Gives the type that the function @main of a program returns; null if that is not known.
  using Deduce = std::function<Type*(Types&, const std::string& program)>;
  explicit Types(Deduce deduce) : deduce_(std::move(deduce)) {}
  Types(const Types&) = delete;

  Type* variable(bool is_hidden = false);
  Type* tensor(std::vector<int64_t> dims, std::string dtype);
  Type* compound(Type::Kind kind, std::vector<Type*> parts, std::string text = {});
  Type* of_operator(std::string name, std::vector<Type*> arguments, std::string attrs);

  /// What `type` is known to be: a variable only if nothing is.
  Type* resolved(Type* type);
  /// Makes the two one type; false if they cannot be. Extents differ if both are known and do.
  bool unify(Type* a, Type* b);
  bool holds_data(Type* type);
  /// No variable in it is free.
  bool is_closed(Type* type);
  /// In Relay's spelling, `_` for a free variable; empty if it is longer than kLongest.
  std::string text(Type* type);
  static constexpr size_t kLongest = 2000;

 private:
  bool unify(Type* a, Type* b, int& steps);
  bool holds(Type* type, Type::Kind kind, int& steps);
  bool occurs(Type* variable, Type* in, int& steps);
  void write(Type* type, std::string& out);
  Type* deduced(Type& call);

  Deduce deduce_;
  std::deque<Type> types_;
  std::map<std::string, Type*> known_;  ///< by program
};

}  // namespace relaxc::relay
