// interpreter_assembler.h: registers, labels and bodies of the interpreter's flat code.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

/// Collects the code of nested bodies (function, loop body, branch) apart and joins it where a body ends, so that what
/// is put into an outer one meanwhile runs before.
class Assembler {
 public:
  uint32_t fresh() { return next_register_++; }
  uint32_t registers() const { return next_register_; }

  /// The innermost body.
  size_t top() const { return bodies_.size() - 1; }
  void begin_body() { bodies_.emplace_back(); }
  /// Appends the innermost body to the one around it.
  void end_body();

  /// Gives the instruction's result.
  uint32_t emit(Instruction instruction) { return emit_at(top(), instruction); }
  uint32_t emit_at(size_t body, Instruction instruction) {
    bodies_[body].push_back(instruction);
    return instruction.dst;
  }
  /// The same for an instruction of up to three operands, whose result is a fresh register.
  uint32_t op(size_t body, Op code, std::vector<uint32_t> in, DType dtype = {}, int64_t extra = 0);

  /// A jump names a label until all code is joined.
  int64_t new_label();
  void place(int64_t label) { emit({.op = Op::kMove, .dst = kLabel, .extra = label}); }

  /// A register that holds `value` from the beginning.
  uint32_t constant(Register value, DType dtype = DType::i(64));
  /// A call that a record describes; gives the register of its result.
  uint32_t emit_call(size_t body, Op code, CallRecord record);

  /// Gives the program its code, which is that of the outermost body with positions in place of labels, also in the
  /// program's loops, and what the code refers to: constants, calls and the number of registers.
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
