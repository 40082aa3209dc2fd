// kernel_call.cpp: calls of kernels.
//
// A prim func's symbols are found by matching the shapes of its parameters with those of the call. What does not match
// by construction (a prim func that the source program brought along) is guarded. A result whose shape only its kernel
// knows gets room for the kernel's own bound, and is seen through a view once the numbers are there.
#include "compiler/relax/call_symbols.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

class KernelCall {
 public:
  KernelCall(HostParts& host, Op& op)
      : host_(host), op_(op), shapes_(host.shapes), symbols_(host.shapes.symbols()), values_(host.values) {}

  Status run() {
    callee_ = host_.shared.module.find_prim_func(op_.callee);
    RELAXC_CHECK(callee_ != nullptr, "no prim func " + op_.callee);
    list_operands();
    RELAXC_DO(check_arity());
    RELAXC_DO(solve_symbols());
    pass_arguments();
    bind_numbers();
    bind_results();
    return Done{};
  }

 private:
  void list_operands();
  Status check_arity() const;
  Status solve_symbols();
  void pass_arguments();
  BufferRef pass_buffer(size_t i, BufferRef formal);
  void bind_numbers();
  void bind_results();
  /// Whether buffer `i` has a shape that is known before the call.
  bool known_before(size_t i) const {
    return i < tensors_.size() || (i < tensors_.size() + fresh_.size() && op_.binds.empty());
  }

  HostParts& host_;
  Op& op_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Values& values_;
  const tir::PrimFunc* callee_ = nullptr;
  std::vector<const Value*> tensors_;      ///< operands
  std::vector<Value*> fresh_;              ///< results with memory of their own
  std::vector<Expr> scalars_;              ///< operands
  std::vector<std::vector<Expr>> actual_;  ///< dims of operands and results
  arith::Substitution found_;              ///< the callee's scalars and symbols, as expressions of the caller
  std::vector<BufferRef> raw_;             ///< memory of the results …
  std::vector<BufferRef> bound_values_;    ///< … and of the numbers that the op binds
};

void KernelCall::list_operands() {
  fresh_ = fresh_results(op_);
  for (const Value* operand : placed_operands(op_)) {
    if (operand->info->as<TensorInfo>() != nullptr)
      tensors_.push_back(operand);
    else if (operand->info->as<PrimInfo>() != nullptr)
      scalars_.push_back(values_.scalar(*operand));
    else
      for (Expr dim : shapes_.dims(operand->info)) scalars_.push_back(dim);
  }
  for (const Value* tensor : tensors_) actual_.push_back(shapes_.dims(tensor->info));
  for (const Value* result : fresh_) actual_.push_back(shapes_.dims(result->info));
}

Status KernelCall::check_arity() const {
  size_t scratch = callee_->memory.scratch, buffers = 0;
  for (const tir::Param& param : callee_->params) buffers += param.buffer != nullptr;
  size_t given = tensors_.size() + fresh_.size(), bound = op_.binds.size();
  size_t scalars = callee_->params.size() - buffers;
  if (buffers != given + bound + scratch)
    return host_.diag().error(op_.location, Kind::wrong_arity,
                              "prim func '{}' takes {} buffers, found {} operands and results", op_.callee,
                              buffers - bound - scratch, given);
  if (scalars > scalars_.size())
    return host_.diag().error(op_.location, Kind::wrong_arity, "prim func '{}' takes {} scalars, found {}", op_.callee,
                              scalars, scalars_.size());
  return Done{};
}

Status KernelCall::solve_symbols() {
  size_t next_scalar = 0;
  std::vector<BufferRef> formals;
  for (const tir::Param& param : callee_->params) {
    if (param.buffer != nullptr)
      formals.push_back(param.buffer);
    else
      found_.emplace(param.var, arith::cast(param.var.dtype(), scalars_[next_scalar++]));
  }
  for (size_t i = 0; i < formals.size(); ++i)
    if (known_before(i)) solve_bare(formals[i]->shape, actual_[i], found_);
  for (size_t i = 0; i < formals.size(); ++i)
    for (size_t axis = 0; known_before(i) && axis < formals[i]->shape.size() && axis < actual_[i].size(); ++axis)
      unify(formals[i]->shape[axis], actual_[i][axis], callee_->symbols, found_);
  for (Var symbol : callee_->symbols) {
    if (found_.count(symbol) != 0) continue;
    if (!symbols_.in_scope(symbol))
      return host_.diag().error(op_.location, Kind::unbound_name,
                                "symbol '{}' of prim func '{}' is no dim of the call's tensors", symbol.name(),
                                op_.callee);
    found_.emplace(symbol, symbols_.known(symbol));
  }
  return Done{};
}

/// The arguments, in the order of the parameters: operands, results, bound values, scratch; scalars where they stand.
void KernelCall::pass_arguments() {
  tir::Invoke invoke;
  invoke.callee = op_.callee;
  invoke.trace_node = host_.origins.kernel(op_.callee);
  invoke.error_node = host_.origins.of_kernel(op_, *callee_);
  size_t next = 0;
  for (const tir::Param& param : callee_->params) {
    if (param.buffer == nullptr)
      invoke.args.push_back(found_.at(param.var));
    else
      invoke.args.push_back(pass_buffer(next++, param.buffer));
  }
  for (Var symbol : callee_->symbols) invoke.args.push_back(found_.at(symbol));
  host_.at.add(host_.at.build().invoke(std::move(invoke)));
}

/// The memory of buffer `i` of the call, of the parameter `formal`.
BufferRef KernelCall::pass_buffer(size_t i, BufferRef formal) {
  size_t first_result = tensors_.size(), first_bound = first_result + fresh_.size();
  std::vector<Expr> shape = symbols_.known(replace(formal->shape, found_));
  for (size_t axis = 0; known_before(i) && axis < shape.size() && axis < actual_[i].size(); ++axis)
    shapes_.require_equal(shape[axis], actual_[i][axis], axis, exact_dim(axis, formal->name));
  if (i < first_result) return values_.buffer(*tensors_[i]);
  BufferRef memory = known_before(i) ? host_.destinations.produce(*fresh_[i - first_result])
                                     : host_.memory.allocate(formal->name, formal->dtype, shape);
  if (i < first_bound)
    raw_.push_back(memory);
  else if (i < first_bound + op_.binds.size())
    bound_values_.push_back(memory);
  return memory;
}

/// Symbols get the numbers that the kernel has left, bounded by the room for the dims that they are.
void KernelCall::bind_numbers() {
  tir::Builder& build = host_.at.build();
  for (size_t k = 0; k < bound_values_.size(); ++k) {
    Expr bound;
    for (size_t r = 0; r < raw_.size(); ++r) {
      std::vector<Expr> shape = relax_dims(fresh_[r]->info);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] == op_.binds[k]) bound = raw_[r]->shape[axis];
    }
    shapes_.bind_from_data(op_.binds[k], build.load(bound_values_[k], {build.index(0)}), bound);
  }
}

void KernelCall::bind_results() {
  for (size_t r = 0; r < raw_.size(); ++r) {
    const Value& result = *fresh_[r];
    values_.slot(result).buffer = raw_[r];
    std::vector<Expr> shape = shapes_.dims(result.info);
    if (shape == raw_[r]->shape) continue;
    // A definition leaves its result compact, however much room there was.
    values_.slot(result).buffer = host_.memory.view_as(raw_[r], result.name, result.dtype(), shape);
  }
}

}  // namespace

Status call_tir(HostParts& host, Op& op) {
  return KernelCall(host, op).run();
}

}  // namespace relaxc::lower
