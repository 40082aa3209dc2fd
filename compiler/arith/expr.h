// expr.h: scalar expressions, one language for all parts of relaxc.
//
// Dims, subscripts, arena offsets and element arithmetic are all Exprs: immutable, typed, hash-consed in a Context, so
// equality is equality of pointers. Nodes have a sequence number given at creation; every order that must be stable
// sorts by it, never by an address.
//
// Two families of types share the language. `index` is a mathematical integer (guards exclude overflow), which
// simplify() may rewrite as a polynomial. All others are element arithmetic: integers wrap, floats round, in the
// written order, and nothing rewrites them.
//
// Rejected: separate languages for dims and elements (every tool twice), and shared_ptr nodes (slow, no identity).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/support/arena.h"
#include "compiler/support/check.h"
#include "compiler/support/dtype.h"

namespace relaxc::tir {
struct Buffer;  // opaque here: a load names a buffer, arith does not read it
}

namespace relaxc::arith {

class Context;

/// The kinds of expressions; enum, visitor and rewriter are generated from this list.
/// Div and Mod truncate for integers (C's / and %) and are IEEE for floats (Mod: fmod); FloorDiv and FloorMod round
/// down. Min and Max of floats give NaN if either side is NaN. Comparisons give bool; And, Or, Not take bool.
#define RELAXC_BINARY_KINDS(X) \
  X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(FloorDiv) X(FloorMod) X(Min) X(Max) X(Eq) X(Ne) X(Lt) X(Le) X(And) X(Or)
#define RELAXC_EXPR_KINDS_BUT_VAR(X) \
  X(IntImm) X(FloatImm) RELAXC_BINARY_KINDS(X) X(Not) X(Select) X(Cast) X(Load) X(Call) X(Extern)
#define RELAXC_EXPR_KINDS(X) X(Var) RELAXC_EXPR_KINDS_BUT_VAR(X)

/// Scalar functions: name in the text IR (`T.exp`) and number of operands. Shifts of unsigned types are logical, of
/// signed ones arithmetic; round is to nearest, ties to even; exp_nonpositive is exp up to 40, in fewer steps, and
/// anything beyond that; ldexp(x, n) is x * 2^n, n of any integer dtype; bitcast keeps the bits and has the Call's
/// dtype; popcount and clz count in the operand's width.
// clang-format off
#define RELAXC_INTRINSICS(X) \
  X(exp, 1) X(exp_nonpositive, 1) X(exp2, 1) X(exp10, 1) X(expm1, 1) X(log, 1) X(log2, 1) X(log10, 1) X(log1p, 1) \
  X(sqrt, 1) X(rsqrt, 1) X(sin, 1) X(cos, 1) X(tan, 1) X(asin, 1) X(acos, 1) X(atan, 1) X(sinh, 1) X(cosh, 1) \
  X(tanh, 1) X(asinh, 1) X(acosh, 1) X(atanh, 1) X(erf, 1) X(sigmoid, 1) X(pow, 2) X(atan2, 2) X(hypot, 2) \
  X(ldexp, 2) X(nextafter, 2) X(floor, 1) X(ceil, 1) X(trunc, 1) X(round, 1) X(abs, 1) X(fma, 3) X(copysign, 2) \
  X(isnan, 1) X(isinf, 1) X(bitwise_and, 2) X(bitwise_or, 2) X(bitwise_xor, 2) X(bitwise_not, 1) X(shift_left, 2) \
  X(shift_right, 2) X(popcount, 1) X(clz, 1) X(bitcast, 1)
// clang-format on

enum class ExprKind : uint8_t {
#define X(name) k##name,
  RELAXC_EXPR_KINDS(X)
#undef X
};

enum class Intrinsic : uint8_t {
#define X(name, arity) k_##name,
  RELAXC_INTRINSICS(X)
#undef X
};
std::string_view intrinsic_name(Intrinsic intrinsic);
size_t intrinsic_arity(Intrinsic intrinsic);

/// The common fields of all expressions. Only Context makes nodes.
struct Node {
  ExprKind kind;
  DType dtype;
  uint32_t id;  ///< order of creation in the Context
  Context* context;
};

/// A handle of an expression; null by default. Equality compares pointers, which due to hash-consing is structural.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const Node* node) : node_(node) {}

  const Node* operator->() const { return node_; }
  const Node* node() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }

  DType dtype() const { return node_->dtype; }
  Context& context() const { return *node_->context; }
  template <typename T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }
  /// Returns the value of an integer, bool or index constant; else null.
  const int64_t* constant() const;
  bool is_constant(int64_t value) const { return constant() != nullptr && *constant() == value; }

 private:
  const Node* node_ = nullptr;
};

