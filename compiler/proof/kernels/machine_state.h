// machine_state.h: what the iterations of a run over terms share, whether they run one by one or in batches.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/kernels/memory.h"

namespace relaxc::proof {

/// How a run ended.
enum class RunEnd : uint8_t {
  kDone,
  kStatus,       ///< a guard failed
  kNeedsData,    ///< a subscript, bound or condition depends on data
  kFault,        ///< an undefined value as subscript or condition, an access beyond its buffer, or a race
  kOverLimit,    ///< it took more instructions than the limit
  kUnsupported,  ///< it uses something that has no meaning over terms
  kSerial,  ///< a batch met what only iterations one by one define: the run must start again, with that loop serial
};

struct RunResult {
  RunEnd end = RunEnd::kDone;
  int32_t status = 0;  ///< code of the guard that failed
  std::string text;    ///< what happened; empty if nothing did
  int64_t loop = -1;   ///< for kSerial, the number of the loop that ran in batches
  int64_t instructions = 0;
};

constexpr const char* kOverLimitText = "it takes more instructions than the limit";

/// The state of a run, and the instructions that both ways of running share.
struct MachineState {
  using Instruction = tir::interpreter::Instruction;

  Algebra& algebra;
  Memory& memory;
  const tir::interpreter::Program* program = nullptr;
  std::vector<Term> r = {};  ///< the registers
  RunResult result = {};
  int64_t left = 0;  ///< instructions left until the limit
  Task task = {};

  /// Stops the run; returns false.
  bool stop(RunEnd end, std::string text);
  /// Checks that a term is a known integer; if not, stops the run and returns false.
  bool known(const Term& t, const char* what);
  /// Which of the arrays that a batch has, one for each lane: their elements with one index are adjacent.
  struct Lane {
    int64_t number = 0, count = 1;
  };
  /// Executes a load or a store of element `index` of the instruction's buffer. Returns false if the run stops.
  bool load(const Instruction& n, const Term& index, Term& to) { return load(n, index, to, Lane()); }
  bool load(const Instruction& n, const Term& index, Term& to, Lane lane);
  bool store(const Instruction& n, const Term& index, const Term& value) { return store(n, index, value, Lane()); }
  bool store(const Instruction& n, const Term& index, const Term& value, Lane lane);
  /// Executes an instruction that only computes; `next` is the one after it. Returns false if the run stops.
  bool compute(const Instruction& n, const Instruction& next, const Term& a, const Term& b, const Term& c, Term& to);
};

}  // namespace relaxc::proof
