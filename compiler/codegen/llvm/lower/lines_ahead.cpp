// lines_ahead.cpp: see lines_ahead.h.
//
// Lanes and loops in the body (the rows and vectors of a tile) move a read by constants, so that all that an iteration
// reads of an operand lies between its first and its last element.
#include "compiler/codegen/llvm/lower/lines_ahead.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;

namespace {

constexpr int64_t kMostLines = 8;  ///< of one operand and iteration; more leave no time for anything else

class LinesOfLoop {
 public:
  LinesOfLoop(const tir::For& loop, arith::Var lane, int64_t lanes) : loop_(loop) {
    arith::Context& context = loop.min.context();
    if (lane) first_[lane] = context.index(0), last_[lane] = context.index(lanes - 1);
    tir::for_each_stmt(loop.body, [&](tir::Stmt s) { note_variables(s); });
  }

  std::vector<LinesAhead> found() {
    tir::for_each_stmt(loop_.body, [&](tir::Stmt s) {
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>()) add(*load);
        });
    });
    return std::move(found_);
  }

 private:
  void note_variables(tir::Stmt s) {
    if (const auto* inner = s.as<tir::For>()) {
      first_[inner->var] = inner->min;
      last_[inner->var] = inner->min + inner->extent - inner->min.context().index(1);
    } else if (const auto* let = s.as<tir::Let>()) {
      unknown_.emplace_back(let->var);
    } else if (const auto* block = s.as<tir::Block>()) {
      for (const tir::IterVar& iter : block->iters) unknown_.emplace_back(iter.var);
    }
  }

  bool is_in_place(Expr e) const {
    bool known = true;
    arith::for_each_node(e, [&](Expr node) {
      known &= node.as<arith::Load>() == nullptr && std::find(unknown_.begin(), unknown_.end(), node) == unknown_.end();
    });
    return known;
  }

  /// Whether `e` has a value outside of the body, the same in all lanes.
  bool is_outside(Expr e) const {
    bool outside = true;
    arith::for_each_node(e, [&](Expr node) { outside &= first_.count(node) == 0; });
    return outside;
  }

  bool depends_on_iteration(Expr e) const {
    bool depends = false;
    arith::for_each_node(e, [&](Expr node) { depends |= node == Expr(loop_.var); });
    return depends;
  }

  void add(const arith::Load& load) {
    tir::BufferRef buffer = load.buffer;
    if (buffer->scope == tir::Scope::kLocal || buffer->record != nullptr || load.indices.empty()) return;
    arith::Context& context = loop_.min.context();
    const Expr offset = tir::element_offset(context, *buffer, load.indices);
    if (!is_in_place(offset)) return;
    const Expr next = arith::substitute(offset, {{loop_.var, Expr(loop_.var) + context.index(1)}});
    const Expr step = arith::simplify(next - offset);
    const int64_t* known = step.constant();
    const int64_t size = buffer->dtype.bytes();
    if (known != nullptr ? std::abs(*known) * size < tir::kMemoryAlignment
                         : depends_on_iteration(step) || !is_outside(step))
      return;
    const Expr start = arith::substitute(offset, first_), end = arith::substitute(offset, last_);
    if (!is_outside(start)) return;
    const Expr apart = arith::simplify(end - start);
    const int64_t* span = apart.constant();
    if (span == nullptr || *span < 0 || *span * size > kMostLines * tir::kMemoryAlignment) return;
    keep(load, step, arith::simplify(start), (*span + 1) * size);
  }

  /// Reads that begin at the same element are one.
  void keep(const arith::Load& load, Expr step, Expr start, int64_t bytes) {
    for (size_t i = 0; i < found_.size(); ++i)
      if (found_[i].buffer == load.buffer && starts_[i] == start) {
        found_[i].bytes = std::max(found_[i].bytes, bytes);
        return;
      }
    LinesAhead lines{load.buffer, {}, step, bytes};
    for (Expr index : load.indices) lines.first.push_back(arith::simplify(arith::substitute(index, first_)));
    found_.push_back(std::move(lines));
    starts_.push_back(start);
  }

  const tir::For& loop_;
  arith::Substitution first_, last_;  ///< of lanes and of loops in the body
  std::vector<Expr> unknown_;         ///< variables that have no value before the body runs
  std::vector<LinesAhead> found_;
  std::vector<Expr> starts_;  ///< offsets of their first elements
};

}  // namespace

std::vector<LinesAhead> lines_ahead(const tir::For& loop, arith::Var lane, int64_t lanes) {
  return LinesOfLoop(loop, lane, lanes).found();
}

}  // namespace relaxc::codegen_llvm
