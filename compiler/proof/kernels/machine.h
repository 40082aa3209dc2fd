// machine.h: runs the interpreter's code (compiler/tir/interpreter_code.h) over terms.
//
// It is the code that the interpreter runs over numbers, except that functions of the math library stay calls, so the
// meaning of TIR is defined only once. Subscripts, bounds and conditions must be known numbers; if they depend on data,
// the kernel must be run with chosen integers as its inputs.
#pragma once

#include <map>
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
};

struct RunResult {
  RunEnd end = RunEnd::kDone;
  int32_t status = 0;  ///< code of the guard that failed
  std::string text;    ///< what happened; empty if nothing did
  int64_t instructions = 0;
};

class Machine {
 public:
  Machine(Algebra& algebra, Memory& memory) : algebra_(algebra), memory_(memory) {}

  /// \param buffers memories of the buffer parameters, in order (see Memory::add)
  /// \param scalars values of the scalar parameters and symbols, in order
  RunResult run(const tir::interpreter::Program& program, const std::vector<uint64_t>& buffers,
                const std::vector<Term>& scalars, int64_t limit);

 private:
  using Instruction = tir::interpreter::Instruction;

  void begin(const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars);
  bool load(const Instruction& n, DType dtype);
  bool store(const Instruction& n, DType dtype);
  bool compute(const Instruction& n, size_t pc);
  bool call(const Instruction& n);
  bool guard(const Instruction& n);
  /// Checks that a register holds a known integer; if not, stops the run and returns false.
  bool known(uint32_t reg, const char* what);
  void enter_loop(const Instruction& n);
  bool next(const Instruction& n, size_t& pc);
  bool control(const Instruction& n, size_t& pc);
  void next_iteration(size_t pc, bool ends);
  bool stop(RunEnd end, std::string text);
  uint8_t wrapped_bits(size_t pc) const;

  Algebra& algebra_;
  Memory& memory_;
  const tir::interpreter::Program* program_ = nullptr;
  std::vector<Term> r_;
  RunResult result_;
  int64_t left_ = 0;  ///< instructions left until the limit
  Task task_;
  uint32_t last_task_ = 0;      ///< highest number of a task so far
  int64_t parallel_next_ = -1;  ///< index of the LoopNext of the running parallel loop; -1 if none runs
};

}  // namespace relaxc::proof