/// An integer, bool or index constant; a uint64 is stored by its bit pattern.
struct IntImm : Node {
  static constexpr ExprKind kKind = ExprKind::kIntImm;
  int64_t value;
};
/// A float constant of any float dtype, already rounded to it.
struct FloatImm : Node {
  static constexpr ExprKind kKind = ExprKind::kFloatImm;
  double value;
};
/// A variable's identity is its node: two variables of one name are distinct.
struct VarNode : Node {
  static constexpr ExprKind kKind = ExprKind::kVar;
  std::string name;
};
struct Binary : Node {
  Expr a, b;
};
#define X(name)                                          \
  struct name : Binary {                                 \
    static constexpr ExprKind kKind = ExprKind::k##name; \
  };
RELAXC_BINARY_KINDS(X)
#undef X
struct Not : Node {
  static constexpr ExprKind kKind = ExprKind::kNot;
  Expr a;
};
struct Select : Node {
  static constexpr ExprKind kKind = ExprKind::kSelect;
  Expr condition, then_value, else_value;
};
/// Conversion with C's semantics: float to integer truncates (out of range saturates, NaN gives 0), integers wrap, to
/// bool is `!= 0`.
struct Cast : Node {
  static constexpr ExprKind kKind = ExprKind::kCast;
  Expr value;
};
struct Load : Node {
  static constexpr ExprKind kKind = ExprKind::kLoad;
  const tir::Buffer* buffer;
  std::vector<Expr> indices;
};
struct Call : Node {
  static constexpr ExprKind kKind = ExprKind::kCall;
  Intrinsic intrinsic;
  std::vector<Expr> args;
};

/// The result of a C function of scalars that the linking program defines. It must depend only on its arguments: how
/// often and in which order such functions are called is unspecified.
struct Extern : Node {
  static constexpr ExprKind kKind = ExprKind::kExtern;
  std::string name;
  std::vector<Expr> args;
};

/// A typed handle of a variable, where other expressions are invalid.
class Var : public Expr {
 public:
  Var() = default;
  explicit Var(const VarNode* node) : Expr(node) {}
  const std::string& name() const { return static_cast<const VarNode*>(node())->name; }
};

/// Owns all expressions of one compilation; its arena also holds the nodes of other representations.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Expr imm(DType dtype, int64_t value);       ///< integers, bool, index; wrapped to the dtype
  Expr imm_float(DType dtype, double value);  ///< rounded to the dtype
  Expr index(int64_t value) { return imm(DType::index(), value); }
  Expr boolean(bool value) { return imm(DType::boolean(), value); }
  /// Returns the constant `value` of any numeric dtype.
  Expr number(DType dtype, double value);
  Expr zero(DType dtype) { return number(dtype, 0); }

  Var var(std::string name, DType dtype = DType::index());

  /// Makes any binary kind; both operands have one dtype. Constants and neutral elements of index operands are folded.
  Expr binary(ExprKind kind, Expr a, Expr b);
  Expr negate(Expr a);  ///< logical not
  Expr select(Expr condition, Expr then_value, Expr else_value);
  Expr cast(DType dtype, Expr value);  ///< `value` itself if it has that dtype; folds index constants
  Expr load(const tir::Buffer* buffer, DType dtype, std::vector<Expr> indices);
  Expr call(DType dtype, Intrinsic intrinsic, std::vector<Expr> args);
  Expr external(DType dtype, const std::string& name, std::vector<Expr> args);

  Arena& arena() { return arena_; }
  uint32_t next_id() { return next_entity_id_++; }  ///< for ids of buffers, loops, blocks

 private:
  template <typename T, typename Same, typename Fill>
  Expr intern(size_t hash, DType dtype, Same same, Fill fill);

  Arena arena_;
  std::unordered_multimap<size_t, const Node*> nodes_;
  uint32_t next_node_id_ = 0;
  uint32_t next_entity_id_ = 0;
};

// Builders; an `int64_t` operand becomes a constant of the other operand's dtype.
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator+(Expr a, int64_t b);
Expr operator-(Expr a, int64_t b);
Expr operator*(Expr a, int64_t b);
Expr operator-(Expr a);
Expr floordiv(Expr a, Expr b);
Expr floordiv(Expr a, int64_t b);
Expr floormod(Expr a, Expr b);
Expr floormod(Expr a, int64_t b);
Expr ceildiv(Expr a, int64_t b);
Expr ceildiv(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr eq(Expr a, Expr b);
Expr eq(Expr a, int64_t b);
Expr ne(Expr a, Expr b);
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
Expr gt(Expr a, Expr b);
Expr ge(Expr a, Expr b);
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);
Expr select(Expr condition, Expr then_value, Expr else_value);
Expr cast(DType dtype, Expr value);
/// Makes a call whose result has the dtype of its first operand (isnan and isinf: bool).
Expr call(Intrinsic intrinsic, std::vector<Expr> args);

/// Rounds a double to the nearest value of a float dtype (ties to even).
double round_to_dtype(double value, DType dtype);
/// Wraps an integer to the width and sign of `dtype` (bool: `!= 0`; index: unchanged).
int64_t wrap_to_dtype(int64_t value, DType dtype);

}  // namespace relaxc::arith

template <>
struct std::hash<relaxc::arith::Expr> {
  size_t operator()(relaxc::arith::Expr e) const { return e ? e->id : ~size_t{0}; }
};
