// machine.cpp: see machine.h.
#include "compiler/proof/kernels/machine.h"

#include <fmt/format.h>

#include <bit>

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

bool Machine::stop(RunEnd end, std::string text) {
  result_.end = end, result_.text = std::move(text);
  return false;
}

void Machine::begin(const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars) {
  r_.assign(program_->registers + 1, Term{.kind = TermKind::kNumber});
  for (const Constant& constant : program_->constants) {
    const DType dtype = constant.dtype;
    Term& to = r_[constant.reg];
    if (!dtype.is_float())
      to = number_term(constant.value.i);
    else
      to = algebra_.constant(dtype.bits == 64 ? constant.value.d : static_cast<double>(constant.value.f));
  }
  for (size_t i = 0; i < buffers.size(); ++i) r_[program_->buffer_params[i]] = address(buffers[i], 0);
  for (size_t i = 0; i < scalars.size(); ++i) r_[program_->scalar_params[i]] = scalars[i];
}

bool Machine::known(uint32_t reg, const char* what) {
  const Term& t = r_[reg];
  if (t.is_number()) return true;
  if (t.is_poison()) return stop(RunEnd::kFault, fmt::format("{} is {}", what, algebra_.text(t)));
  return stop(RunEnd::kNeedsData, fmt::format("{} depends on data", what));
}

bool Machine::load(const Instruction& n, DType dtype) {
  if (r_[n.b].is_poison() && n.lenient) return r_[n.dst] = r_[n.b], true;
  if (!known(n.b, "a subscript") || !known(n.extra == 0 ? n.b : static_cast<uint32_t>(n.extra), "a dim")) return false;
  const int64_t at = r_[n.b].number();
  const Term& base = r_[n.a];
  const bool outside = at < 0 || at >= r_[static_cast<size_t>(n.extra)].number();
  if (!outside) {
    r_[n.dst] = memory_.load(base.x, static_cast<int64_t>(base.y) + at * dtype.bytes(), dtype, task_);
    if (r_[n.dst].kind != TermKind::kOutside) return true;
  }
  r_[n.dst] = Term{.kind = TermKind::kOutside};
  return n.lenient || stop(RunEnd::kFault, fmt::format("element {} of buffer {} is read, which is beyond it", at,
                                                       program_->buffer_names[n.c]));
}

bool Machine::store(const Instruction& n, DType dtype) {
  if (!known(n.b, "a subscript") || !known(static_cast<uint32_t>(n.extra), "a dim")) return false;
  const int64_t at = r_[n.b].number();
  const Term& base = r_[n.a];
  const bool inside = at >= 0 && at < r_[static_cast<size_t>(n.extra)].number();
  if (inside && memory_.store(base.x, static_cast<int64_t>(base.y) + at * dtype.bytes(), dtype, r_[n.dst], task_))
    return true;
  return stop(RunEnd::kFault,
              fmt::format("element {} of buffer {} is written, which is beyond it", at, program_->buffer_names[n.c]));
}

uint8_t Machine::wrapped_bits(size_t pc) const {
  const Instruction& next = program_->code[pc + 1];
  return next.op == Op::kWrap && next.a == program_->code[pc].dst ? next.dtype.bits : uint8_t{64};
}

bool Machine::compute(const Instruction& n, size_t pc) {
  Term& a = r_[n.a];
  if (a.kind == TermKind::kAddress) {  // only rounding up to an alignment occurs, which all memory here has
    if (n.op != Op::kAndI || !r_[n.b].is_number()) return stop(RunEnd::kUnsupported, "arithmetic of an address");
    r_[n.dst] = address(a.x, a.y & r_[n.b].x);
    return true;
  }
  r_[n.dst] = algebra_.apply(n, a, r_[n.b], r_[n.c], wrapped_bits(pc));
  return true;
}

bool Machine::call(const Instruction& n) {
  const CallRecord& record = program_->calls[static_cast<size_t>(n.extra)];
  if (n.op != Op::kCallExternal || !record.plain)
    return stop(RunEnd::kUnsupported, fmt::format("a call of {}", record.callee));
  std::vector<Term> args;
  for (const auto& arg : record.args) {
    if (arg.is_buffer) return stop(RunEnd::kUnsupported, fmt::format("a call of {}", record.callee));
    args.push_back(r_[arg.value]);
  }
  r_[n.dst] = algebra_.call(record.callee, args, record.result);
  return true;
}

bool Machine::guard(const Instruction& n) {
  if (!known(n.a, "a guard")) return false;
  if (r_[n.a].number() != 0) return true;
  result_.status = program_->guards[static_cast<size_t>(n.extra)].code;
  return stop(RunEnd::kStatus, fmt::format("a guard fails with status {}", result_.status));
}

