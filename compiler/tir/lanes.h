// lanes.h: analyzes vectorized loops: which values are uniform over the lanes, which grow by a constant step, and
// whether the lanes may run together.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/tir/stmt.h"

namespace relaxc::tir {

/// The analysis of one vectorized loop.
class Lanes {
 public:
  using Step = std::optional<int64_t>;  ///< difference between neighbouring lanes; nullopt if not constant

  /// Buffers that the loop allocates are private to a lane. With `shared_locals`, one to which all lanes would store
  /// the same values is shared by all lanes.
  explicit Lanes(const For& loop, bool shared_locals = false);

  /// Returns true if running the body statement by statement, each for all lanes at once, gives the bits of the serial
  /// loop: no control flow leaves the loop, inner loops have uniform bounds, and no lane reads or writes an element
  /// that another lane writes.
  bool may_run_together() const { return together_; }
  /// Returns the step of a value; 0 only if it is certainly the same in all lanes.
  Step step(Expr e) const;
  /// Returns the step of an element's flat offset, in elements.
  Step step(BufferRef buffer, const std::vector<Expr>& indices) const;
  /// Whether the loop allocates the buffer and every lane has its own.
  bool is_private(BufferRef buffer) const { return private_.count(buffer) != 0 && !is_shared(buffer); }
  /// Whether the loop allocates the buffer and all lanes share it; stores to it must run once.
  bool is_shared(BufferRef buffer) const { return shared_.count(buffer) != 0; }
  /// Whether the block's control flow is the same in all lanes: axes grow by constant steps; the predicate and, if
  /// there is an init, reduction axes are uniform.
  bool has_even_axes(const Block& block) const;

 private:
  bool allowed(Stmt s);
  bool all_allowed(const std::vector<Stmt>& body);
  bool store_allowed(const Store& s) const;
  Step computed_step(Expr e) const;
  void assign_lanes(Stmt s, bool even);

  mutable std::unordered_map<Expr, Step> steps_;  ///< of variables, and cached ones of expressions, which share nodes
  std::unordered_set<BufferRef> read_, written_, private_, shared_;
  bool together_ = false;
};

}  // namespace relaxc::tir
