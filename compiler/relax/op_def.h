// op_def.h: what an operator is: one row of the op table.
//
// An operator has a deduction rule and exactly one meaning: naive TIR (`define`) or a body of other operators
// (`expand`). The interpreter, constant folding, fusion and schedules all work from the meaning; nothing else in the
// compiler knows an operator by name, except patterns that recognise one.
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
  /// The default in the text IR's spelling: "1", "0.5", "true", "[1, 1]", "float32"; "" is the type's empty value.
  std::string_view fallback = "";
};

/// What a deduction rule sees. `op` has its operands (typed) and attributes (complete).
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
  /// Operand `index` as a tensor of known rank, shape and dtype; fails with a message that names the operand.
  Result<const TensorInfo*> tensor(size_t index);
  /// The dims that a Shape operand carries.
  Result<std::vector<Expr>> shape_value(size_t index);
  /// `axis` in -rank..rank-1 as 0..rank-1 (rank + 1 positions if `inclusive`).
  Result<int64_t> axis(int64_t axis, int64_t rank, bool inclusive = false);
  /// `condition` must hold: nothing if that is proved, an error that says `text` if it is refuted, else a requirement
  /// of the op with `code`, whose failure reads as `found` says.
  Status require(Expr condition, int32_t code, Expr expected, Expr actual, const Found& found, const std::string& text);
  /// The symbol that this op binds as its `index`-th; made at the first deduction, kept by later ones.
  Var bound_symbol(size_t index, std::string name);

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    return diag.error(op.location, kind, text, std::forward<Args>(args)...);
  }
};

/// The struct infos of all results.
using InferResult = Result<std::vector<Info>>;
using Infer = InferResult (*)(InferContext&);

/// What a definition sees: a buffer for each tensor operand and result, with the shapes of their infos.
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
  /// The dims that a Shape operand carries, or a Prim operand's value as one element.
  const std::vector<Expr>& shape_value(size_t index) const;
  /// For a data-dependent result: the one-element int64 buffer in which the definition writes the value of the op's
  /// `index`-th bound symbol. The result buffers have their upper bound as shape (the symbol replaced by its bound);
  /// the definition writes them compactly by their actual extents, through a View of that shape.
  tir::BufferRef bound_value(size_t index) const { return bound_values_.at(index); }
  /// Fails at run time with RLX_INDEX_OUT_OF_RANGE-like `code` unless `condition` holds.
  tir::Stmt require(Expr condition, int32_t code, Expr expected = {}, Expr actual = {});

  std::vector<tir::BufferRef> bound_values_;

 private:
  std::vector<tir::BufferRef> inputs_, outputs_;
};
/// Gives the body. Temporaries are Allocs inside it.
using Define = tir::Stmt (*)(DefineContext&);

/// Gives the results as other operators, with the builder's insertion point at the op.
using Expand = Result<std::vector<Value*>> (*)(GraphBuilder&, const Op&);

/// For a data-dependent operator: the largest value of the op's `index`-th bound symbol, over symbols known before it;
/// null if there is none.
using UpperBound = Expr (*)(const Op&, size_t index);

/// Where an operator's work is done once functions are lowered.
enum class Role : uint8_t {
  kKernel,  ///< a prim func made of its definition
  kView,    ///< nowhere: the result is operand 0's bytes in the same order under another shape
  kHost,    ///< scalar code of the entry: shapes made of tensors and tensors made of shapes
};

struct OpDef {
  OpName name;
  std::span<const OperandDef> operands = {};
  std::span<const AttrDef> attrs = {};
  Infer infer = nullptr;
  Define define = nullptr;  ///< exactly one of define and expand
  Expand expand = nullptr;
  UpperBound upper_bound = nullptr;  ///< set if and only if the op binds symbols
  bool pure = true;
  Role role = Role::kKernel;
  std::string_view doc = {};  ///< one sentence for docs/operators.md
};

/// The operators. Made once by ops::op_table() and passed through contexts; no registration, no global.
class OpTable {
 public:
  explicit OpTable(std::vector<std::span<const OpDef>> families);
  /// Null if the table, which may be a test's own, lacks the operator.
  const OpDef* of(OpName name) const { return by_index_[name.index()]; }
  /// By text that is known at run time only; null if no operator of the table has this name.
  const OpDef* find(std::string_view name) const;
  /// All operators in name order.
  const std::vector<const OpDef*>& all() const { return by_name_; }

 private:
  std::vector<const OpDef*> by_name_;
  std::vector<const OpDef*> by_index_;  ///< at OpName::index()
};

/// Checks operands and attributes against the definition and fills in defaults. Reports at the op.
Status complete_op(Op& op, Diagnostics& diag);
/// Runs the op's deduction and sets its results' infos (making the results at the first run).
Status infer_op(Function& function, Op& op, const arith::Facts& facts, Diagnostics& diag);
/// The prim func of an operator with a `define`: parameters are the tensor operands, then the results, then the bound
/// values. Symbols used are its PrimFunc::symbols.
tir::PrimFunc define_op(Context& context, const Op& op, std::string name);

}  // namespace relaxc::relax
