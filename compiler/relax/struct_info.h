// struct_info.h: what is known of a value when compiling: the type system of the Relax level.
//
// Immutable, made in the Context's arena, shared freely. Shapes are index expressions over symbols (arith::Var); a
// symbol is an int64 that some value binds when the program runs.
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

/// Any value at all; an opaque handle at run time.
struct ObjectInfo : InfoOf<InfoKind::kObject> {};
/// A scalar. `value` (may be null) is its value as an expression, for index scalars.
struct PrimInfo : InfoOf<InfoKind::kPrim> {
  DType dtype;
  Expr value;
};
/// A list of dims as a value. `ndim` -1: unknown; `dims` absent: unknown values. Unlike a tensor's dims these may be
/// negative.
struct ShapeInfo : InfoOf<InfoKind::kShape> {
  int32_t ndim = -1;
  std::optional<std::vector<Expr>> dims;
};
/// A tensor. dtype absent: unknown; `ndim` -1: unknown rank; `shape` absent: rank known at most.
struct TensorInfo : InfoOf<InfoKind::kTensor> {
  std::optional<DType> dtype;
  int32_t ndim = -1;
  std::optional<std::vector<Expr>> shape;
};
struct TupleInfo : InfoOf<InfoKind::kTuple> {
  std::vector<Info> fields;
};
/// A function as a value. `symbols` are its own: each call solves them by its arguments, or brings them into being with
/// its result; the others are those of the function that it is in.
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

/// True if the two say the same (dims compared by prove_equal).
bool same(Info a, Info b);
/// True if every value of `specific` is certainly one of `general`.
bool subsumes(Info general, Info specific, const arith::Facts& facts = {});
/// The common value of two numbers that may differ; null: it is not known.
using JoinNumber = std::function<Expr(Expr a, Expr b)>;
/// An info that holds of every value of `a` and of every value of `b`, as specific as infos can say it. Without
/// `number`, numbers that cannot be proved equal are not known.
Info join(Context& context, Info a, Info b, const JoinNumber& number = {});
/// `info` with symbols replaced.
Info substitute(Context& context, Info info, const arith::Substitution& replacements);
/// The symbols that occur in `info`, in order of first occurrence; not those that a callable has to itself.
std::vector<Var> symbols_of(Info info);
/// `R.Tensor((n, 4), dtype="float32")`.
std::string to_string(Info info);

}  // namespace relaxc::relax
