// builder.h: adds ops to a function; used by frontends, expansions and passes.
//
// The builder appends to a block (or inserts before an op), adds the defaults of attributes and calls the operator's
// deduction rule for the struct infos of the results, so that every op in the graph is typed from the start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc::relax {

class GraphBuilder {
 public:
  /// Appends to `block`.
  GraphBuilder(Module& module, const OpTable& table, Block* block, Diagnostics& diag);
  /// Inserts before `op`.
  GraphBuilder(Module& module, const OpTable& table, Op* before, Diagnostics& diag);

  Location location = nullptr;  ///< of every op that is made from now on

  /// Adds a call of an operator of the table with one result. Fails (reported at `location`) if attributes or operands
  /// are invalid or deduction fails.
  Result<Value*> call(OpName op, std::vector<Value*> operands, Attrs attrs = {}, std::string name = {});
  /// The same for an operator with several results.
  Result<std::vector<Value*>> call_many(OpName op, std::vector<Value*> operands, Attrs attrs = {});

  Value* constant(ConstantRef data, std::string name = {});
  /// Adds a rank-0 constant of a numeric dtype.
  Value* scalar(DType dtype, double value);
  /// Adds a 1-D constant.
  Value* int64s(const std::vector<int64_t>& values);
  Value* shape(std::vector<Expr> dims);
  Value* prim(Expr value);
  Value* tuple(std::vector<Value*> fields);
  Result<Value*> tuple_get(Value* tuple, int64_t index);
  Result<Value*> match_cast(Value* value, Info info, std::vector<Var> binds);
  /// Adds a call of the prim func `callee`; its results have the given infos.
  Op* call_tir(std::string callee, std::vector<Value*> operands, std::vector<Info> results);
  /// Adds an op of a kind with regions or a callee; the caller adds regions and results.
  Op* append(OpKind kind, std::vector<Value*> operands);

  Module& module() const { return module_; }
  Context& context() const { return module_.context(); }
  const OpTable& table() const { return table_; }
  Function& function() const { return *block_->parent->function; }
  Diagnostics& diag() const { return diag_; }
  Block* block() const { return block_; }

 private:
  void insert(Op* op);
  Module& module_;
  const OpTable& table_;
  Block* block_;
  Op* before_ = nullptr;
  Diagnostics& diag_;
};

}  // namespace relaxc::relax
