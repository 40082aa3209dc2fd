// vector_expression.cpp: prints expressions over all lanes as C.
//
// Integers are added and multiplied as unsigned ones, which wrap. A load under a condition may be outside of its buffer
// in lanes where the condition is false, so conditions over loads are left to loops over lanes.
#include "compiler/codegen/c/vector_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/codegen/c/operators.h"
#include "compiler/codegen/c/types.h"

namespace relaxc::codegen_c {

using namespace arith;

namespace {

bool reads_memory(Expr e) {
  bool found = false;
  for_each_node(e, [&](Expr node) {
    const auto* load = node.as<Load>();
    found |= load != nullptr && load->buffer->scope != tir::Scope::kLocal;
  });
  return found;
}

/// Whether a load may go outside of its buffer where the condition that chooses `e` does not hold.
bool may_read_outside(Expr e) {
  bool found = false;
  for_each_node(e, [&](Expr node) {
    const auto* load = node.as<Load>();
    if (load == nullptr) return;
    bool fixed =
        std::all_of(load->indices.begin(), load->indices.end(), [](Expr i) { return i.constant() != nullptr; });
    found |= load->buffer->scope != tir::Scope::kLocal || !fixed;
  });
  return found;
}

/// The unsigned integer type of the same width.
DType unsigned_of(DType dtype) {
  return DType::u(dtype.bits);
}

}  // namespace

bool VectorExpression::has_type(DType dtype) const {
  bool power_of_two = (count_ & (count_ - 1)) == 0;
  bool number = dtype.is_integer() || dtype == DType::f(32) || dtype == DType::f(64);
  return power_of_two && number && dtype.bits >= 8 && count_ * dtype.bytes() >= 4 && count_ * dtype.bytes() <= 256;
}

bool VectorExpression::can(Expr e) {
  auto known = [&](Expr node) { return can_.count(node) != 0; };
  if (!known(e))
    for_each_node(
        e, [&](Expr node) { return operands_except(node, known); }, [&](Expr node) { can_[node] = can_compute(node); });
  return can_.at(e);
}

/// Whether vectors can compute `e`, given the answers for its operands in `can_`.
bool VectorExpression::can_compute(Expr e) {
  if (is_uniform(e)) return (has_type(e.dtype()) || e.dtype().is_bool()) && (mask_.empty() || !reads_memory(e));
  auto all = [&](Expr node) {
    for (Expr operand : operands(node))
      if (!can_.at(operand)) return false;
    return true;
  };
  return visit(
      e, [&](const IntImm&) { return true; }, [&](const FloatImm&) { return true; },
      [&](const VarNode& n) { return has_type(n.dtype) && !lanes_.step(e).has_value(); },
      [&](const And& n) { return all(e) && !may_read_outside(n.b); },
      [&](const Or& n) { return all(e) && !may_read_outside(n.b); },
      [&](const Binary& n) {
        if (is_comparison(n.kind)) return can_compare(n);
        bool whole = n.kind == ExprKind::kAdd || n.kind == ExprKind::kSub || n.kind == ExprKind::kMul ||
                     n.kind == ExprKind::kMin || n.kind == ExprKind::kMax;
        return (whole || (n.kind == ExprKind::kDiv && n.dtype.is_float())) && has_type(n.dtype) && all(e);
      },
      [&](const Not&) { return all(e); },
      [&](const Select& n) {
        return has_type(n.dtype) && all(e) && !may_read_outside(n.then_value) && !may_read_outside(n.else_value);
      },
      [&](const Cast& n) {
        DType from = n.value.dtype();
        return has_type(from) && has_type(n.dtype) && !(from.is_float() && !n.dtype.is_float()) && all(e);
      },
      [&](const Load& n) { return can_load(n); }, [&](const Call& n) { return can_call(n) && all(e); },
      [&](const Extern&) { return is_angle_call(e) && has_type(e.dtype()) && all(e); });
}

/// Whether vectors can compare. Indices with constant steps between lanes are compared by the distance of the first.
bool VectorExpression::can_compare(const Binary& n) {
  if (!n.a.dtype().is_index()) return has_type(n.a.dtype()) && can_.at(n.a) && can_.at(n.b);
  constexpr int64_t kMostStep = 1 << 16;
  tir::Lanes::Step a = lanes_.step(n.a), b = lanes_.step(n.b);
  bool less = n.kind == ExprKind::kLt || n.kind == ExprKind::kLe;
  return less && a && b && std::abs(*a) < kMostStep && std::abs(*b) < kMostStep && has_type(DType::i(32)) &&
         (mask_.empty() || !(reads_memory(n.a) || reads_memory(n.b)));
}

bool VectorExpression::can_load(const Load& n) const {
  if (!has_type(n.dtype)) return false;
  tir::Lanes::Step step = lanes_.step(n.buffer, n.indices);
  return step.has_value() && (!lanes_.is_private(n.buffer) || *step == 0);
}

bool VectorExpression::can_call(const Call& n) const {
  DType dtype = n.args[0].dtype();
  if (!has_type(dtype) || !has_type(n.dtype)) return false;
  switch (n.intrinsic) {
    case Intrinsic::k_fma:
    case Intrinsic::k_sqrt:
    case Intrinsic::k_floor:
    case Intrinsic::k_ceil:
    case Intrinsic::k_trunc:
    case Intrinsic::k_round:
    case Intrinsic::k_abs:
      return dtype.is_float();
    case Intrinsic::k_bitwise_and:
    case Intrinsic::k_bitwise_or:
    case Intrinsic::k_bitwise_xor:
    case Intrinsic::k_bitwise_not:
      return dtype.is_integer();
    case Intrinsic::k_shift_left:
    case Intrinsic::k_shift_right: {
      const int64_t* by = n.args[1].constant();
      return by != nullptr && *by >= 0 && *by < dtype.bits;
    }
    case Intrinsic::k_bitcast:
      return dtype.bits == n.dtype.bits;
    default:
      return false;
  }
}

bool VectorExpression::can_index(Expr e) const {
  return !reads_memory(e);
}

bool VectorExpression::can_store(tir::BufferRef buffer, const std::vector<Expr>& indices) const {
  return has_type(buffer->dtype) && lanes_.step(buffer, indices) == tir::Lanes::Step(lanes_.is_private(buffer) ? 0 : 1);
}

namespace {

/// Whether the text is repeated at each use: that of a comparison is its two sides, which then occur as often.
bool is_repeated(Expr e) {
  return e.dtype().is_bool() && is_comparison(e->kind);
}

}  // namespace

/// Collects the nodes that are vectors, operands first, counts how often each is printed, and collects their scalars.
void VectorExpression::collect(Expr root) {
  auto is_scalar = [&](Expr e) { return is_uniform(e) || e.dtype().is_index(); };
  ++uses_[root];
  auto next = [&](Expr e) {
    std::vector<Expr> parts;
    const auto* load = e.as<Load>();
    if (is_scalar(e)) return parts;
    if (load == nullptr)
      parts = operands(e);
    else if (!load->indices.empty())
      parts.push_back(tir::element_offset(e.context(), *load->buffer, load->indices));
    for (Expr part : parts) ++uses_[part];
    return parts;
  };
  for_each_node(root, next, [&](Expr e) { (is_scalar(e) ? uniform_ : order_).push_back(e); });
  for (size_t i = 0, distinct = uniform_.size(); i < distinct; ++i)
    uniform_.insert(uniform_.end(), static_cast<size_t>(uses_[uniform_[i]] - 1), uniform_[i]);
  for (auto e = order_.rbegin(); e != order_.rend(); ++e)
    if (uses_[*e] > 1 && is_repeated(*e))
      for (Expr operand : operands(*e)) ++uses_[operand];
}

std::vector<std::string> VectorExpression::share(Expr e) {
  collect(e);
  std::vector<std::string> lines = scalars_.share(uniform_);
  for (Expr node : order_) {
    if (node.as<VarNode>() != nullptr || is_repeated(node) || uses_[node] < 2) continue;
    const DType dtype = node.dtype().is_bool() ? DType::i(static_cast<uint8_t>(mask_bits(node))) : node.dtype();
    std::string value = node.dtype().is_bool() ? mask(node, dtype.bits) : print(node), name = names_.fresh("t");
    lines.push_back(fmt::format("const {} {} = {};", type(dtype), name, value));
    temporaries_[node] = name;
  }
  return lines;
}

std::string VectorExpression::text(Expr e) {
  auto found = temporaries_.find(e);
  return found != temporaries_.end() ? found->second : print(e);
}

std::string VectorExpression::print(Expr e) {
  if (is_uniform(e)) return spread(e);
  return visit(
      e, [&](const IntImm&) { return spread(e); }, [&](const FloatImm&) { return spread(e); },
      [&](const VarNode& n) { return fmt::format("{}({})", helper("load", n.dtype), names_.of(e)); },
      [&](const Binary& n) { return binary(n); },
      [&](const Not&) -> std::string { RELAXC_UNREACHABLE("conditions are printed by mask()"); },
      [&](const Select& n) { return select(n); },
      [&](const Cast& n) { return fmt::format("__builtin_convertvector({}, {})", text(n.value), type(n.dtype)); },
      [&](const Load& n) { return load(n); }, [&](const Call& n) { return call(n); },
      [&](const Extern& n) { return angle(n); });
}

std::string VectorExpression::spread(Expr e) {
  return fmt::format("{}({})", helper("spread", e.dtype()), scalars_.text(e));
}

std::string VectorExpression::place(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  std::string at = scalars_.offset(*buffer, indices), name = names_.of(buffer);
  if (at == "0") return name;
  return lanes_.is_private(buffer) ? fmt::format("{} + {} * {}", name, at, count_) : fmt::format("{} + {}", name, at);
}

std::string VectorExpression::stored(tir::BufferRef buffer, const std::vector<Expr>& indices,
                                     const std::string& value) {
  std::string first = place(buffer, indices);
  DType dtype = buffer->dtype;
  if (mask_.empty()) return stored(dtype, first, value);
  if (!lanes_.is_private(buffer))
    return fmt::format("{}({}, {}, {})", helper("masked_store", dtype), first, lanes_that_run(dtype), value);
  // A lane that does not run may touch its own element, so that the local can stay in registers.
  return stored(dtype, first,
                fmt::format("{}({}, {}, {}({}))", helper("select", dtype), lanes_that_run(dtype), value,
                            helper("load", dtype), first));
}

std::string VectorExpression::lanes_that_run(DType dtype) {
  return dtype.bits == 32 ? mask_ : fmt::format("__builtin_convertvector({}, {})", mask_, type(DType::i(dtype.bits)));
}

std::string VectorExpression::stored(DType dtype, const std::string& place, const std::string& value) {
  return fmt::format("{}({}, {})", helper("store", dtype), place, value);
}

std::string VectorExpression::load(const Load& n) {
  int64_t step = *lanes_.step(n.buffer, n.indices);
  std::string first = place(n.buffer, n.indices);
  bool masked = !mask_.empty() && !lanes_.is_private(n.buffer);  // other buffers may end before the last lane
  if (masked && step == 1)
    return fmt::format("{}({}, {})", helper("masked_load", n.dtype), first, lanes_that_run(n.dtype));
  if (lanes_.is_private(n.buffer) || step == 1) return fmt::format("{}({})", helper("load", n.dtype), first);
  if (masked)
    return fmt::format("{}({}, {}, {})", helper("masked_gather", n.dtype), first, step, lanes_that_run(n.dtype));
  return fmt::format("{}({}, {})", helper("gather", n.dtype), first, step);
}

std::string VectorExpression::binary(const Binary& n) {
  std::string a = text(n.a), b = text(n.b);
  if (n.kind == ExprKind::kMin || n.kind == ExprKind::kMax)
    return fmt::format("{}({}, {})", helper(n.kind == ExprKind::kMin ? "min" : "max", n.dtype), a, b);
  if (n.dtype.is_float() || n.dtype.is_uint()) return fmt::format("({} {} {})", a, operator_text(n.kind), b);
  std::string wraps = type(unsigned_of(n.dtype));
  return fmt::format("({})(({}){} {} ({}){})", type(n.dtype), wraps, a, operator_text(n.kind), wraps, b);
}

std::string VectorExpression::select(const Select& n) {
  std::string then_value = text(n.then_value), else_value = text(n.else_value);
  if (is_uniform(n.condition)) return fmt::format("({} ? {} : {})", scalars_.text(n.condition), then_value, else_value);
  return fmt::format("{}({}, {}, {})", helper("select", n.dtype), mask(n.condition, n.dtype.bits), then_value,
                     else_value);
}

std::string VectorExpression::compare_indices(const Binary& n) {
  int64_t step = *lanes_.step(n.a) - *lanes_.step(n.b);
  std::string lanes;
  for (int64_t i = 0; i < count_; ++i) lanes += (i == 0 ? "" : ", ") + std::to_string(i * step);
  std::string own = type(DType::i(32));
  return fmt::format("({0})(({0}){{{1}}} {2} {3}({4}({5}, {6})))", own, lanes, operator_text(n.kind),
                     helper("spread", DType::i(32)), scalars_.helper("distance"), scalars_.text(n.a),
                     scalars_.text(n.b));
}

/// The width in bits of the elements that a condition compares; 32 for indices and without comparisons.
int VectorExpression::mask_bits(Expr e) const {
  while (true) {
    const std::vector<Expr> parts = operands(e);
    auto decides = [&](Expr part) { return is_comparison(e->kind) || !is_uniform(part); };
    auto part = std::find_if(parts.begin(), parts.end(), decides);
    if (part == parts.end() || part->dtype().is_index()) return 32;
    if (!part->dtype().is_bool()) return part->dtype().bits;
    e = *part;
  }
}

std::string VectorExpression::mask(Expr e, int bits) {
  DType wanted = DType::i(static_cast<uint8_t>(bits));
  if (is_uniform(e)) return fmt::format("{}({} ? -1 : 0)", helper("spread", wanted), scalars_.text(e));
  int own = mask_bits(e);
  std::string out;
  if (auto named = temporaries_.find(e); named != temporaries_.end())
    out = named->second;
  else if (const auto* both = e.as<And>())
    out = fmt::format("({} & {})", mask(both->a, own), mask(both->b, own));
  else if (const auto* either = e.as<Or>())
    out = fmt::format("({} | {})", mask(either->a, own), mask(either->b, own));
  else if (const auto* opposite = e.as<Not>())
    out = fmt::format("(~{})", mask(opposite->a, own));
  else {
    const auto& n = static_cast<const Binary&>(*e.node());
    if (n.a.dtype().is_index()) {
      out = compare_indices(n);
      return bits == 32 ? out : fmt::format("__builtin_convertvector({}, {})", out, type(wanted));
    }
    out = fmt::format("({})({} {} {})", type(DType::i(static_cast<uint8_t>(own))), text(n.a), operator_text(n.kind),
                      text(n.b));
  }
  return own == bits ? out : fmt::format("__builtin_convertvector({}, {})", out, type(wanted));
}

std::string VectorExpression::call(const Call& n) {
  DType dtype = n.args[0].dtype();
  std::string a = text(n.args[0]);
  auto b = [&] { return text(n.args[1]); };
  switch (n.intrinsic) {
    case Intrinsic::k_fma:
      return fmt::format("{}({}, {}, {})", helper("fma", dtype), a, b(), text(n.args[2]));
    case Intrinsic::k_bitwise_and:
      return fmt::format("({} & {})", a, b());
    case Intrinsic::k_bitwise_or:
      return fmt::format("({} | {})", a, b());
    case Intrinsic::k_bitwise_xor:
      return fmt::format("({} ^ {})", a, b());
    case Intrinsic::k_bitwise_not:
      return fmt::format("(~{})", a);
    case Intrinsic::k_shift_left:
      return fmt::format("({})(({}){} << {})", type(dtype), type(unsigned_of(dtype)), a, *n.args[1].constant());
    case Intrinsic::k_shift_right:
      return fmt::format("({} >> {})", a, *n.args[1].constant());
    case Intrinsic::k_bitcast:
      return fmt::format("(({}){})", type(n.dtype), a);
    default:
      return fmt::format("{}({})", helper(std::string(intrinsic_name(n.intrinsic)), dtype), a);
  }
}

std::string VectorExpression::angle(const Extern& n) {
  RELAXC_CHECK(is_angle_call(Expr(&n)), "external functions take one lane");
  scalars_.helper(n.name.substr(4));
  return fmt::format("{}({}, {}, {})", helper(n.name.substr(4), n.dtype), text(n.args[0]), text(n.args[1]),
                     text(n.args[2]));
}

std::string VectorExpression::type(DType dtype) {
  return helper("type", dtype).erase(4, 5);  // rlx_type_f32x8 is called rlx_f32x8
}

std::string VectorExpression::helper(const std::string& operation, DType dtype) {
  return scalars_.helper(fmt::format("{}_{}x{}", operation, suffix(dtype), count_));
}

}  // namespace relaxc::codegen_c
