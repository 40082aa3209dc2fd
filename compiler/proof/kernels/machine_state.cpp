// machine_state.cpp: see machine_state.h.
#include "compiler/proof/kernels/machine_state.h"

#include <fmt/format.h>

#include <utility>

namespace relaxc::proof {

using tir::interpreter::Op;

bool MachineState::stop(RunEnd end, std::string text) {
  result.end = end, result.text = std::move(text);
  return false;
}

bool MachineState::known(const Term& t, const char* what) {
  if (t.is_number()) return true;
  if (t.is_poison()) return stop(RunEnd::kFault, fmt::format("{} is {}", what, algebra.text(t)));
  return stop(RunEnd::kNeedsData, fmt::format("{} depends on data", what));
}

bool MachineState::load(const Instruction& n, const Term& index, Term& to, Lane lane) {
  if (index.is_poison() && n.lenient) return to = index, true;
  const Term& count = r[static_cast<size_t>(n.extra)];
  if (!known(index, "a subscript") || !known(count, "a dim")) return false;
  const int64_t at = index.number();
  const Term& base = r[n.a];
  if (at >= 0 && at < count.number()) {
    const int64_t element = at * lane.count + lane.number;
    to = memory.load(base.x, static_cast<int64_t>(base.y) + element * n.dtype.bytes(), n.dtype, task);
    if (to.kind != TermKind::kOutside) return true;
  }
  to = Term{.kind = TermKind::kOutside};
  return n.lenient || stop(RunEnd::kFault, fmt::format("element {} of buffer {} is read, which is beyond it", at,
                                                       program->buffer_names[n.c]));
}

bool MachineState::store(const Instruction& n, const Term& index, const Term& value, Lane lane) {
  const Term& count = r[static_cast<size_t>(n.extra)];
  if (!known(index, "a subscript") || !known(count, "a dim")) return false;
  const int64_t at = index.number();
  const Term& base = r[n.a];
  const bool inside = at >= 0 && at < count.number();
  const int64_t byte = static_cast<int64_t>(base.y) + (at * lane.count + lane.number) * n.dtype.bytes();
  if (inside && memory.store(base.x, byte, n.dtype, value, task)) return true;
  return stop(RunEnd::kFault,
              fmt::format("element {} of buffer {} is written, which is beyond it", at, program->buffer_names[n.c]));
}

bool MachineState::compute(const Instruction& n, const Instruction& next, const Term& a, const Term& b, const Term& c,
                           Term& to) {
  if (n.op == Op::kMove) return to = a, true;
  const bool numbers = a.is_number() && b.is_number();
  if (n.op == Op::kAddI && numbers) return to = number_term(static_cast<int64_t>(a.x + b.x)), true;
  if (n.op == Op::kMulI && numbers) return to = number_term(static_cast<int64_t>(a.x * b.x)), true;
  if (n.op == Op::kSelect) return to = algebra.select(a, b, c), true;
  if (a.kind == TermKind::kAddress) {  // only rounding up to an alignment occurs, which all memory here has
    if (n.op != Op::kAndI || !b.is_number()) return stop(RunEnd::kUnsupported, "arithmetic of an address");
    to = Term{a.x, a.y & b.x, 0, 0, TermKind::kAddress, 0, false};
    return true;
  }
  const uint8_t wrapped_bits = next.op == Op::kWrap && next.a == n.dst ? next.dtype.bits : uint8_t{64};
  to = algebra.apply(n, a, b, c, wrapped_bits);
  return true;
}

}  // namespace relaxc::proof
