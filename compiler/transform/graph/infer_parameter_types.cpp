// infer_parameter_types.cpp: gives a parameter of unknown shape or dtype the type that the function casts it to.
//
// Programs that write `x: R.Tensor` and then match_cast x say what they require of their caller, only later. An
// object must say it in its interface: the dims are checked before any buffer is written, and the symbols are
// entry symbols. So the first match_cast of a parameter, if it runs on every path, becomes the parameter's own
// struct info, field by field for a tuple. Later casts of the same parameter compare with it, as they did
// before.
//
// A dim that the cast compares with a number found in the data cannot be part of the interface: the parameter gets a
// symbol of its own there, and the cast stays as it is. A parameter that is still open then has no native form, which
// is an error, except for dims of known rank: they only need names.
//
// An R.Any is a handle and stays one, which the cast opens; but if all callers in the module pass a value that is no
// opaque object, the parameter gets its type.
#include <algorithm>
#include <map>

#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

class Adoption {
 public:
  Adoption(Function& function, const std::vector<const Op*>& calls, Diagnostics& diag)
      : function_(function), calls_(calls), diag_(diag) {}

  Changed run() {
    for (Op* op : ops_of(function_.body()))
      if (op->kind == OpKind::kMatchCast) adopt(*op);
    for (Value* argument : function_.body().arguments) {
      Info closed = close(argument->info, argument->name);
      if (closed != argument->info) set_info(*argument, closed);
    }
    return changed_;
  }

 private:
  /// Returns the parameter that `value` is a part of; `path` gets the tuple indices that lead to it.
  static Value* parameter(Value* value, std::vector<size_t>& path) {
    while (value->op != nullptr && value->op->kind == OpKind::kTupleGet) {
      path.insert(path.begin(), static_cast<size_t>(value->op->attrs.integer("index")));
      value = value->op->operand(0);
    }
    return value->region != nullptr && value->region->parent_op == nullptr ? value : nullptr;
  }

  void adopt(Op& cast) {
    std::vector<size_t> path;
    Value* from = parameter(cast.operand(0), path);
    if (from == nullptr) return;
    opens_objects_ = gets_objects(*from);
    Info merged = merge_at(from->info, path, 0, cast);
    if (merged == from->info) return;
    set_info(*from, merged);
    std::vector<Var> used = symbols_of(merged);
    std::erase_if(cast.binds, [&](Var var) { return std::find(used.begin(), used.end(), var) != used.end(); });
    // The parameter's info completes what the cast leaves open.
    cast.result()->info = merge(cast.result()->info, cast.operand(0)->info, cast);
  }

  /// Returns whether a caller may pass a handle as the parameter or as a part of it.
  bool gets_objects(const Value& parameter) const {
    auto holds_object = [](Info info, auto&& self) -> bool {
      const auto* tuple = info->as<TupleInfo>();
      if (tuple == nullptr) return info->kind == InfoKind::kObject;
      return std::any_of(tuple->fields.begin(), tuple->fields.end(), [&](Info field) { return self(field, self); });
    };
    return !function_.is_private || std::any_of(calls_.begin(), calls_.end(), [&](const Op* call) {
      return holds_object(call->operand(parameter.index)->info, holds_object);
    });
  }

  Info merge_at(Info known, const std::vector<size_t>& path, size_t depth, const Op& cast) {
    if (depth == path.size()) return merge(known, cast.result()->info, cast);
    std::vector<Info> fields = known->as<TupleInfo>()->fields;
    Info inner = merge_at(fields.at(path[depth]), path, depth + 1, cast);
    if (inner == fields[path[depth]]) return known;
    fields[path[depth]] = inner;
    return tuple_info(function_.context(), std::move(fields));
  }

  /// Returns `known` completed by `wanted`; `known` itself if that adds nothing.
  Info merge(Info known, Info wanted, const Op& cast) {
    Context& context = function_.context();
    if (known->kind == InfoKind::kObject && !opens_objects_ && wanted->kind != InfoKind::kCallable) return wanted;
    if (known->kind != wanted->kind) return known;
    if (const auto* tuple = known->as<TupleInfo>()) {
      const std::vector<Info>& theirs = wanted->as<TupleInfo>()->fields;
      std::vector<Info> fields = tuple->fields;
      for (size_t i = 0; i < fields.size() && i < theirs.size(); ++i) fields[i] = merge(fields[i], theirs[i], cast);
      return fields == tuple->fields ? known : tuple_info(context, std::move(fields));
    }
    if (const auto* shape = known->as<ShapeInfo>()) {
      const auto& theirs = *wanted->as<ShapeInfo>();
      bool fits = shape->ndim < 0 || shape->ndim == theirs.ndim;
      if (shape->dims || !fits || (!theirs.dims && theirs.ndim == shape->ndim)) return known;
      return theirs.dims ? shape_info(context, of_inputs(*theirs.dims, cast)) : wanted;
    }
    const auto* tensor = known->as<TensorInfo>();
    if (tensor == nullptr || (tensor->shape && tensor->dtype)) return known;
    const auto& theirs = *wanted->as<TensorInfo>();
    bool fits = (tensor->ndim < 0 || theirs.ndim < 0 || tensor->ndim == theirs.ndim) &&
                (!tensor->dtype || !theirs.dtype || tensor->dtype == theirs.dtype);
    if (!fits) return known;  // infer reports it
    std::optional<DType> dtype = tensor->dtype ? tensor->dtype : theirs.dtype;
    if (tensor->shape) return dtype ? tensor_info(context, *tensor->shape, dtype) : known;
    if (theirs.shape) return tensor_info(context, of_inputs(*theirs.shape, cast), dtype);
    bool more = dtype != tensor->dtype || theirs.ndim > tensor->ndim;
    return more ? tensor_info(context, std::max(tensor->ndim, theirs.ndim), dtype) : known;
  }

