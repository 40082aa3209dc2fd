// interpreter_batch.h: runs many iterations of a loop together.
//
// An instruction of the interpreter costs about as much as ten additions; a batch of iterations pays that once. A
// loop qualifies if its iterations are independent: all of them take the same path through the body, and none
// loads or stores an element that another one stores. Loops inside of the body run in step, so in a naive matmul
// the loop over columns is batched, around the serial reduction; every element still adds its terms in the written
// order.
//
// Registers of such a body have roles. Uniform ones have one value for all iterations; affine ones (base + lane * step)
// are two numbers; the others have one value for each lane. That two buffers do not overlap is not known when
// compiling, and is checked when the loop is entered. If any of this does not hold, the iterations run one by one.
//
// Rejected: batching innermost loops only (short in convolutions, and reductions there are chains of dependences).
#pragma once

#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

constexpr int64_t kLanes = 128;  ///< most iterations of a batch: twenty registers of them fit the L1 cache
constexpr int64_t kFewest = 4;   ///< fewer iterations run one by one

/// Iterations that run one by one after neighbouring ones took different branches.
constexpr int64_t kPause = 32;

enum class Role : uint8_t { kUniform, kAffine, kVector };

/// How a batch executes an instruction.
enum class Mode : uint8_t { kOnce, kAffine, kLanes, kLoadOnce, kLoad, kStore, kJump, kBranch, kAlloc, kFree, kNothing };

struct BatchStep {
  Instruction n;  ///< jump targets are indices into the plan
  Mode mode = Mode::kNothing;
  uint32_t d = 0, a = 0, b = 0, c = 0;  ///< slots of the registers
};

/// Memory that the body accesses. Two accesses may overlap only if they access the same elements in the same order.
struct BatchAccess {
  uint32_t address = 0, count = 0, index = 0;  ///< registers
  int64_t bytes = 0;
  bool store = false;
};

struct BatchPlan {
  Loop loop;
  std::vector<BatchStep> steps;
  std::vector<uint32_t> registers;  ///< the register of each slot
  std::vector<Role> roles;          ///< the role of each slot
  std::vector<bool> outside;        ///< whether the body leaves the slot's register unchanged
  std::vector<BatchAccess> accesses;
  std::vector<bool> own;  ///< whether the slot is the address of an array that the body allocates, one for each lane
  uint32_t counter_slot = 0;
  /// Whether inner loops leave the subscripts of stores as they are. If not, whether iterations store apart from each
  /// other is known only when it has run, and the interpreter runs them one by one.
  bool steady = true;
};

/// Adds plans for the loops of a program that can run in batches.
void plan_batches(Program& program, bool arrays_in_lanes);

/// Runs batches; reuses its buffers from loop to loop.
class BatchRunner {
 public:
  explicit BatchRunner(bool check_bounds) : check_bounds_(check_bounds) {}
  /// Runs as many iterations of a Batch instruction's loop as possible; returns the index of the next instruction.
  size_t run(const Program& program, Register* r, const Instruction& n);

 private:
  bool overlaps(const BatchPlan& plan) const;
  /// Runs one batch; returns its number of iterations, or -n before any store if only the first n take the same branch.
  int64_t batch(const BatchPlan& plan, int64_t lanes);
  void once(const Instruction& n);
  void in_lanes(const BatchStep& s);
  void affine(const BatchStep& s);
  void load(const BatchStep& s, bool once);
  void store(const BatchStep& s);
  template <typename T, typename Each>
  void elements(const BatchStep& s, int64_t lanes, Each each);
  Register* lanes_of(uint32_t slot);
  Register* vector(uint32_t slot) { return lanes_.data() + slot * static_cast<size_t>(kLanes); }

  bool check_bounds_;
  const Program* program_ = nullptr;
  const BatchPlan* plan_ = nullptr;
  Register* r_ = nullptr;
  int64_t count_ = 0;  ///< lanes of the current batch
  std::vector<Register> lanes_;
  std::vector<int64_t> steps_;
  std::vector<uint64_t> filled_;
  uint64_t generation_ = 0;
};

}  // namespace relaxc::tir::interpreter
