// graph.h: the SSA graph of the Relax level: values, ops, blocks, regions, functions.
//
// Everything is owned by the Function's arena and linked by pointers; every value knows its uses, because fusion, dead
// code, folding and planning all ask "who uses this?". A symbol (arith::Var) that a value brings into being is listed
// in `Op::binds`, so it is always plain where a symbol comes from: a function's parameters, a match_cast, a
// data-dependent result, a loop's carried value.
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

/// One operand slot of one op.
struct Use {
  Op* user = nullptr;
  uint32_t index = 0;
};

/// An SSA value: a result of an op, or an argument of a region (a function's parameter, a loop's carried value).
class Value {
 public:
  uint32_t id = 0;   ///< stable order in the function
  std::string name;  ///< for people; need not be unique
  Info info = nullptr;
  Op* op = nullptr;          ///< the op it is a result of; null for region arguments
  Region* region = nullptr;  ///< the region it is an argument of; null for op results
  uint32_t index = 0;        ///< which result or argument

  const std::vector<Use>& uses() const { return uses_; }
  bool unused() const { return uses_.empty(); }
  void replace_all_uses_with(Value* other);

  /// The tensor info; the value must be a tensor with known shape and dtype (what passes after `infer` see).
  const TensorInfo& tensor() const;
  const std::vector<Expr>& shape() const { return *tensor().shape; }
  DType dtype() const { return *tensor().dtype; }

 private:
  friend class Op;
  std::vector<Use> uses_;
};

/// Every kind of op, once.
///   kOperator     an operator of the op table (`def`)
///   kConstant     model data (`constant`); no operands
///   kShape        a shape value; its dims are in the result's ShapeInfo
///   kPrim         a scalar value; in the result's PrimInfo
///   kTuple, kTupleGet (`attrs.index`)
///   kMatchCast    operand 0 seen as the result's info; a guard; binds the symbols that occur there first
///   kCallTir      prim func `callee` on tensor operands, destination passing; results' infos are the outputs; operands
///   that are prims or
///                 shapes are passed as scalars
///   kCallFunction Relax function `callee`
///   kMakeClosure  Relax function `callee` as a value; operands are captured: the last arguments of every call
///   kCallClosure  operand 0: a callable; the rest: arguments
///   kCallExternal external function `callee` in destination passing style; attrs.returned: it makes its results itself
///   kShapeFunction external shape function `callee`: fills the dims of its Shape result
///   kCallInplace  prim func or (attrs.external) external function `callee`; result i is written where operand
///                 attrs.inplace_indices[i] was, or for -1 to memory of its own that follows the operands. The operand
///                 keeps its value: it is copied if it is read again
///   kAssert       operand 0: scalar bool that must hold; then what attrs.format shows. An effect, without results
///   kPrint        operands are written to the standard output by attrs.format. An effect, without results
///   kIf           operand 0: scalar bool; two regions without arguments; results are the joined region results
///   kLoop         operands: trip count (int64 scalar, may be null), start condition (bool scalar, may be null),
///   carried values …;
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

/// A run of ops. Dataflow blocks are pure (verified); others keep their order.
class Block {
 public:
  bool dataflow = false;
  Region* parent = nullptr;
  std::vector<Op*> ops;
};

/// A body: arguments, blocks, results. Regions of If and Loop may use values of the regions around them.
class Region {
 public:
  Op* parent_op = nullptr;  ///< null: the body of `function`
  Function* function = nullptr;
  std::vector<Value*> arguments;
  std::vector<Block*> blocks;
  Op* yield = nullptr;  ///< a pseudo-op whose operands are the results; it is in no block

  const std::vector<Value*>& results() const;
};

/// What deduction assumed and could not prove: two symbols that broadcast, element counts that a reshape keeps. It must
/// hold when the op runs; lowering makes a guard of the entry (or of the binding point) of it.
struct Requirement {
  Expr condition;         ///< bool, over index expressions
  int32_t code = 0;       ///< an rlx_status number
  Expr expected, actual;  ///< for the error record; may be null
  std::string text;       ///< for its reader: where, and what is found (support/findings.h)
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
  std::vector<Var> binds;                 ///< symbols that this op gives their value at run time
  std::vector<Requirement> requirements;  ///< set by deduction; an op that replaces this one deduces its own
  std::vector<Region*> regions;
  Block* block = nullptr;
  Location location = nullptr;
  std::vector<Location> origins;     ///< source nodes merged into this op; empty: `location` alone
  std::vector<std::string> guarded;  ///< of a fused kernel: the ops in it that may fail, as `origin_text` gives them

  /// Operands; an absent optional operand is null.
  const std::vector<Value*>& operands() const { return operands_; }
  Value* operand(size_t index) const { return index < operands_.size() ? operands_[index] : nullptr; }
  void set_operand(size_t index, Value* value);
  void add_operand(Value* value);
  void drop_operands();
  Value* result() const { return results.at(0); }
  bool is(OpName name) const;  ///< a call of this operator

 private:
  std::vector<Value*> operands_;
};

/// A function: a region whose arguments are the parameters.
class Function {
 public:
  Function(Context& context, std::string name);
  Function(const Function&) = delete;

  std::string name;
  bool is_private = false;
  std::vector<std::string> output_names;  ///< of results in order; those behind them have the names of their values
  std::vector<State> states;              ///< the buffers that a run reads and then writes
  tir::QuantizedTensors quantized;        ///< the inputs and outputs that are stored as integers
  /// How many of the parameters are inputs; those behind them are weights, which a file beside the program has. None:
  /// all that no file has.
  std::optional<int64_t> num_input;
  std::optional<tir::Rounding> rounding;
  std::map<std::string, AttrValue> attrs;  ///< of other compilers: kept as they are
  std::vector<Var> symbols;  ///< bound by the parameters, in order of first occurrence; first those that occur bare
  arith::Facts facts;        ///< declared bounds of symbols
  Location location = nullptr;

  Region& body() { return *body_; }
  const Region& body() const { return *body_; }
  Context& context() const { return context_; }

  Region* make_region(Op* parent);
  Block* make_block(Region* region, bool dataflow);
  Value* make_argument(Region* region, std::string name, Info info);
  /// A new op in no block yet.
  Op* make_op(OpKind kind, Location location);
  Value* make_result(Op* op, std::string name, Info info);

 private:
  Context& context_;
  Arena arena_;
  Region* body_ = nullptr;
  uint32_t next_id_ = 0;
};

/// All ops of a region in order; with those of nested regions (after their parent op) if `nested`.
std::vector<Op*> ops_of(const Region& region, bool nested = false);
/// Takes ops for which `dead` holds out of their blocks and drops their operands. Their results must be unused.
void erase_ops(Region& region, const std::function<bool(Op*)>& dead, bool nested = true);

}  // namespace relaxc::relax
