// machine.h: runs the interpreter's code (compiler/tir/interpreter_code.h) over terms.
//
// It is the same code that the interpreter runs over numbers, but for functions of the math library, which stay calls:
// so what TIR means is said once. Subscripts, bounds and conditions have to be known numbers; a kernel in which they
// depend on data is run with chosen integers as its inputs.
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
  kFault,        ///< an access beyond its buffer, or a race
  kOverLimit,    ///< more instructions than the limit
  kUnsupported,  ///< something that terms have no meaning for
};

struct RunResult {
  RunEnd end = RunEnd::kDone;
  int32_t status = 0;  ///< of a guard
  std::string text;    ///< what happened; "": nothing
  int64_t instructions = 0;
};

class Machine {
 public:
  Machine(Algebra& algebra, Memory& memory) : algebra_(algebra), memory_(memory) {}

  /// \param buffers  memories of the buffer parameters, in order
  /// \param scalars  of the scalar parameters and symbols, in order
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
  /// The known integer of a register; false ends the run.
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
  int64_t left_ = 0;  ///< instructions until the limit
  Task task_;
  uint32_t last_task_ = 0;      ///< the highest number given so far
  int64_t parallel_next_ = -1;  ///< where the parallel loop that runs goes on
};

}  // namespace relaxc::proof
