// reduction_view.h: questions about a reduction that is being scheduled; nothing here changes anything.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Of the draft as it is when the question is asked, once the axes are in order.
class ReductionView {
 public:
  explicit ReductionView(const Draft& draft)
      : tree_(draft.tree), form_(draft.reduction), target_(*draft.target), lanes_(draft.reduction.lanes) {}

  const tir::Store& store() const { return *tree_.block(form_.block).body.as<tir::Store>(); }
  bool updates() const { return static_cast<bool>(update_of(store()).value); }
  Var var(uint32_t loop) const { return tree_.loop(loop).var; }
  const int64_t* extent(uint32_t loop) const { return tree_.loop(loop).extent.constant(); }
  /// What one iteration of all loops of the result does.
  Stmt inner_body() const { return form_.spatial.empty() ? tree_.root() : tree_.loop(form_.spatial.back()).body; }
  Stmt summed() const { return tree_.loop(form_.reduced[0]).body; }
  /// Iterations of the reduction, about: what is not known is left out.
  double terms() const;
  /// Steps of whole vectors in all of the reduction, about.
  double vector_steps() const;

  // ---- which axis is in lanes

  /// What it costs to have the loop's axis in vector lanes, relative to whole vectors everywhere.
  double cost(uint32_t loop, bool reduces) const;
  /// The update reads something along the loop (else lanes would do the same thing).
  bool contiguous_in(uint32_t loop) const;
  /// Operands of the reduction step that change along `loop`.
  std::vector<BufferRef> operands_along(uint32_t loop) const;
  /// Some operand does not change along `loop`.
  bool has_invariant_operand(uint32_t loop) const;

  // ---- buffers: fusing loops gives them new shapes through views; the views' bases say which buffer it was

  BufferRef original(BufferRef buffer) const;
  BufferRef current(BufferRef buffer) const;
  bool non_escaping(BufferRef result) const;

  // ---- constants that may be packed

  bool is_packable(BufferRef buffer) const;
  /// The dim of a constant along which panels for `var` can be made: one that `var` alone subscripts, in a constant
  /// that is read at one place.
  std::optional<size_t> packable_axis(const Access& access, Var var) const;
  bool words_are_packed() const;

 private:
  /// Rows of the operand that the reduction goes through begin at any place of a line of cache, so that most vectors
  /// along them are in two.
  bool crosses_cache_lines(const Access& access, Var along) const;

  const Tree& tree_;
  const ReductionForm& form_;
  const Target& target_;
  const int64_t& lanes_;
};

}  // namespace relaxc::schedule
