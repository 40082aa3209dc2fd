// kernel_call.cpp: calls of kernels.
//
// A prim func's symbols are found by matching the shapes of its parameters with those of the call. Dims that do not
// match by construction (of a prim func in the source program) are guarded. A result whose shape its kernel computes
// gets room for the kernel's own bound, and is used through a view once the dims are known.
//
// A tensor that a kernel computes and never stores, such as one that is summed at once, has no memory that bounds its
// size, nor has an empty one with large dims. If data decides such a size, its sender would decide how long the call
// runs, up to centuries, so the iterations of such loops are guarded by kMostUnstored.
#include <algorithm>
#include <utility>

#include "compiler/arith/visit.h"
#include "compiler/relax/call_symbols.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// The most elements that a kernel may compute without storing them if data decides their number: as many bytes as
/// large machines have, and hours of one core. docs/abi.md states the limit.
constexpr int64_t kMostUnstored = int64_t{1} << 40;

/// Returns the extents of the loops around each innermost statement; equal lists once.
std::vector<std::vector<Expr>> nests_of(tir::Stmt root) {
  std::vector<std::vector<Expr>> out;
  std::vector<std::pair<tir::Stmt, std::vector<Expr>>> open{{root, {}}};
  while (!open.empty()) {
    auto [s, extents] = std::move(open.back());
    open.pop_back();
    if (!s) continue;
    if (const auto* loop = s.as<tir::For>()) extents.push_back(loop->extent);
    std::vector<tir::Stmt> inner = tir::children(s);
    if (inner.empty() && std::find(out.begin(), out.end(), extents) == out.end()) out.push_back(extents);
    for (auto next = inner.rbegin(); next != inner.rend(); ++next) open.emplace_back(*next, extents);
  }
  return out;
}

bool reads_memory(Expr e) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found |= node.as<arith::Load>() != nullptr; });
  return found;
}

class KernelCall {
 public:
  KernelCall(HostLowering& host, Op& op)
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
  void require_iterations(std::vector<Expr> extents);
  bool are_unlimited(const std::vector<Expr>& extents) const;
  bool is_stored(Expr extent) const;
  void pass_arguments();
  BufferRef pass_buffer(size_t i, BufferRef formal);
  void bind_numbers();
  void bind_results();
  /// Returns whether the shape of buffer `i` is known before the call.
  bool known_before(size_t i) const { return i < num_known_; }

  HostLowering& host_;
  std::vector<Expr> required_;  ///< conditions on iterations that are guarded before this call
  Op& op_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Values& values_;
  const tir::PrimFunc* callee_ = nullptr;
  std::vector<const Value*> tensors_;      ///< operands that are tensors
  std::vector<Value*> fresh_;              ///< results with memory of their own
  size_t num_known_ = 0;                   ///< how many of both have dims that are known before the call
  std::vector<Expr> scalars_;              ///< operands that are scalars, and dims of shapes
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
  num_known_ = tensors_known_before(op_).size();
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
  for (const tir::Param& param : callee_->params)
    if (param.buffer == nullptr) found_.emplace(param.var, arith::cast(param.var.dtype(), scalars_[next_scalar++]));
  relax::solve_symbols(*callee_, {actual_.begin(), actual_.begin() + static_cast<std::ptrdiff_t>(num_known_)}, found_);
  for (Var symbol : callee_->symbols) {
    if (found_.count(symbol) != 0) continue;
    if (!symbols_.in_scope(symbol))
      return host_.diag().error(op_.location, Kind::unbound_name,
                                "symbol '{}' of prim func '{}' is not a dim of the call's tensors", symbol.name(),
                                op_.callee);
    found_.emplace(symbol, symbols_.known(symbol));
  }
  return Done{};
}

