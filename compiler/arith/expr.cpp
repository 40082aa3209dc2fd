// expr.cpp: hash-consing, and folding while expressions are built.
//
// Only `index` arithmetic is folded here (constants and neutral elements), since it is exact. Element arithmetic stays
// as written.
#include "compiler/arith/expr.h"

#include <bit>
#include <cmath>

#include "compiler/arith/fold.h"

namespace relaxc::arith {
namespace {

size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29);
}

size_t hash_of(ExprKind kind, DType dtype, std::initializer_list<Expr> operands) {
  size_t hash = mix(static_cast<size_t>(kind) * 131 + static_cast<size_t>(dtype.code), dtype.bits);
  for (Expr e : operands) hash = mix(hash, std::hash<Expr>{}(e));
  return hash;
}

bool is_comparison(ExprKind kind) {
  return kind == ExprKind::kEq || kind == ExprKind::kNe || kind == ExprKind::kLt || kind == ExprKind::kLe;
}

/// The result where an operand is a neutral or absorbing element of index arithmetic; null if none is.
Expr neutral(Context& context, ExprKind kind, Expr a, Expr b) {
  switch (kind) {
    case ExprKind::kAdd:
      return b.is_constant(0) ? a : a.is_constant(0) ? b : Expr();
    case ExprKind::kSub:
      return b.is_constant(0) ? a : a == b ? context.index(0) : Expr();
    case ExprKind::kMul:
      if (b.is_constant(1) || a.is_constant(0)) return a;
      return a.is_constant(1) || b.is_constant(0) ? b : Expr();
    case ExprKind::kDiv:
    case ExprKind::kFloorDiv:
      return b.is_constant(1) ? a : Expr();
    case ExprKind::kMod:
    case ExprKind::kFloorMod:
      return b.is_constant(1) ? context.index(0) : Expr();
    case ExprKind::kMin:
    case ExprKind::kMax:
      return a == b ? a : Expr();
    case ExprKind::kEq:
    case ExprKind::kLe:
      return a == b ? context.boolean(true) : Expr();
    case ExprKind::kNe:
    case ExprKind::kLt:
      return a == b ? context.boolean(false) : Expr();
    default:
      return Expr();
  }
}

Expr fold_logical(ExprKind kind, Expr a, Expr b) {
  int64_t absorbing = kind == ExprKind::kOr;
  if (a.is_constant(absorbing) || b.is_constant(!absorbing)) return a;
  if (b.is_constant(absorbing) || a.is_constant(!absorbing)) return b;
  return a == b ? a : Expr();
}

}  // namespace

std::string_view intrinsic_name(Intrinsic intrinsic) {
  constexpr std::string_view kNames[] = {
#define X(name, arity) #name,
      RELAXC_INTRINSICS(X)
#undef X
  };
  return kNames[static_cast<size_t>(intrinsic)];
}

size_t intrinsic_arity(Intrinsic intrinsic) {
  constexpr size_t kArity[] = {
#define X(name, arity) arity,
      RELAXC_INTRINSICS(X)
#undef X
  };
  return kArity[static_cast<size_t>(intrinsic)];
}

const int64_t* Expr::constant() const {
  const auto* imm = as<IntImm>();
  return imm == nullptr ? nullptr : &imm->value;
}

/// Finds a node of type T with this hash for which `same` holds, or makes one and lets `fill` set its fields.
template <typename T, typename Same, typename Fill>
Expr Context::intern(size_t hash, DType dtype, Same same, Fill fill) {
  auto [begin, end] = nodes_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Node* node = it->second;
    if (node->kind == T::kKind && node->dtype == dtype && same(*static_cast<const T*>(node))) return Expr(node);
  }
  T* node = arena_.make<T>();
  node->kind = T::kKind;
  node->dtype = dtype;
  node->id = next_node_id_++;
  node->context = this;
  fill(*node);
  nodes_.emplace(hash, node);
  return Expr(node);
}

Expr Context::imm(DType dtype, int64_t value) {
  RELAXC_CHECK(!dtype.is_float() && !dtype.is_complex(), "an integer constant of a float dtype");
  value = wrap_to_dtype(value, dtype);
  return intern<IntImm>(
      mix(hash_of(ExprKind::kIntImm, dtype, {}), static_cast<size_t>(value)), dtype,
      [&](const IntImm& n) { return n.value == value; }, [&](IntImm& n) { n.value = value; });
}

Expr Context::imm_float(DType dtype, double value) {
  RELAXC_CHECK(dtype.is_float(), "a float constant of an integer dtype");
  value = round_to_dtype(value, dtype);
  uint64_t bits = std::bit_cast<uint64_t>(value);
  return intern<FloatImm>(
      mix(hash_of(ExprKind::kFloatImm, dtype, {}), bits), dtype,
      [&](const FloatImm& n) { return std::bit_cast<uint64_t>(n.value) == bits; },
      [&](FloatImm& n) { n.value = value; });
}

Expr Context::number(DType dtype, double value) {
  return dtype.is_float() ? imm_float(dtype, value) : imm(dtype, static_cast<int64_t>(value));
}

