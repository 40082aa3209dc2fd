// struct_info.h: what the compiler knows of a value: the type system of the Relax level.
//
// Infos are immutable, made in the Context's arena and shared. Shapes are index expressions over symbols (arith::Var);
// a symbol is an int64 that some value binds at run time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/arith/simplify.h"

namespace relaxc::relax {

using arith::Context;
using arith::Expr;
using arith::Var;

#define RELAXC_STRUCT_INFO_KINDS(X) X(Object) X(Prim) X(Shape) X(Tensor) X(Tuple) X(Callable)

enum class InfoKind : uint8_t {
#define X(name) k##name,
  RELAXC_STRUCT_INFO_KINDS(X)
#undef X
};

struct StructInfo {
  InfoKind kind = InfoKind::kObject;
  template <typename T>
  const T* as() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }
};
using Info = const StructInfo*;

template <InfoKind K>
struct InfoOf : StructInfo {
  static constexpr InfoKind kKind = K;
  InfoOf() : StructInfo{K} {}
};

/// Any value; an opaque handle at run time.
struct ObjectInfo : InfoOf<InfoKind::kObject> {};
/// A scalar. `value` (may be null) is the value of an index scalar as an expression.
struct PrimInfo : InfoOf<InfoKind::kPrim> {
  DType dtype;
  Expr value;
};
/// A list of dims as a value. `ndim` is -1 if the rank is unknown; `dims` is absent if the values are. Unlike a
/// tensor's dims, these may be negative.
struct ShapeInfo : InfoOf<InfoKind::kShape> {
  int32_t ndim = -1;
  std::optional<std::vector<Expr>> dims;
};
/// A tensor. `dtype` is absent if unknown; `ndim` is -1 if the rank is unknown; `shape` is absent if the dims are.
struct TensorInfo : InfoOf<InfoKind::kTensor> {
  std::optional<DType> dtype;
  int32_t ndim = -1;
  std::optional<std::vector<Expr>> shape;
};
struct TupleInfo : InfoOf<InfoKind::kTuple> {
  std::vector<Info> fields;
};
/// A function as a value. `symbols` are the type's own: the arguments of each call determine them, or its result binds
/// them; all other symbols belong to the function that has the value.
struct CallableInfo : InfoOf<InfoKind::kCallable> {
  std::vector<Var> symbols;
  std::vector<Info> params;
  Info result = nullptr;
  bool pure = true;
};

Info object_info(Context& context);
Info prim_info(Context& context, DType dtype, Expr value = {});
Info shape_info(Context& context, std::vector<Expr> dims);
Info shape_info(Context& context, int32_t ndim = -1);
Info tensor_info(Context& context, std::vector<Expr> shape, std::optional<DType> dtype);
Info tensor_info(Context& context, int32_t ndim, std::optional<DType> dtype);
Info tuple_info(Context& context, std::vector<Info> fields);
Info callable_info(Context& context, std::vector<Var> symbols, std::vector<Info> params, Info result, bool pure = true);

/// Returns true if both are the same type; dims are compared by prove_equal.
bool same(Info a, Info b);
/// Returns true if every value of `specific` is certainly one of `general`.
bool subsumes(Info general, Info specific, const arith::Facts& facts = {});
/// Returns the common value of two numbers that may differ; null if it is not known.
using JoinNumber = std::function<Expr(Expr a, Expr b)>;
/// Returns the most specific info that every value of `a` and every value of `b` has. Without `number`, numbers that
/// cannot be proved equal become unknown.
Info join(Context& context, Info a, Info b, const JoinNumber& number = {});
/// Returns `info` with symbols replaced.
Info substitute(Context& context, Info info, const arith::Substitution& replacements);
/// Returns the symbols in `info`, in order of first occurrence, without those that are a callable's own.
std::vector<Var> symbols_of(Info info);
/// The largest rank of a tensor: NumPy's. Subscripts grow with it, and with them each proof about one.
inline constexpr int32_t kMostRank = 64;
/// Returns words for a tensor of this info if no tensor can be like it: "R.Tensor((4, 9223372036854775807)), which is
/// larger than any memory" (tir/buffer.h says how much that is). Empty if one can, or if this is no tensor's info.
std::string impossible_size(Info info);
/// Returns `R.Tensor((n, 4), dtype="float32")`.
std::string to_string(Info info);

}  // namespace relaxc::relax
