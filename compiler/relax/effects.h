// effects.h: finds ops and functions with side effects; formats what programs print.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// Returns true if the op, or one in its regions, asserts, prints or calls an external function for its effect. Calls
/// of functions count as pure here; see Effects for them.
bool has_effect(const Op& op);

/// The error record's numbers for a failed assertion: the right side of a comparison (expected) and the left one
/// (actual); 1 and 0 for any other condition. The sides must be index expressions.
struct AssertedNumbers {
  Expr expected, actual;
};
AssertedNumbers asserted_numbers(const Op& op);

/// Finds the functions of a module with side effects, by their own ops or by calls of functions and closures.
///
/// The analysis is insensitive to context: a closure may be any function that flows to its call through parameters,
/// captured values, tuples, branches, loops and results. If a call of a closure passes a closure, any function that is
/// used as a value may receive that one. A parameter whose type is impure may have effects.
class Effects {
 public:
  explicit Effects(const Module& module);

  bool of_function(const std::string& name) const { return functions_.count(name) != 0; }
  /// Like has_effect(), but also true if the op, or one in its regions, may call a function with an effect.
  bool of_op(const Op& op) const;
  /// Makes the types of closures that may have an effect impure. `module` must be the one this was made of.
  void write_types(Module& module) const;

 private:
  bool flow(const Op& op);
  bool flow_through_values();
  bool mark(const Value* value);
  bool marked(const std::vector<Value*>& values, size_t from = 0) const;
  bool mark_from(const std::vector<Value*>& from, size_t first, const std::vector<Value*>& to);

  const Module& module_;
  std::set<std::string> functions_, values_of_functions_;
  bool passed_ = false;                        ///< whether a call of a closure passes a closure that may have an effect
  bool returned_ = false;                      ///< whether a function that is used as a value returns one
  std::unordered_set<const Value*> closures_;  ///< closures that may have an effect, and tuples that contain one
};

/// A piece of the text that R.print writes, followed by a value except in the last piece.
struct PrintPiece {
  std::string text;
  bool has_value = false;
};
struct PrintFormat {
  std::vector<PrintPiece> pieces;
  std::string fault;  ///< why the format is invalid; empty if it is valid
};
/// Parses a format in Python's syntax with `{}`, `{{` and `}}`, for this number of values. An empty format is the
/// values separated by blanks. The last piece ends the line.
PrintFormat read_print_format(std::string_view format, size_t values);

/// The kind of a printed value, as rlx_print has it (runtime-lite/include/relax_rt.h).
enum PrintKind : int32_t { kPrintNothing = 0, kPrintTensor = 1, kPrintShape = 2, kPrintScalar = 3 };
PrintKind print_kind(Info info);

}  // namespace relaxc::relax
