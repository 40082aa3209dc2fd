// lanes.h: vectorized loops as their lanes see them: what is the same in all lanes, what grows by a constant step, and
// whether the lanes may run together.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/tir/stmt.h"

namespace relaxc::tir {

/// What is known of the values inside of one vectorized loop.
class Lanes {
 public:
  using Step = std::optional<int64_t>;  ///< how much a value grows from lane to lane; nothing: not by a constant

  /// What is allocated in the loop is one for each lane; with `shared_locals`, where all lanes would hold the same it
  /// is one for all of them.
  explicit Lanes(const For& loop, bool shared_locals = false);

  /// True if running the statements of the loop's body one after the other, each for all lanes at once, gives the bits
  /// of the serial loop: no control flow that leaves the loop, uniform bounds of inner loops, and no element that two
  /// lanes both read and write.
  bool may_run_together() const { return together_; }
  /// Zero only if the value is certainly the same in all lanes.
  Step step(Expr e) const;
  /// Of the flat subscript of an element, in elements.
  Step step(BufferRef buffer, const std::vector<Expr>& indices) const;
  /// Allocated inside of the loop: every lane has its own.
  bool is_private(BufferRef buffer) const { return private_.count(buffer) != 0 && !is_shared(buffer); }
  /// Allocated inside of the loop, and one for all lanes: what stores to it is to run once.
  bool is_shared(BufferRef buffer) const { return shared_.count(buffer) != 0; }
  /// The block does the same in all lanes, except for what it stores: axes grow by constant steps, none decides
  /// anything.
  bool has_even_axes(const Block& block) const;

 private:
  bool allowed(Stmt s);
  bool all_allowed(const std::vector<Stmt>& body);
  bool store_allowed(const Store& s) const;
  Step computed_step(Expr e) const;
  void assign_lanes(Stmt s, bool even);

  mutable std::unordered_map<Expr, Step> steps_;  ///< of variables, and of what was asked: expressions share parts
  std::unordered_set<BufferRef> read_, written_, private_, shared_;
  bool together_ = false;
};

}  // namespace relaxc::tir
