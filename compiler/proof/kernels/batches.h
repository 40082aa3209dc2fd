// batches.h: runs many iterations of a loop together over terms.
//
// Which loops qualify, and what of their bodies has one value for all iterations, is in the plans by which the
// interpreter runs batches over numbers (compiler/tir/interpreter_batch.h). Subscripts are then computed once for a
// batch and not once for each iteration, which is where most of the time of a run over terms goes.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/proof/kernels/machine_state.h"
#include "compiler/tir/interpreter_batch.h"

namespace relaxc::proof {

class Batches {
 public:
  explicit Batches(MachineState& machine) : s_(machine) {}
  /// Begins a run in which the loops with these numbers run one by one.
  void begin(std::set<int64_t> serial) { serial_ = std::move(serial); }

  /// Runs as many iterations of a Batch instruction's loop as possible. Returns the index of the next instruction;
  /// nothing if the run stops.
  std::optional<size_t> run(const tir::interpreter::Instruction& n);

 private:
  using BatchStep = tir::interpreter::BatchStep;

  /// The terms of a register for all lanes.
  struct Lanes {
    const Term* first;
    size_t step;  ///< 0 if all lanes have one value
    const Term& operator[](int64_t lane) const { return first[static_cast<size_t>(lane) * step]; }
  };

  /// Where all batches of a plan that is not steady have accessed a stored buffer so far.
  struct Track {
    bool stored = false;
    int64_t step = 0, low = 0, high = -1;  ///< first lanes' elements are from `low` to `high`; none yet if high < low
    int64_t apart = 0;  ///< distances of first lanes' elements are multiples of this; 0 if they are 0
  };

  bool overlaps() const;
  void begin_tracks();
  /// Notes an access; returns false, and stops the run, if lanes may meet in one element.
  bool track(const BatchStep& s);
  /// Returns whether a loop in the body of `loop` can run more iterations together than `count`.
  bool has_longer(const tir::interpreter::Loop& loop, int64_t count) const;
  /// Runs one batch; returns its number of iterations, or -n before any store if only the first n take the same branch;
  /// nothing if the run stops.
  std::optional<int64_t> batch(int64_t lanes);
  bool step(size_t& at, int64_t& agree);
  MachineState::Lane lane_of(const BatchStep& s, int64_t lane) const {
    return plan_->own[s.a] ? MachineState::Lane{lane, count_} : MachineState::Lane{};
  }
  bool jump(const tir::interpreter::Instruction& n, size_t& at);
  bool branch(const BatchStep& s, size_t& at, int64_t& agree);
  bool once(size_t at);
  bool affine(size_t at);
  struct Operands;
  bool in_lanes(size_t at);
  bool of_numbers(const Operands& o);
  template <typename Fast>
  bool each(const Operands& o, Fast fast);
  /// Elements of an access that are evenly spaced and within the buffer, in bytes.
  struct Span {
    int64_t first = 0, step = 0;
  };
  std::optional<Span> span_of(const BatchStep& s) const;
  /// Allocates the arrays of all lanes.
  bool allocate(const BatchStep& s);
  bool load(const BatchStep& s);
  /// Loads the elements of vectors of known subscripts within the buffer; returns false, and does nothing, if they are
  /// not.
  bool gather(const BatchStep& s, const Lanes& index);
  bool store(const BatchStep& s);
  const tir::interpreter::Instruction& after(size_t at) const;
  Lanes lanes_of(uint32_t slot);
  Term* vector(uint32_t slot) { return lanes_.data() + slot * static_cast<size_t>(tir::interpreter::kLanes); }

  MachineState& s_;
  std::set<int64_t> serial_;
  const tir::interpreter::BatchPlan* plan_ = nullptr;
  int64_t count_ = 0;           ///< lanes of the current batch
  std::vector<Term> lanes_;     ///< kLanes terms for each slot
  std::vector<Track> tracks_;   ///< of the slot of each address; empty if the plan is steady
  std::vector<int64_t> steps_;  ///< of each affine slot, from lane to lane
};

}  // namespace relaxc::proof
