// interpreter_assembler.h: registers, labels and bodies of the interpreter's flat code.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

/// Collects the code of nested bodies (function, loop body, branch) separately and appends each to the one around it
/// when it ends. So code that is added to an outer body meanwhile runs before the inner one.
class Assembler {
 public:
  uint32_t fresh() { return next_register_++; }
  uint32_t registers() const { return next_register_; }

  /// The index of the innermost body.
  size_t top() const { return bodies_.size() - 1; }
  void begin_body() { bodies_.emplace_back(); }
  /// Appends the innermost body to the one around it.
  void end_body();

  /// Appends an instruction to the innermost body, or to `body`; returns its result register.
  uint32_t emit(Instruction instruction) { return emit_at(top(), instruction); }
  uint32_t emit_at(size_t body, Instruction instruction) {
    bodies_[body].push_back(instruction);
    return instruction.dst;
  }
  /// The same for an instruction of up to three operands, whose result is a new register.
  uint32_t op(size_t body, Op code, std::vector<uint32_t> in, DType dtype = {}, int64_t extra = 0);

  /// Returns a new label; jumps name labels until `finish` replaces them by positions.
  int64_t new_label();
  void place(int64_t label) { emit({.op = Op::kMove, .dst = kLabel, .extra = label}); }

  /// Returns a register that has the value `value` from the start.
  uint32_t constant(Register value, DType dtype = DType::i(64));
  /// Appends a call with this record; returns the register of its result.
  uint32_t emit_call(size_t body, Op code, CallRecord record);

  /// Gives `program` the code of the outermost body, with positions in place of labels (also in the program's loops),
  /// and the constants, the calls and the number of registers.
  void finish(Program& program);

 private:
  static constexpr uint32_t kLabel = UINT32_MAX;

  std::vector<std::vector<Instruction>> bodies_ = std::vector<std::vector<Instruction>>(1);
  std::vector<int64_t> label_positions_;
  std::vector<Constant> constants_;
  std::vector<CallRecord> calls_;
  uint32_t next_register_ = 0;
};

}  // namespace relaxc::tir::interpreter
