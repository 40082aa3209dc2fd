// value_printer.h: prints the lines before a statement that compute its operands: temporaries, and checks of their
// index arithmetic.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c/expression.h"
#include "compiler/codegen/c/function.h"
#include "compiler/codegen/c/text_lines.h"
#include "compiler/tir/index_widths.h"

namespace relaxc::codegen_c {

class ValuePrinter {
 public:
  /// Prints lines to `out`; `helpers` collects the helper functions that they call.
  ValuePrinter(const tir::PrimFunc& function, const FunctionStyle& style, Names& names, std::set<std::string>& helpers,
               TextLines& out);
  ValuePrinter(const ValuePrinter&) = delete;
  ValuePrinter& operator=(const ValuePrinter&) = delete;

  Expressions& expressions() { return expressions_; }
  /// Calls `print` after the declarations; opens a scope for the temporaries of the statement if there are any.
  template <typename F>
  void scoped(const std::vector<std::string>& declarations, F print) {
    if (!declarations.empty()) out_.open("{");
    declare(declarations);
    print();
    expressions_.end_statement();
    if (!declarations.empty()) out_.close();
  }
  void declare(const std::vector<std::string>& declarations) {
    for (const std::string& declaration : declarations) out_.line("{}", declaration);
  }
  /// Returns the text of `e`; its temporaries stay visible for the rest of the enclosing scope.
  std::string hoisted(arith::Expr e);
  /// Like `hoisted`, but assigns the value to a variable if computing it may set `bad`, which is tested afterwards.
  std::string computed(arith::Expr e);

  /// Prints the exit from the function if index arithmetic since the last check has overflowed. `computed_by`: the
  /// guard whose condition has just been printed.
  void check_overflow(const tir::Guard* computed_by = nullptr);
  /// Whether the function checks its index arithmetic.
  bool may_check() const { return ranges_.has_value(); }
  /// Whether any arithmetic so far was checked, so that the function has a variable `bad`.
  bool has_checked() const { return checked_; }

  /// The types of a loop's counter and of the counter of lanes.
  std::string counter_type(const tir::For& loop);
  std::string lane_type() const;

 private:
  const tir::PrimFunc& function_;
  Names& names_;
  TextLines& out_;
  std::optional<tir::IndexRanges> ranges_;  ///< set if the function's index arithmetic is checked
  std::optional<tir::IndexWidths> widths_;  ///< set if the function keeps indices in 32 bits
  Expressions expressions_;
  bool checked_ = false;
};

}  // namespace relaxc::codegen_c
