// graph.h: the SSA graph of the Relax level: values, ops, blocks, regions, functions.
//
// A Function's arena owns everything, linked by pointers; every value knows its uses, because fusion, dead code
// elimination, folding and planning all ask for them. The symbols (arith::Var) that an op gives a value are listed in
// `Op::binds`, so the origin of a symbol is explicit: a function's parameters, a match_cast, a data-dependent result, a
// loop's carried value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/relax/attrs.h"
#include "compiler/relax/constant.h"
#include "compiler/relax/op_name.h"
#include "compiler/relax/state.h"
#include "compiler/relax/struct_info.h"
#include "compiler/support/source.h"
#include "compiler/tir/prim_func.h"
#include "compiler/tir/quantization.h"

namespace relaxc::relax {

struct OpDef;
class Op;
class Region;
class Function;

/// One operand of one op.
struct Use {
  Op* user = nullptr;
  uint32_t index = 0;
};

/// An SSA value: a result of an op, or an argument of a region (a function's parameter, a loop's carried value).
class Value {
 public:
  uint32_t id = 0;   ///< stable order within the function
  std::string name;  ///< for readers; need not be unique
  Info info = nullptr;
  Op* op = nullptr;          ///< the op it is a result of; null for region arguments
  Region* region = nullptr;  ///< the region it is an argument of; null for op results
  uint32_t index = 0;        ///< index among the results or arguments

  const std::vector<Use>& uses() const { return uses_; }
  bool has_one_use() const { return uses_.size() == 1; }
  bool unused() const { return uses_.empty(); }
  void replace_all_uses_with(Value* other);

  /// Returns the tensor info; the value must be a tensor of known shape and dtype, as all are after `infer`.
  const TensorInfo& tensor() const;
  const std::vector<Expr>& shape() const { return *tensor().shape; }
  DType dtype() const { return *tensor().dtype; }

 private:
  friend class Op;
  std::vector<Use> uses_;
};

/// The kinds of ops.
///   kOperator     an operator of the op table (`def`)
///   kConstant     model data (`constant`); no operands
///   kShape        a shape value; its dims are in the result's ShapeInfo
///   kPrim         a scalar value; in the result's PrimInfo
///   kTuple, kTupleGet (`attrs.index`)
///   kMatchCast    operand 0 cast to the result's info, with a guard; binds the symbols that occur first in that info
///   kCallTir      calls prim func `callee` on tensor operands in destination passing style; the results' infos are the
///                 outputs' infos. Prims and shapes among the operands
///                 are passed as scalars
///   kCallFunction calls Relax function `callee`
///   kMakeClosure  Relax function `callee` as a value; operands are captured: the last arguments of every call
///   kCallClosure  calls operand 0, a callable, with the other operands
///   kCallExternal calls external function `callee` in destination passing style; attrs.returned: it makes the results
///   kShapeFunction calls external shape function `callee`, which fills the dims of the Shape result
///   kCallInplace  calls prim func or (attrs.external) external function `callee`; result i is written to the memory of
///                 operand attrs.inplace_indices[i], or for -1 to memory of its own, passed after the operands. The
///                 operand is copied first if its value is read again
///   kAssert       operand 0: scalar bool that must be true; the others are for attrs.format. An effect, no results
///   kPrint        writes its operands to the standard output by attrs.format. An effect, no results
///   kIf           operand 0: scalar bool; two regions without arguments; results join those of the regions
///   kLoop         operands: trip count (int64 scalar, may be null), start condition (bool scalar, may be null),
///                 carried …;
///                 one region with arguments: iteration (Prim with a symbol), carried …; region results: condition (may
///                 be null), carried …, scan outputs …; op results: carried …, scan outputs … (stacked along a new
///                 leading dim)
// clang-format off
#define RELAXC_OP_KINDS(X)                                                                                     \
  X(Operator) X(Constant) X(Shape) X(Prim) X(Tuple) X(TupleGet) X(MatchCast) X(CallTir) X(CallFunction)        \
  X(MakeClosure) X(CallClosure) X(CallExternal) X(ShapeFunction) X(CallInplace) X(Assert) X(Print) X(If) X(Loop)
// clang-format on

enum class OpKind : uint8_t {
#define X(name) k##name,
  RELAXC_OP_KINDS(X)
#undef X
};

/// A sequence of ops. A dataflow block is pure (verified); the ops of other blocks keep their order.
class Block {
 public:
  bool dataflow = false;
  Region* parent = nullptr;
  std::vector<Op*> ops;
};

/// A body: arguments, blocks, results. Regions of If and Loop may use values of the enclosing regions.
class Region {
 public:
  Op* parent_op = nullptr;  ///< null for the body of `function`
  Function* function = nullptr;
  std::vector<Value*> arguments;
  std::vector<Block*> blocks;
  Op* yield = nullptr;  ///< a pseudo-op in no block whose operands are the results

