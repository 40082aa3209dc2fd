// reduction_view.h: read-only queries about a reduction that is being scheduled.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// The loops of the result from `first` on, outermost first; empty if it is none of them.
std::vector<uint32_t> loops_from(const ReductionForm& form, uint32_t first);

/// Refers to the draft; valid after reorder_axes().
class ReductionView {
 public:
  explicit ReductionView(const Draft& draft)
      : tree_(draft.tree), form_(draft.reduction), target_(*draft.target), lanes_(draft.reduction.lanes) {}

  const tir::Store& store() const { return *tree_.block(form_.block).body.as<tir::Store>(); }
  bool updates() const { return static_cast<bool>(update_of(store()).value); }
  Var var(uint32_t loop) const { return tree_.loop(loop).var; }
  const int64_t* extent(uint32_t loop) const { return tree_.loop(loop).extent.constant(); }
  /// The body of the innermost spatial loop.
  Stmt inner_body() const { return form_.spatial.empty() ? tree_.root() : tree_.loop(form_.spatial.back()).body; }
  Stmt summed() const { return tree_.loop(form_.reduced[0]).body; }
  /// Estimated iterations of the reduction; unknown extents count as 1.
  double terms() const;
  /// Estimated number of vector operations of the whole reduction.
  double vector_steps() const;

  // ---- which loop is vectorized

  /// The cost of vectorizing the loop, relative to whole vectors everywhere.
  double cost(uint32_t loop, bool reduces) const;
  /// Whether the update reads an operand that is contiguous along the loop.
  bool contiguous_in(uint32_t loop) const;
  /// The operands of the update that depend on `loop`.
  std::vector<BufferRef> operands_along(uint32_t loop) const;
  /// Whether some operand does not depend on `loop`.
  bool has_invariant_operand(uint32_t loop) const;

  // ---- buffers, which fused loops access through views of other shapes

  BufferRef original(BufferRef buffer) const;
  BufferRef current(BufferRef buffer) const;
  bool non_escaping(BufferRef result) const;

  // ---- constants that may be packed

  bool is_packable(BufferRef buffer) const;
  /// The dim of a constant along which it can be packed into panels of `var`: `var` alone subscripts it, and the kernel
  /// has one load of the constant.
  std::optional<size_t> packable_axis(const Access& access, Var var) const;
  bool words_are_packed() const;

 private:
  /// Whether rows of the operand begin anywhere in a cache line, so that most vectors along them cross two lines.
  bool crosses_cache_lines(const Access& access, Var along) const;

  const Tree& tree_;
  const ReductionForm& form_;
  const Target& target_;
  const int64_t& lanes_;
};

}  // namespace relaxc::schedule
