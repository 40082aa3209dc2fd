// value_printer.h: the lines before a statement that compute what it uses: temporaries, and checks of the index
// arithmetic in them.
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
  /// Lines go to `out`; `helpers` collects the helper functions that they call.
  ValuePrinter(const tir::PrimFunc& function, const FunctionStyle& style, Names& names, std::set<std::string>& helpers,
               TextLines& out);
  ValuePrinter(const ValuePrinter&) = delete;
  ValuePrinter& operator=(const ValuePrinter&) = delete;

  Expressions& expressions() { return expressions_; }
  /// Temporaries of a statement are in a scope of their own, if there are any.
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
  /// The text of `e`; its temporaries stay visible to what follows in the enclosing scope.
  std::string hoisted(arith::Expr e);
  /// The same, under a name of its own if `bad` says whether it is right: it is computed before that is asked.
  std::string computed(arith::Expr e);

  /// Leaves the function if index arithmetic of the lines since the last check overflows. `computed_by`: the guard
  /// whose condition has just been printed.
  void check_overflow(const tir::Guard* computed_by = nullptr);
  /// Index arithmetic of the function is checked.
  bool may_check() const { return ranges_.has_value(); }
  /// Some of it was, so far: the function has a variable `bad`.
  bool has_checked() const { return checked_; }

  /// The type of what counts a loop, and of what counts lanes.
  std::string counter_type(const tir::For& loop);
  std::string lane_type() const;

 private:
  const tir::PrimFunc& function_;
  Names& names_;
  TextLines& out_;
  std::optional<tir::IndexRanges> ranges_;  ///< of a function whose index arithmetic is checked
  std::optional<tir::IndexWidths> widths_;  ///< of a function that keeps indices in 32 bits
  Expressions expressions_;
  bool checked_ = false;
};

}  // namespace relaxc::codegen_c
