// machine.h: runs the interpreter's code (compiler/tir/interpreter_code.h) over terms.
//
// It is the code that the interpreter runs over numbers, except that functions of the math library stay calls, so the
// meaning of TIR is defined only once. Subscripts, bounds and conditions must be known numbers; if they depend on data,
// the kernel must be run with chosen integers as its inputs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/proof/kernels/batches.h"
#include "compiler/proof/kernels/machine_state.h"

namespace relaxc::proof {

class Machine {
 public:
  Machine(Algebra& algebra, Memory& memory) : s_{algebra, memory}, batches_(s_) {}

  /// \param buffers memories of the buffer parameters, in order (see Memory::add)
  /// \param scalars values of the scalar parameters and symbols, in order
  /// \param in_batches whether loops run in batches where the program has plans for that
  /// \param serial numbers of loops that do not
  RunResult run(const tir::interpreter::Program& program, const std::vector<uint64_t>& buffers,
                const std::vector<Term>& scalars, int64_t limit, bool in_batches, const std::set<int64_t>& serial = {});

 private:
  using Instruction = tir::interpreter::Instruction;

  void begin(const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars);
  bool call(const Instruction& n);
  bool guard(const Instruction& n);
  bool known(uint32_t reg, const char* what) { return s_.known(s_.r[reg], what); }
  /// Enters a loop; in batches, runs it if that can be done.
  bool enter_loop(const Instruction& n, size_t& pc);
  /// Returns whether a loop is parallel or has a parallel loop in its body.
  bool has_parallel(const tir::interpreter::Loop& loop) const;
  bool next(const Instruction& n, size_t& pc);
  bool control(const Instruction& n, size_t& pc);
  void next_iteration(size_t pc, bool ends);

  MachineState s_;
  Batches batches_;
  bool in_batches_ = false;
  uint32_t last_task_ = 0;      ///< highest number of a task so far
  int64_t parallel_next_ = -1;  ///< index of the LoopNext of the running parallel loop; -1 if none runs
};

}  // namespace relaxc::proof