  const std::vector<Value*>& results() const;
};

/// A condition that deduction assumed and could not prove: two symbols that broadcast, the element count of a reshape.
/// It must hold when the op runs; lowering makes a guard of it, in the entry or where its symbols are bound.
struct Requirement {
  Expr condition;         ///< bool, over index expressions
  int32_t code = 0;       ///< an rlx_status number
  Expr expected, actual;  ///< for the error record; may be null
  std::string text;       ///< text of the failure: where, and what is found (support/findings.h)
};

class Op {
 public:
  uint32_t id = 0;
  OpKind kind = OpKind::kOperator;
  bool is_yield = false;
  const OpDef* def = nullptr;
  std::string callee;
  Attrs attrs;
  ConstantRef constant;
  std::vector<Value*> results;
  std::vector<Var> binds;                 ///< symbols to which this op gives a value at run time
  std::vector<Requirement> requirements;  ///< set by deduction; not copied to an op that replaces this one
  std::vector<Region*> regions;
  Block* block = nullptr;
  Location location = nullptr;
  std::vector<Location> origins;     ///< source nodes that this op computes; empty: only `location`
  std::vector<std::string> guarded;  ///< in a call of a fused kernel, `origin_text` of each op that may fail

  /// Returns the operands; an absent optional operand is null.
  const std::vector<Value*>& operands() const { return operands_; }
  Value* operand(size_t index) const { return index < operands_.size() ? operands_[index] : nullptr; }
  void set_operand(size_t index, Value* value);
  void add_operand(Value* value);
  void drop_operands();
  Value* result() const { return results.at(0); }
  bool is(OpName name) const;  ///< whether it is a call of this operator

 private:
  std::vector<Value*> operands_;
};

/// That a function is to be differentiated (transform/graph/gradient.cpp).
struct GradientRequest {
  std::vector<std::string> parameters;  ///< by which; empty: by all of a float dtype
  int64_t target = 0;                   ///< which of its results
};

/// A function: a region whose arguments are the parameters.
class Function {
 public:
  Function(Context& context, std::string name);
  Function(const Function&) = delete;

  std::string name;
  bool is_private = false;
  std::vector<std::string> output_names;  ///< names of the first results; the others have the names of their values
  std::vector<State> states;              ///< buffers that a run reads as an input and writes as an output
  tir::QuantizedTensors quantized;        ///< the inputs and outputs that are stored as integers
  /// Number of parameters that are inputs; the following ones are weights from a file beside the program. nullopt: all
  /// that are in no file are inputs.
  std::optional<int64_t> num_input;
  std::optional<tir::Rounding> rounding;
  std::optional<GradientRequest> gradient;
  std::map<std::string, AttrValue> attrs;  ///< of other compilers, which are kept
  std::vector<Var> symbols;  ///< bound by the parameters, in order of first occurrence; first those that are bare dims
  arith::Facts facts;        ///< declared bounds of symbols
  Location location = nullptr;

  Region& body() { return *body_; }
  const Region& body() const { return *body_; }
  Context& context() const { return context_; }

  Region* make_region(Op* parent);
  Block* make_block(Region* region, bool dataflow);
  Value* make_argument(Region* region, std::string name, Info info);
  /// Makes an op that is in no block yet.
  Op* make_op(OpKind kind, Location location);
  Value* make_result(Op* op, std::string name, Info info);

 private:
  Context& context_;
  Arena arena_;
  Region* body_ = nullptr;
  uint32_t next_id_ = 0;
};

/// Returns all ops of a region in order; if `nested`, also those of nested regions, after their parent op.
std::vector<Op*> ops_of(const Region& region, bool nested = false);
/// Removes the ops for which `dead` is true and drops their operands. Their results must be unused.
void erase_ops(Region& region, const std::function<bool(Op*)>& dead, bool nested = true);

}  // namespace relaxc::relax
