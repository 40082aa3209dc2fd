// lane_printer.h: prints the vectorized loops of a prim func.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/c/value_printer.h"
#include "compiler/codegen/c/vector_expression.h"
#include "compiler/tir/lanes.h"

namespace relaxc::codegen_c {

class FunctionPrinter;

/// Prints the statements between the inner loops of a vectorized loop, each for all lanes; FunctionPrinter prints all
/// other statements.
class LanePrinter {
 public:
  /// `vectors`: whether to use the vector types of GCC and clang.
  LanePrinter(FunctionPrinter& function, bool vectors, Names& names, ValuePrinter& values, TextLines& out)
      : f_(function),
        vectors_(vectors),
        names_(names),
        values_(values),
        out_(out),
        expressions_(values.expressions()) {}

  /// A vectorized loop that is printed statement by statement.
  struct Loop {
    tir::Lanes lanes;
    int64_t count = 0;
  };
  /// Returns the lanes of a loop that this class prints; nullopt for a loop that is printed as any other.
  std::optional<Loop> lanes_of(const tir::For& node) const;
  void print(const tir::For& node, Loop& loop);

  /// Whether the next statement is printed for all lanes.
  bool is_active() const { return loop_ != nullptr; }
  /// Whether the next statement is inside of a vectorized loop, for all lanes or for one.
  bool is_inside() const { return in_lane_ || loop_ != nullptr; }
  /// Like FunctionPrinter::step, but for all lanes.
  tir::Stmt step(tir::Stmt s);
  /// Elements that the text allocates for each element of the buffer: the number of lanes if each has its own, else 1.
  int64_t copies_of(tir::BufferRef buffer) const {
    return loop_ != nullptr && loop_->lanes.is_private(buffer) ? loop_->count : 1;
  }

 private:
  void print_let(const tir::Let& node);
  void print_store(tir::Stmt s, const tir::Store& node);
  bool vector_store(const tir::Store& node);
  bool can_mask(tir::Stmt s);
  void print_masked(const tir::If& node);
  VectorExpression vector_expression();
  void print_seq(const tir::Seq& node);
  void together(const std::vector<tir::Stmt>& statements);
  void each_lane(const std::function<void()>& print, const std::vector<tir::Stmt>& inside);
  bool is_uniform(arith::Expr e) const { return loop_->lanes.step(e) == tir::Lanes::Step(0); }
  bool is_separate(tir::Stmt s) const;
  void once(const tir::Store& node);

  FunctionPrinter& f_;
  bool vectors_;
  Names& names_;
  ValuePrinter& values_;
  TextLines& out_;
  Expressions& expressions_;
  Loop* loop_ = nullptr;  ///< the loop that is printed; null while a statement is printed for one lane
  bool in_lane_ = false;
  std::string mask_;  ///< the name of the mask of active lanes; empty if all are active
};

}  // namespace relaxc::codegen_c