Var Context::var(std::string name, DType dtype) {
  Expr e = intern<VarNode>(
      hash_of(ExprKind::kVar, dtype, {}) + next_node_id_, dtype, [](const VarNode&) { return false; },
      [&](VarNode& n) { n.name = std::move(name); });
  return Var(e.as<VarNode>());
}

Expr Context::binary(ExprKind kind, Expr a, Expr b) {
  bool logical = kind == ExprKind::kAnd || kind == ExprKind::kOr;
  RELAXC_CHECK(a.dtype() == b.dtype(), "operands of dtypes " + to_string(a.dtype()) + " and " + to_string(b.dtype()));
  RELAXC_CHECK(!logical || a.dtype().is_bool(), "and, or of a dtype that is not bool");
  DType dtype = is_comparison(kind) ? DType::boolean() : a.dtype();
  if (a.dtype().is_index()) {
    if (a.constant() && b.constant())
      if (auto value = fold(kind, *a.constant(), *b.constant())) return imm(dtype, *value);
    if (Expr simple = neutral(*this, kind, a, b)) return simple;
  } else if (logical) {
    if (Expr simple = fold_logical(kind, a, b)) return simple;
  }
  size_t hash = hash_of(kind, dtype, {a, b});
  auto same = [&](const Binary& n) { return n.a == a && n.b == b; };
  auto fill = [&](Binary& n) { n.a = a, n.b = b; };
  switch (kind) {
#define X(name)           \
  case ExprKind::k##name: \
    return intern<name>(hash, dtype, same, fill);
    RELAXC_BINARY_KINDS(X)
#undef X
    default:
      RELAXC_UNREACHABLE("not a binary kind");
  }
}

Expr Context::negate(Expr a) {
  RELAXC_CHECK(a.dtype().is_bool(), "not of a dtype that is not bool");
  if (a.constant()) return boolean(!*a.constant());
  if (const auto* inner = a.as<Not>()) return inner->a;
  return intern<Not>(
      hash_of(ExprKind::kNot, a.dtype(), {a}), a.dtype(), [&](const Not& n) { return n.a == a; },
      [&](Not& n) { n.a = a; });
}

Expr Context::select(Expr condition, Expr t, Expr f) {
  RELAXC_CHECK(condition.dtype().is_bool() && t.dtype() == f.dtype(), "select of unlike values");
  if (condition.constant()) return *condition.constant() ? t : f;
  if (t == f) return t;
  return intern<Select>(
      hash_of(ExprKind::kSelect, t.dtype(), {condition, t, f}), t.dtype(),
      [&](const Select& n) { return n.condition == condition && n.then_value == t && n.else_value == f; },
      [&](Select& n) { n.condition = condition, n.then_value = t, n.else_value = f; });
}

Expr Context::cast(DType dtype, Expr value) {
  if (value.dtype() == dtype) return value;
  if (value.constant() && !dtype.is_complex() && value.dtype() != DType::u(64)) {
    int64_t number = *value.constant();
    if (!dtype.is_float()) return imm(dtype, number);
    // All floats but float64 are computed in float32, to which emitted code rounds a large integer first.
    return imm_float(dtype, dtype == DType::f(64) ? static_cast<double>(number) : static_cast<float>(number));
  }
  return intern<Cast>(
      hash_of(ExprKind::kCast, dtype, {value}), dtype, [&](const Cast& n) { return n.value == value; },
      [&](Cast& n) { n.value = value; });
}

Expr Context::load(const tir::Buffer* buffer, DType dtype, std::vector<Expr> indices) {
  for (Expr index : indices) RELAXC_CHECK(index.dtype().is_index(), "a subscript that is not an index");
  // The hash contains the address, so that kernels with equal subscripts differ. The table is only asked for equality,
  // so no order depends on addresses.
  size_t hash = mix(hash_of(ExprKind::kLoad, dtype, {}), std::hash<const tir::Buffer*>{}(buffer));
  for (Expr index : indices) hash = mix(hash, std::hash<Expr>{}(index));
  return intern<Load>(
      hash, dtype, [&](const Load& n) { return n.buffer == buffer && n.indices == indices; },
      [&](Load& n) { n.buffer = buffer, n.indices = indices; });
}

Expr Context::call(DType dtype, Intrinsic intrinsic, std::vector<Expr> args) {
  RELAXC_CHECK(args.size() == intrinsic_arity(intrinsic),
               std::string(intrinsic_name(intrinsic)) + " has another arity");
  size_t hash = mix(hash_of(ExprKind::kCall, dtype, {}), static_cast<size_t>(intrinsic));
  for (Expr arg : args) hash = mix(hash, std::hash<Expr>{}(arg));
  return intern<Call>(
      hash, dtype, [&](const Call& n) { return n.intrinsic == intrinsic && n.args == args; },
      [&](Call& n) { n.intrinsic = intrinsic, n.args = args; });
}

Expr Context::external(DType dtype, const std::string& name, std::vector<Expr> args) {
  size_t hash = mix(hash_of(ExprKind::kExtern, dtype, {}), std::hash<std::string>{}(name));
  for (Expr arg : args) hash = mix(hash, std::hash<Expr>{}(arg));
  return intern<Extern>(
      hash, dtype, [&](const Extern& n) { return n.name == name && n.args == args; },
      [&](Extern& n) { n.name = name, n.args = args; });
}

}  // namespace relaxc::arith
