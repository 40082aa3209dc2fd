// print_info.cpp: prints struct infos in the text IR, with names that the printer has chosen.
#include "compiler/relax/print_info.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/arith/visit.h"

namespace relaxc::relax {
namespace {

/// Whether `symbol` is by itself a dim or a scalar's value somewhere in `info`, not only part of an expression.
bool stands_alone(Info info, Var symbol) {
  auto among = [&](const std::vector<Expr>& dims) {
    return std::any_of(dims.begin(), dims.end(), [&](Expr dim) { return dim == symbol; });
  };
  auto in_any = [&](const std::vector<Info>& infos) {
    return std::any_of(infos.begin(), infos.end(), [&](Info one) { return stands_alone(one, symbol); });
  };
  if (const auto* tensor = info->as<TensorInfo>()) return tensor->shape && among(*tensor->shape);
  if (const auto* shape = info->as<ShapeInfo>()) return shape->dims && among(*shape->dims);
  if (const auto* prim = info->as<PrimInfo>()) return prim->value && prim->value == symbol;
  if (const auto* tuple = info->as<TupleInfo>()) return in_any(tuple->fields);
  const auto* callable = info->as<CallableInfo>();
  return callable != nullptr && (in_any(callable->params) || stands_alone(callable->result, symbol));
}

class InfoPrinter {
 public:
  using Naming = std::function<std::string(Var)>;

  InfoPrinter(const arith::Names& names, bool quoted, const Naming& unused)
      : names_(names), quoted_(quoted), unused_(unused) {}

  std::string text(Info info) const {
    switch (info->kind) {
      case InfoKind::kObject:
        return "R.Any";
      case InfoKind::kPrim:
        return prim(*info->as<PrimInfo>());
      case InfoKind::kShape: {
        const auto& shape = *info->as<ShapeInfo>();
        if (shape.dims) return "R.Shape([" + dims(*shape.dims) + "])";
        return shape.ndim < 0 ? "R.Shape" : "R.Shape(ndim=" + std::to_string(shape.ndim) + ")";
      }
      case InfoKind::kTensor:
        return tensor(*info->as<TensorInfo>());
      case InfoKind::kTuple:
        return "R.Tuple(" + list(info->as<TupleInfo>()->fields) + ")";
      case InfoKind::kCallable:
        return callable(*info->as<CallableInfo>());
    }
    RELAXC_UNREACHABLE();
  }

 private:
  std::string dim(Expr e) const {
    std::string text = arith::print(e, names_);
    bool quoted = quoted_;
    for (Var var : arith::free_vars(e)) quoted |= own_.count(var.node()) != 0;
    if (!quoted || e.constant() != nullptr) return text;
    std::replace(text.begin(), text.end(), '"', '\'');  // the dtype of a T.Cast
    return "\"" + text + "\"";
  }
  /// The callable's own symbols are quoted, symbols of the enclosing function are not. A quoted expression (the bound
  /// of a data-dependent size) may contain both kinds; there the callable's own symbols get names that are not in use.
  std::string callable(const CallableInfo& callable) const {
    std::set<std::string> taken;
    for (Var var : symbols_of(&callable)) taken.insert(names_.var(var));
    std::unordered_map<const arith::Node*, std::string> own = own_;
    for (const auto& [node, name] : own) taken.insert(name);
    for (Var var : callable.symbols) {
      std::string name = stands_alone(&callable, var) ? var.name() : unused_(var);
      for (int i = 1; !taken.insert(name).second; ++i) name = var.name() + "_" + std::to_string(i);
      own[var.node()] = name;
    }
    arith::Names names = names_;
    names.var = [&](Var var) {
      auto it = own.find(var.node());
      return it == own.end() ? names_.var(var) : it->second;
    };
    InfoPrinter inner(names, false, unused_);
    inner.own_ = own;
    return "R.Callable((" + inner.list(callable.params) + (callable.params.size() == 1 ? ",), " : "), ") +
           inner.text(callable.result) + (callable.pure ? ", True)" : ", False)");
  }
  std::string dims(const std::vector<Expr>& list) const {
    std::string text;
    for (Expr e : list) text += (text.empty() ? "" : ", ") + dim(e);
    return text;
  }
  std::string list(const std::vector<Info>& infos) const {
    std::string out;
    for (Info info : infos) out += (out.empty() ? "" : ", ") + text(info);
    return out;
  }
  /// At the Relax level a 64-bit integer is a dim, of dtype `index`; its text is int64.
  std::string prim(const PrimInfo& prim) const {
    std::string value = prim.value ? "value=" + dim(prim.value) : "";
    if (prim.dtype.is_index()) return value.empty() ? "R.Prim(\"int64\")" : "R.Prim(" + value + ")";
    return "R.Prim(\"" + to_string(prim.dtype) + (value.empty() ? "\")" : "\", " + value + ")");
  }
  std::string tensor(const TensorInfo& tensor) const {
    std::string text;
    auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (tensor.shape) add("(" + dims(*tensor.shape) + (tensor.shape->size() == 1 ? ",)" : ")"));
    if (tensor.dtype) add("dtype=\"" + to_string(*tensor.dtype) + "\"");
    if (!tensor.shape && tensor.ndim >= 0) add("ndim=" + std::to_string(tensor.ndim));
    return text.empty() ? "R.Tensor" : "R.Tensor(" + text + ")";
  }

  const arith::Names& names_;
  bool quoted_;
  const Naming& unused_;
  std::unordered_map<const arith::Node*, std::string> own_;  ///< printed names of the enclosing callables' symbols
};

}  // namespace

std::string info_text(Info info, const arith::Names& names, bool quoted,
                      const std::function<std::string(Var)>& unused) {
  return InfoPrinter(names, quoted, unused).text(info);
}

Info erase_unknown(Context& context, Info info, const std::function<bool(Var)>& known) {
  auto in_scope = [&](Expr e) {
    std::vector<Var> vars = arith::free_vars(e);
    return std::all_of(vars.begin(), vars.end(), known);
  };
  auto all_in_scope = [&](const std::vector<Expr>& list) { return std::all_of(list.begin(), list.end(), in_scope); };
  if (const auto* tensor = info->as<TensorInfo>(); tensor && tensor->shape && !all_in_scope(*tensor->shape))
    return tensor_info(context, tensor->ndim, tensor->dtype);
  if (const auto* shape = info->as<ShapeInfo>(); shape && shape->dims && !all_in_scope(*shape->dims))
    return shape_info(context, shape->ndim);
  if (const auto* prim = info->as<PrimInfo>(); prim && prim->value && !in_scope(prim->value))
    return prim_info(context, prim->dtype);
  if (info->as<CallableInfo>() != nullptr) {
    std::vector<Var> free = symbols_of(info);
    if (!std::all_of(free.begin(), free.end(), known)) return object_info(context);
  }
  if (const auto* tuple = info->as<TupleInfo>()) {
    std::vector<Info> fields;
    for (Info field : tuple->fields) fields.push_back(erase_unknown(context, field, known));
    return tuple_info(context, std::move(fields));
  }
  return info;
}

}  // namespace relaxc::relax