void Machine::enter_loop(const Instruction& n) {
  const Loop& loop = program_->loops[static_cast<size_t>(n.extra)];
  if (!loop.parallel || parallel_next_ >= 0) return;
  parallel_next_ = loop.next;
  task_ = {last_task_ + 1, last_task_ + 2};
  last_task_ += 2;
}

void Machine::next_iteration(size_t pc, bool ends) {
  if (static_cast<int64_t>(pc) != parallel_next_) return;
  if (ends)
    parallel_next_ = -1, task_ = {};
  else
    task_.iteration = ++last_task_;
}

bool Machine::next(const Instruction& n, size_t& pc) {
  const bool again = r_[n.a].number() + 1 < r_[n.b].number();
  r_[n.dst] = number_term(r_[n.a].number() + 1);
  next_iteration(pc, !again);
  if (again) pc = static_cast<size_t>(n.extra) - 1;
  if (left_ >= 0) return true;
  return stop(RunEnd::kOverLimit, "it takes more instructions than the limit");
}

/// Executes control flow and memory operations, and passes on the rest.
bool Machine::control(const Instruction& n, size_t& pc) {
  switch (n.op) {
    case Op::kJump:
      pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kBatch:
      enter_loop(n);
      return true;
    case Op::kLoopNext:
      return next(n, pc);
    case Op::kJumpIfZero:
      if (!known(n.a, "a condition")) return false;
      if (r_[n.a].number() == 0) pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kJumpIfNotLess:
      if (!known(n.a, "a bound of a loop") || !known(n.b, "a bound of a loop")) return false;
      if (r_[n.a].number() >= r_[n.b].number()) pc = static_cast<size_t>(n.extra) - 1;
      return true;
    case Op::kOffset:
      if (!known(n.b, "an offset")) return false;
      r_[n.dst] = address(r_[n.a].x, r_[n.a].y + r_[n.b].x);
      return true;
    case Op::kAlloc:
      if (!known(n.a, "the size of memory")) return false;
      r_[n.dst] = address(memory_.allocate(r_[n.a].number(), task_), 0);
      return true;
    case Op::kFree:
      memory_.release(r_[n.a].x);
      return true;
    case Op::kGuard:
      return guard(n);
    case Op::kCall:
    case Op::kCallExternal:
    case Op::kCallRuntime:
      return call(n);
    default:
      return compute(n, pc);
  }
}

RunResult Machine::run(const Program& program, const std::vector<uint64_t>& buffers, const std::vector<Term>& scalars,
                       int64_t limit) {
  program_ = &program;
  result_ = {}, task_ = {}, parallel_next_ = -1, left_ = limit;
  begin(buffers, scalars);
  const bool field = algebra_.meaning() != Meaning::kExact;
  const Instruction* code = program.code.data();
  bool goes_on = true;
  for (size_t pc = 0; goes_on && code[pc].op != Op::kEnd; ++pc, --left_) {
    const Instruction& n = code[pc];
    const Term &a = r_[n.a], &b = r_[n.b];
    const bool numbers = a.is_number() && b.is_number();
    const bool reals = field && a.kind == TermKind::kReal && b.kind == TermKind::kReal;
    // The most frequent instructions of inner loops are handled here, for speed; control() would give the same.
    if (n.op == Op::kMove)
      r_[n.dst] = a;
    else if (n.op == Op::kAddI && numbers)
      r_[n.dst] = number_term(static_cast<int64_t>(a.x + b.x));
    else if (n.op == Op::kMulI && numbers)
      r_[n.dst] = number_term(static_cast<int64_t>(a.x * b.x));
    else if (n.op == Op::kAddF && reals)
      r_[n.dst] = algebra_.add_real(n.op, a, b, false);
    else if (n.op == Op::kMulF && reals)
      r_[n.dst] = algebra_.multiply_real(n.op, a, b);
    else if (n.op >= Op::kLoad8I && n.op <= Op::kLoadSmall)
      goes_on = load(n, n.dtype);
    else if (n.op >= Op::kStore8 && n.op <= Op::kStoreSmall)
      goes_on = store(n, n.dtype);
    else if (n.op == Op::kSelect)
      r_[n.dst] = algebra_.select(a, b, r_[n.c]);
    else
      goes_on = control(n, pc);
  }
  result_.instructions = limit - left_;
  if (goes_on && !memory_.race().empty()) stop(RunEnd::kFault, memory_.race());
  return result_;
}

}  // namespace relaxc::proof
