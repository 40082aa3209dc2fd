// op_def.h: the definition of an operator: a row of the op table.
//
// An operator has a deduction rule and exactly one meaning: naive TIR (`define`) or a body of other operators
// (`expand`). The interpreter, constant folding, fusion and schedules all use the meaning; no other part of the
// compiler knows an operator by name, except patterns that recognize one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/relax/module.h"
#include "compiler/support/findings.h"
#include "compiler/support/result.h"
#include "compiler/tir/builder.h"

namespace relaxc::relax {

class GraphBuilder;

struct OperandDef {
  enum Arity : uint8_t { kRequired, kOptional, kVariadic };
  std::string_view name;
  Arity arity = kRequired;
};

struct AttrDef {
  std::string_view name;
  AttrType type;
  bool required = false;
  /// The default in the syntax of the text IR: "1", "0.5", "true", "[1, 1]", "float32"; "" is the type's empty value.
  std::string_view fallback = "";
};

/// The input of a deduction rule. `op` has its operands (typed) and attributes (complete).
class InferContext {
 public:
  InferContext(Context& context, Op& op, const arith::Facts& facts, Diagnostics& diag)
      : context(context), op(op), facts(facts), diag(diag) {}

  Context& context;
  Op& op;
  const arith::Facts& facts;
  Diagnostics& diag;

  size_t operands() const { return op.operands().size(); }
  bool has(size_t index) const { return op.operand(index) != nullptr; }
  /// Returns operand `index` as a tensor of known rank, shape and dtype; fails with a message that names the operand.
  Result<const TensorInfo*> tensor(size_t index);
  /// Returns the dims in a Shape operand.
  Result<std::vector<Expr>> shape_value(size_t index);
  /// Returns `axis` in [-rank, rank) as an index in [0, rank); with `inclusive`, rank itself is valid as well.
  Result<int64_t> axis(int64_t axis, int64_t rank, bool inclusive = false);
  /// Requires `condition`: does nothing if it is proved, fails with `text` if it is refuted, and else adds a
  /// requirement to the op with `code`, whose failure has the text of `found`.
  Status require(Expr condition, int32_t code, Expr expected, Expr actual, const Found& found, const std::string& text);
  /// Returns the `index`-th symbol that this op binds; the first deduction makes it, later ones return the same.
  Var bound_symbol(size_t index, std::string name);

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    return diag.error(op.location, kind, text, std::forward<Args>(args)...);
  }
};

/// The struct infos of all results.
using InferResult = Result<std::vector<Info>>;
using Infer = InferResult (*)(InferContext&);

/// The input of a definition: a buffer for each tensor operand and result, with the shapes of their infos.
class DefineContext {
 public:
  DefineContext(tir::Builder& builder, const Op& op, std::vector<tir::BufferRef> inputs,
                std::vector<tir::BufferRef> outputs)
      : builder(builder), op(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  tir::Builder& builder;
  const Op& op;

  Context& context() const { return builder.context(); }
  const Attrs& attrs() const { return op.attrs; }
  bool has(size_t index) const { return op.operand(index) != nullptr; }
  tir::BufferRef input(size_t index) const { return inputs_.at(index); }  ///< null for shape, prim and absent operands
  tir::BufferRef output(size_t index = 0) const { return outputs_.at(index); }
  /// Returns the dims in a Shape operand, or a Prim operand's value as the only element.
  const std::vector<Expr>& shape_value(size_t index) const;
  /// For a data-dependent result: the one-element int64 buffer to which the definition stores the value of the op's
  /// `index`-th bound symbol. The result buffers have their upper bound as shape (the symbol replaced by its bound);
  /// the definition writes them compactly by their actual extents, through a View of that shape.
  tir::BufferRef bound_value(size_t index) const { return bound_values_.at(index); }
  /// Returns a guard that fails at run time with `code`, such as RLX_INDEX_OUT_OF_RANGE, unless `condition` is true.
  tir::Stmt require(Expr condition, int32_t code, Expr expected = {}, Expr actual = {});

  std::vector<tir::BufferRef> bound_values_;

 private:
  std::vector<tir::BufferRef> inputs_, outputs_;
};
/// Returns the body. Temporaries are Allocs inside of it.
using Define = tir::Stmt (*)(DefineContext&);

/// Returns the results, computed by other operators; the builder inserts at the op.
using Expand = Result<std::vector<Value*>> (*)(GraphBuilder&, const Op&);

/// Returns, for each operand, the derivative of a scalar by that operand, where `by_results` has its derivatives by the
/// results (null for a result on which the scalar does not depend). Null for an operand by which nothing changes: an
/// index, a mask, a shape. The builder appends, and derivatives that no result needs are dead code.
using Gradient = Result<std::vector<Value*>> (*)(GraphBuilder&, const Op&, const std::vector<Value*>& by_results);

/// The largest size, stride, dilation or padding of a window: products of two and their sums fit int64.
inline constexpr int64_t kMostOfWindow = (int64_t{1} << 31) - 1;

/// For a data-dependent operator: returns an upper bound of the op's `index`-th bound symbol, in symbols known before
/// it; null if there is none.
using UpperBound = Expr (*)(const Op&, size_t index);

/// How lowering executes an operator.
enum class Role : uint8_t {
  kKernel,  ///< by a prim func made of its definition
  kView,    ///< not at all: the result is operand 0's bytes in the same order under another shape
  kHost,    ///< by scalar code of the entry, which converts shapes and tensors into each other
  kNode,    ///< by reads and writes of the nodes of algebraic data, which exist during a run only
};

struct OpDef {
  OpName name;
  std::span<const OperandDef> operands = {};
  std::span<const AttrDef> attrs = {};
  Infer infer = nullptr;
  Define define = nullptr;  ///< either this or expand is set
  Expand expand = nullptr;
  Gradient gradient = nullptr;       ///< null: there is none, or that of the expansion is meant
  UpperBound upper_bound = nullptr;  ///< set if and only if the op binds symbols
  bool pure = true;
  Role role = Role::kKernel;
  bool rows_first = false;    ///< dims 1 and 2 of data and result are those of [N, H, C, W], rows before channels
  std::string_view doc = {};  ///< a sentence for docs/operators.md
};

/// All operators. ops::op_table() makes it once, and contexts pass it; there is no registration and no global.
class OpTable {
 public:
  explicit OpTable(std::vector<std::span<const OpDef>> families);
  /// Returns null if the table, which a test may have made, lacks the operator.
  const OpDef* of(OpName name) const { return by_index_[name.index()]; }
  /// Finds an operator by its name at run time; null if the table has none of this name.
  const OpDef* find(std::string_view name) const;
  /// Returns all operators, sorted by name.
  const std::vector<const OpDef*>& all() const { return by_name_; }

 private:
  std::vector<const OpDef*> by_name_;
  std::vector<const OpDef*> by_index_;  ///< the index is OpName::index()
};

/// Checks operands and attributes against the definition and adds defaults. Reports errors at the op.
Status complete_op(Op& op, Diagnostics& diag);
/// Runs the op's deduction and sets its results' infos; the first run makes the results.
Status infer_op(Function& function, Op& op, const arith::Facts& facts, Diagnostics& diag);
/// Returns the prim func of an operator with a `define`: its parameters are the tensor operands, then the results, then
/// the bound values. Symbols that it uses are in PrimFunc::symbols.
tir::PrimFunc define_op(Context& context, const Op& op, std::string name);

}  // namespace relaxc::relax
