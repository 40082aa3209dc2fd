// interpreter_assembler.cpp: see interpreter_assembler.h.
#include "compiler/tir/interpreter_assembler.h"

namespace relaxc::tir::interpreter {

void Assembler::end_body() {
  const std::vector<Instruction> inner = std::move(bodies_.back());
  bodies_.pop_back();
  bodies_.back().insert(bodies_.back().end(), inner.begin(), inner.end());
}

uint32_t Assembler::op(size_t body, Op code, std::vector<uint32_t> in, DType dtype, int64_t extra) {
  in.resize(3, 0);
  return emit_at(body, {code, false, dtype, fresh(), in[0], in[1], in[2], extra});
}

int64_t Assembler::new_label() {
  label_positions_.push_back(-1);
  return static_cast<int64_t>(label_positions_.size()) - 1;
}

uint32_t Assembler::constant(Register value, DType dtype) {
  const uint32_t reg = fresh();
  constants_.push_back({reg, value, dtype});
  return reg;
}

uint32_t Assembler::emit_call(size_t body, Op code, CallRecord record) {
  calls_.push_back(std::move(record));
  return emit_at(body, {.op = code, .dst = fresh(), .extra = static_cast<int64_t>(calls_.size()) - 1});
}

void Assembler::finish(Program& program) {
  std::vector<Instruction>& code = program.code;
  for (const Instruction& instruction : bodies_[0]) {
    if (instruction.op == Op::kMove && instruction.dst == kLabel)
      label_positions_[static_cast<size_t>(instruction.extra)] = static_cast<int64_t>(code.size());
    else
      code.push_back(instruction);
  }
  const auto position = [&](int64_t label) { return label_positions_[static_cast<size_t>(label)]; };
  for (Instruction& instruction : code)
    if (instruction.op == Op::kJump || instruction.op == Op::kJumpIfZero || instruction.op == Op::kJumpIfNotLess ||
        instruction.op == Op::kLoopNext)
      instruction.extra = position(instruction.extra);
  for (Loop& loop : program.loops) loop.head = position(loop.head), loop.next = position(loop.next);
  program.constants = std::move(constants_);
  program.calls = std::move(calls_);
  program.registers = next_register_;
}

}  // namespace relaxc::tir::interpreter
