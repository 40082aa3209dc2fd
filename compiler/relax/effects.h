// effects.h: what a program does besides giving results, and the text that it prints.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// True if the op, or one in its regions, asserts, prints or calls out for an effect. Calls of functions are not looked
/// into: Effects says what those do.
bool has_effect(const Op& op);

/// What the error record of an assertion that failed says: the sides of a comparison, right (what the left should have
/// been) and left; for any other condition 1 and 0. The sides may be index expressions only.
struct AssertedNumbers {
  Expr expected, actual;
};
AssertedNumbers asserted_numbers(const Op& op);

/// Which functions of a module have an effect, by their own ops or through calls, of functions and of closures.
///
/// A closure may be of any function that a flow of values brings to its call, whatever the call: through parameters,
/// captured values, tuples, branches, loops and results. Where a call of a closure passes a closure on, any function
/// that is a value somewhere may get it. A parameter whose type says that it may have effects is believed.
class Effects {
 public:
  explicit Effects(const Module& module);

  bool of_function(const std::string& name) const { return functions_.count(name) != 0; }
  /// As has_effect(), and the op may call what has one, or one in its regions may.
  bool of_op(const Op& op) const;
  /// Makes the types of values of `module`, which this was made of, say which functions may have an effect.
  void write_types(Module& module) const;

 private:
  bool flow(const Op& op);
  bool mark(const Value* value);
  bool marked(const std::vector<Value*>& values, size_t from = 0) const;
  bool mark_from(const std::vector<Value*>& from, size_t first, const std::vector<Value*>& to);

  const Module& module_;
  std::set<std::string> functions_, values_of_functions_;
  std::unordered_set<const Value*> closures_;  ///< those that may have an effect, and tuples that hold them
};

/// A piece of what R.print writes: text, and after it a value, except in the last piece.
struct PrintPiece {
  std::string text;
  bool has_value = false;
};
struct PrintFormat {
  std::vector<PrintPiece> pieces;
  std::string fault;  ///< empty: the format is fine
};
/// A format in Python's spelling, of which `{}`, `{{` and `}}` are read, for this number of values; without one, the
/// values with blanks between. The last piece ends the line.
PrintFormat read_print_format(std::string_view format, size_t values);

/// How rlx_print learns what a value is (runtime-lite/include/relax_rt.h).
enum PrintKind : int32_t { kPrintNothing = 0, kPrintTensor = 1, kPrintShape = 2, kPrintScalar = 3 };
PrintKind print_kind(Info info);

}  // namespace relaxc::relax
