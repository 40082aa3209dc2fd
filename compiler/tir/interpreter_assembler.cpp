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

std::vector<Instruction> Assembler::finish(std::vector<Loop>& loops) {
  std::vector<Instruction> code;
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
  for (Loop& loop : loops) loop.head = position(loop.head), loop.next = position(loop.next);
  return code;
}

}  // namespace relaxc::tir::interpreter