/// Guards the iterations of a loop nest that memory does not bound. Extents of 0 count as 1, since the loops around an
/// empty loop run all the same.
void KernelCall::require_iterations(std::vector<Expr> extents) {
  for (Expr& extent : extents) extent = symbols_.known(arith::substitute(extent, found_));
  // Extents that depend on a variable of an outer loop, or on numbers that the kernel itself has counted, are left out:
  // these loops visit no more than the whole.
  std::erase_if(extents, [&](Expr extent) {
    std::vector<Var> vars = arith::free_vars(extent);
    return reads_memory(extent) ||
           std::any_of(vars.begin(), vars.end(), [&](Var var) { return !symbols_.in_scope(var); });
  });
  if (!are_unlimited(extents)) return;
  for (Expr& extent : extents) extent = arith::max(extent, host_.at.build().index(1));
  tir::Guard record;
  record.code = kDataBound;
  record.expected = host_.at.build().index(kMostUnstored), record.actual = shapes_.elements_of(extents);
  record.condition = arith::le(record.actual, record.expected);
  if (std::find(required_.begin(), required_.end(), record.condition) != required_.end()) return;
  // This is not assumed as a fact: nothing else asks for it, and each fact makes later proofs longer.
  required_.push_back(record.condition);
  shapes_.add_guard(std::move(record), {Finding::kAtMost, "the number of elements computed"});
}

/// Returns whether data decides an extent by a number that is in no dim of the call's tensors, or while another extent
/// may be 0. The latter takes proofs, and each nest of each call asks for it: so it comes last, and proofs are only
/// tried for entry symbols, for which answers are cached.
bool KernelCall::are_unlimited(const std::vector<Expr>& extents) const {
  std::vector<Expr> decided;
  for (Expr extent : extents)
    if (!symbols_.of_entry(extent) && !symbols_.bounded(extent)) decided.push_back(extent);
  if (decided.empty()) return false;
  if (!std::all_of(decided.begin(), decided.end(), [&](Expr extent) { return is_stored(extent); })) return true;
  auto may_be_zero = [&](Expr extent) {
    if (symbols_.of_entry(extent)) return !symbols_.proves(arith::ge(extent, host_.at.build().index(1)), true);
    return extent.constant() == nullptr;  // ranges of data would rarely prove more
  };
  const auto zeros = std::count_if(extents.begin(), extents.end(), may_be_zero);
  return std::any_of(decided.begin(), decided.end(),
                     [&](Expr extent) { return zeros > (may_be_zero(extent) ? 1 : 0); });
}

/// Returns whether all symbols of `extent` occur in dims of the call's tensors.
bool KernelCall::is_stored(Expr extent) const {
  std::vector<Var> of_tensors, vars = arith::free_vars(extent);
  for (const std::vector<Expr>& shape : actual_)
    for (Expr dim : shape)
      for (Var var : arith::free_vars(dim)) of_tensors.push_back(var);
  return std::all_of(vars.begin(), vars.end(),
                     [&](Var var) { return std::find(of_tensors.begin(), of_tensors.end(), var) != of_tensors.end(); });
}

/// Adds the call. Arguments follow the parameters: operands, results, bound values, scratch; scalars in their places.
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
  if (std::any_of(found_.begin(), found_.end(), [&](const auto& by) { return !symbols_.of_entry(by.second); }))
    for (std::vector<Expr>& extents : nests_of(callee_->body)) require_iterations(std::move(extents));
  host_.at.add(host_.at.build().invoke(std::move(invoke)));
}

/// Returns the memory to pass as buffer `i` of the call, for the parameter `formal`.
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

/// Binds symbols to the numbers that the kernel leaves. The capacity of a dim bounds the symbol that it is.
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
    // A kernel leaves its result compact, however much memory it was given.
    values_.slot(result).buffer = host_.memory.view_as(raw_[r], result.name, result.dtype(), shape);
  }
}

}  // namespace

Status call_tir(HostLowering& host, Op& op) {
  return KernelCall(host, op).run();
}

}  // namespace relaxc::lower