  /// Returns dims that the inputs decide: a new symbol replaces a dim that depends on later results.
  std::vector<Expr> of_inputs(std::vector<Expr> dims, const Op& cast) {
    for (Expr& dim : dims) {
      std::vector<Var> vars = arith::free_vars(dim);
      bool ours = std::all_of(vars.begin(), vars.end(),
                              [&](Var var) { return contains(function_.symbols, var) || contains(cast.binds, var); });
      if (!ours) dim = function_.context().var("dim");
    }
    return dims;
  }

  static bool contains(const std::vector<Var>& list, Var var) {
    return std::find(list.begin(), list.end(), var) != list.end();
  }

  void set_info(Value& value, Info info) {
    changed_ = Changed::kYes;
    value.info = info;
    if (value.region != nullptr)
      for (Var var : symbols_of(info))
        if (!contains(function_.symbols, var)) function_.symbols.push_back(var);
    for (const Use& use : value.uses())
      if (use.user->kind == OpKind::kTupleGet && !use.user->is_yield)
        set_info(*use.user->result(),
                 info->as<TupleInfo>()->fields.at(static_cast<size_t>(use.user->attrs.integer("index"))));
  }

  /// Gives names to dims of known rank; reports infos that have no form in memory.
  Info close(Info info, const std::string& name) {
    Context& context = function_.context();
    auto symbols = [&](int32_t ndim, bool sizes) {
      std::vector<Expr> dims;
      for (int32_t i = 0; i < ndim; ++i) {
        Var var = context.var(name + "_" + std::to_string(i));
        if (sizes) function_.facts.bound(var, arith::Range::at_least(0));
        dims.push_back(var);
      }
      return dims;
    };
    if (const auto* tuple = info->as<TupleInfo>()) {
      std::vector<Info> fields = tuple->fields;
      for (size_t i = 0; i < fields.size(); ++i) fields[i] = close(fields[i], name + "_" + std::to_string(i));
      return fields == tuple->fields ? info : tuple_info(context, std::move(fields));
    }
    if (const auto* tensor = info->as<TensorInfo>(); tensor != nullptr && !(tensor->shape && tensor->dtype)) {
      if (tensor->dtype && tensor->ndim >= 0) return tensor_info(context, symbols(tensor->ndim, true), tensor->dtype);
      report(info, name, "R.Tensor((\"n\", 4), \"float32\")");
    }
    if (const auto* shape = info->as<ShapeInfo>(); shape != nullptr && !shape->dims) {
      if (shape->ndim >= 0) return shape_info(context, symbols(shape->ndim, false));
      report(info, name, "R.Shape([\"n\", \"m\"]) or R.Shape(ndim=2)");
    }
    return info;
  }

  void report(Info info, const std::string& name, const std::string& right) {
    diag_.error(function_.location, Kind::ill_formed,
                "parameter '{}' of '{}' is {}, and native code needs its {}: write {}, or match_cast it to that first",
                name, function_.name, to_string(info), info->kind == InfoKind::kTensor ? "dtype and rank" : "length",
                right);
  }

  Function& function_;
  const std::vector<const Op*>& calls_;
  Diagnostics& diag_;
  bool opens_objects_ = false;  ///< the current cast reads a handle
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> infer_parameter_types(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  size_t errors = context.diag.error_count();
  std::map<std::string, std::vector<const Op*>> calls;
  for (Function* function : module.functions())
    for (const Op* op : ops_of(function->body(), true))
      if (op->kind == OpKind::kCallFunction) calls[op->callee].push_back(op);
  for (Function* function : module.functions())
    changed |= Adoption(*function, calls[function->name], context.diag).run();
  if (context.diag.error_count() > errors) return context.diag.failed();
  return changed;
}

}  // namespace relaxc
