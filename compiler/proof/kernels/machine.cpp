// machine.cpp: see machine.h.
#include "compiler/proof/kernels/machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::proof {

using tir::interpreter::CallRecord;
using tir::interpreter::Constant;
using tir::interpreter::Loop;
using tir::interpreter::Op;
using tir::interpreter::Program;

namespace {

Term address(uint64_t memory, uint64_t byte) {
  return {memory, byte, 0, 0, TermKind::kAddress, 0, false};
}

}  // namespace

void Machine::begin(const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars) {
  s_.r.assign(s_.program->registers + 1, Term{.kind = TermKind::kNumber});
  for (const Constant& constant : s_.program->constants) {
    const DType dtype = constant.dtype;
    Term& to = s_.r[constant.reg];
    if (!dtype.is_float())
      to = number_term(constant.value.i);
    else
      to = s_.algebra.constant(dtype.bits == 64 ? constant.value.d : static_cast<double>(constant.value.f));
  }
  for (size_t i = 0; i < buffers.size(); ++i) s_.r[s_.program->buffer_params[i]] = address(buffers[i], 0);
  for (size_t i = 0; i < scalars.size(); ++i) s_.r[s_.program->scalar_params[i]] = scalars[i];
}

bool Machine::call(const Instruction& n) {
  const CallRecord& record = s_.program->calls[static_cast<size_t>(n.extra)];
  if (n.op != Op::kCallExternal || !record.plain)
    return s_.stop(RunEnd::kUnsupported, fmt::format("a call of {}", record.callee));
  std::vector<Term> args;
  for (const auto& arg : record.args) {
    if (arg.is_buffer) return s_.stop(RunEnd::kUnsupported, fmt::format("a call of {}", record.callee));
    args.push_back(s_.r[arg.value]);
  }
  s_.r[n.dst] = s_.algebra.call(record.callee, args, record.result);
  return true;
}

bool Machine::guard(const Instruction& n) {
  if (!known(n.a, "a guard")) return false;
  if (s_.r[n.a].number() != 0) return true;
  s_.result.status = s_.program->guards[static_cast<size_t>(n.extra)].code;
  return s_.stop(RunEnd::kStatus, fmt::format("a guard fails with status {}", s_.result.status));
}

bool Machine::has_parallel(const Loop& loop) const {
  return std::any_of(s_.program->loops.begin(), s_.program->loops.end(), [&](const Loop& other) {
    return other.parallel && other.next <= loop.next && other.head >= loop.head;
  });
}

bool Machine::enter_loop(const Instruction& n, size_t& pc) {
  const Loop& loop = s_.program->loops[static_cast<size_t>(n.extra)];
  // Iterations of a parallel loop run one by one, so that memory sees which of them accesses what.
  if (in_batches_ && (s_.task.loop != 0 || !has_parallel(loop))) {
    const std::optional<size_t> next = batches_.run(n);
    if (next) pc = *next - 1;
    return next.has_value();
  }
  if (!loop.parallel || parallel_next_ >= 0) return true;
  parallel_next_ = loop.next;
  s_.task = {last_task_ + 1, last_task_ + 2};
  last_task_ += 2;
  return true;
}

void Machine::next_iteration(size_t pc, bool ends) {
  if (static_cast<int64_t>(pc) != parallel_next_) return;
  if (ends)
    parallel_next_ = -1, s_.task = {};
  else
    s_.task.iteration = ++last_task_;
}

bool Machine::next(const Instruction& n, size_t& pc) {
  const bool again = s_.r[n.a].number() + 1 < s_.r[n.b].number();
  s_.r[n.dst] = number_term(s_.r[n.a].number() + 1);
  next_iteration(pc, !again);
  if (again) pc = static_cast<size_t>(n.extra) - 1;
  if (s_.left >= 0) return true;
  return s_.stop(RunEnd::kOverLimit, kOverLimitText);
}

/// Executes control flow and memory operations, and passes on the rest.
bool Machine::control(const Instruction& n, size_t& pc) {
  switch (n.op) {
    case Op::kJump:
      pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kBatch:
      return enter_loop(n, pc);
    case Op::kLoopNext:
      return next(n, pc);
    case Op::kJumpIfZero:
      if (!known(n.a, "a condition")) return false;
      if (s_.r[n.a].number() == 0) pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kJumpIfNotLess:
      if (!known(n.a, "a bound of a loop") || !known(n.b, "a bound of a loop")) return false;
      if (s_.r[n.a].number() >= s_.r[n.b].number()) pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kOffset:
      if (!known(n.b, "an offset")) return false;
      s_.r[n.dst] = address(s_.r[n.a].x, s_.r[n.a].y + s_.r[n.b].x);
      return true;
    case Op::kAlloc:
      if (!known(n.a, "the size of memory")) return false;
      s_.r[n.dst] = address(s_.memory.allocate(s_.r[n.a].number(), s_.task), 0);
      return true;
    case Op::kFree:
      s_.memory.release(s_.r[n.a].x);
      return true;
    case Op::kGuard:
      return guard(n);
    case Op::kCall:
    case Op::kCallExternal:
    case Op::kCallRuntime:
      return call(n);
    default:
      return s_.compute(n, s_.program->code[pc + 1], s_.r[n.a], s_.r[n.b], s_.r[n.c], s_.r[n.dst]);
  }
}

RunResult Machine::run(const Program& program, const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars,
                       int64_t limit, bool in_batches, const std::set<int64_t>& serial) {
  s_.program = &program;
  s_.result = {}, s_.task = {}, parallel_next_ = -1, s_.left = limit, in_batches_ = in_batches;
  batches_.begin(serial);
  begin(buffers, scalars);
  const bool field = s_.algebra.meaning() != Meaning::kExact;
  const Instruction* code = program.code.data();
  bool goes_on = true;
  for (size_t pc = 0; goes_on && code[pc].op != Op::kEnd; ++pc, --s_.left) {
    const Instruction& n = code[pc];
    const Term &a = s_.r[n.a], &b = s_.r[n.b];
    const bool numbers = a.is_number() && b.is_number();
    const bool reals = field && a.kind == TermKind::kReal && b.kind == TermKind::kReal;
    // The most frequent instructions of inner loops are handled here, for speed; control() would give the same.
    if (n.op == Op::kMove)
      s_.r[n.dst] = a;
    else if (n.op == Op::kAddI && numbers)
      s_.r[n.dst] = number_term(static_cast<int64_t>(a.x + b.x));
    else if (n.op == Op::kMulI && numbers)
      s_.r[n.dst] = number_term(static_cast<int64_t>(a.x * b.x));
    else if (n.op == Op::kAddF && reals)
      s_.r[n.dst] = s_.algebra.field_sum(a, b);
    else if (n.op == Op::kMulF && reals)
      s_.r[n.dst] = s_.algebra.field_product(a, b);
    else if (n.op >= Op::kLoad8I && n.op <= Op::kLoadSmall)
      goes_on = s_.load(n, b, s_.r[n.dst]);
    else if (n.op >= Op::kStore8 && n.op <= Op::kStoreSmall)
      goes_on = s_.store(n, b, s_.r[n.dst]);
    else
      goes_on = control(n, pc);
  }
  s_.result.instructions = limit - s_.left;
  if (goes_on && !s_.memory.race().empty()) s_.stop(RunEnd::kFault, s_.memory.race());
  return s_.result;
}

}  // namespace relaxc::proof
