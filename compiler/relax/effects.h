// effects.h: what a program does besides giving results, and the text that it prints.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/module.h"

namespace relaxc::relax {

/// True if the op, or one in its regions, asserts, prints or calls out for an effect. Calls of functions are not looked
/// into: impure_functions() says what those do.
bool has_effect(const Op& op);

/// What the error record of an assertion that failed says: the sides of a comparison, right (what the left should have
/// been) and left; for any other condition 1 and 0. The sides may be index expressions only.
struct AssertedNumbers {
  Expr expected, actual;
};
AssertedNumbers asserted_numbers(const Op& op);

/// The names of functions that have an effect, by their own ops or through calls.
std::set<std::string> impure_functions(const Module& module);

/// A piece of what R.print writes: text, and after it a value, but for the last piece.
struct PrintPiece {
  std::string text;
  bool has_value = false;
};
struct PrintFormat {
  std::vector<PrintPiece> pieces;
  std::string fault;  ///< empty: the format is fine
};
/// A format in Python's spelling, of which `{}`, `{{` and `}}` are read, for so many values; without one, the values
/// with blanks between. The last piece ends the line.
PrintFormat read_print_format(std::string_view format, size_t values);

/// How rlx_print is told what a value is (runtime-lite/include/relax_rt.h).
enum PrintKind : int32_t { kPrintNothing = 0, kPrintTensor = 1, kPrintShape = 2, kPrintScalar = 3 };
PrintKind print_kind(Info info);

}  // namespace relaxc::relax
