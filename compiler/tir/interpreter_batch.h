// interpreter_batch.h: running many iterations of a loop side by side.
//
// One instruction of the interpreter costs about as much as ten additions; over a batch of iterations that is paid
// once. A loop qualifies if its iterations cannot see each other: all of them take the same way through the body, and
// what one stores no other one loads or stores. Loops inside the body run in step, so for a naive matmul it is the
// loop over columns that is batched, around the serial reduction; every element still gets its terms in the written
// order.
//
// Registers of such a body have roles. Uniform ones hold one value for all iterations and stay where they are; affine
// ones (base + lane * step) are two numbers; the others hold a lane an iteration. What cannot be known when compiling,
// that two buffers do not overlap, is checked when the loop is entered. Where anything fails the loop runs one by one.
//
// Rejected: batching innermost loops only (short in convolutions, and reductions there are chains).
#pragma once

#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

constexpr int64_t kLanes = 128;  ///< iterations at a time: twenty registers of them fit the first cache
constexpr int64_t kFewest = 4;   ///< fewer run one by one

/// Iterations that run one by one where neighbours take different ways.
constexpr int64_t kPause = 32;

enum class Role : uint8_t { kUniform, kAffine, kVector };

/// How an instruction of a batch is done.
enum class Mode : uint8_t { kOnce, kAffine, kLanes, kLoadOnce, kLoad, kStore, kJump, kBranch, kNothing };

struct BatchStep {
  Instruction n;  ///< jump targets count from the start of the plan
  Mode mode = Mode::kNothing;
  uint32_t d = 0, a = 0, b = 0, c = 0;  ///< slots of the registers
};

/// Memory that the body uses; two of them may overlap only if they are the same elements in the same order.
struct BatchAccess {
  uint32_t address = 0, count = 0, index = 0;  ///< registers
  int64_t bytes = 0;
  bool store = false;
};

struct BatchPlan {
  Loop loop;
  std::vector<BatchStep> steps;
  std::vector<uint32_t> registers;  ///< of each slot
  std::vector<Role> roles;          ///< of each slot
  std::vector<bool> outside;        ///< of each slot: not written in the body
  std::vector<BatchAccess> accesses;
  uint32_t counter_slot = 0;
};

/// Finds the loops of a program that can run in batches.
void plan_batches(Program& program);

/// Runs batches; keeps its memory from loop to loop.
class BatchRunner {
 public:
  explicit BatchRunner(bool check_bounds) : check_bounds_(check_bounds) {}
  /// Runs the loop of a Batch instruction as far as batches can; gives the place of the instruction to go on with.
  size_t run(const Program& program, Register* r, const Instruction& n);

 private:
  bool overlaps(const BatchPlan& plan) const;
  /// One batch; gives the number of iterations done, or, negated, how many to try instead.
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
