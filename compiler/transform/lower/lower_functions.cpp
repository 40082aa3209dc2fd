// lower_functions.cpp: every Relax function becomes a host prim func, and the object learns of its entry points.
//
// From here on the module holds prim funcs only. What a host prim func computes besides calling kernels is the shape
// program; its memory is written down as allocations, which plan_memory places.
#include "compiler/transform/passes.h"

#include <set>

#include "compiler/tir/visit.h"
#include "compiler/transform/lower/externals.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc {
namespace {

using namespace relax;
using namespace lower;

class Lowering {
 public:
  Lowering(Module& module, PassContext& context)
      : shared_{.module = module, .context = context, .object = *context.object} {}

  Status run() {
    Diagnostics& diag = shared_.context.diag;
    Module& module = shared_.module;
    for (tir::PrimFunc* function : module.prim_funcs())
      if (!function->is_private) shared_.object.public_prim_funcs.push_back({function->name});
    place_constants();
    for (Function* function : module.functions()) hold_objects(*function);
    for (Function* function : module.functions())
      for (Op* op : ops_of(function->body(), true))
        if (op->kind == OpKind::kCallFunction) called_.insert(op->callee);
    size_t errors = diag.error_count();
    RELAXC_DO(announce_recursive());
    for (Function* function : module.functions())
      if (visited_.insert(function->name).second) static_cast<void>(bool(with_callees(*function)));
    if (diag.error_count() > errors) return diag.failed();
    RELAXC_DO(list_externals(module, shared_.object, diag));
    shared_.object.weights = shared_.weights.finish();
    for (Function* function : module.functions()) module.remove_function(std::string(function->name));
    return Done{};
  }

 private:
  /// An opaque object becomes what it is in memory: one handle.
  void hold_objects(Function& function) {
    auto held = [&](Info info, auto&& self) -> Info {
      if (info->as<ObjectInfo>() != nullptr)
        return tensor_info(shared_.module.context(), std::vector<Expr>{}, DType::handle());
      const auto* tuple = info->as<TupleInfo>();
      if (tuple == nullptr) return info;
      std::vector<Info> fields;
      for (Info field : tuple->fields) fields.push_back(self(field, self));
      return fields == tuple->fields ? info : tuple_info(shared_.module.context(), std::move(fields));
    };
    auto hold = [&](Value* value) { value->info = held(value->info, held); };
    for (Value* argument : function.body().arguments) hold(argument);
    for (Op* op : ops_of(function.body(), true)) {
      for (Value* result : op->results) hold(result);
      for (Region* region : op->regions)
        for (Value* argument : region->arguments) hold(argument);
    }
  }

  /// Sizes first: the buffer of all weights has its shape before anybody names it.
  void place_constants() {
    for (Function* function : shared_.module.functions())
      for (Op* op : ops_of(function->body(), true))
        if (op->kind == OpKind::kConstant)
          shared_.weights.place(op->constant);
        else if (op->kind == OpKind::kPrint)
          for (const ConstantRef& text : print_texts(shared_, *op)) shared_.weights.place(text);
    tir::Builder build(shared_.module.context());
    shared_.weights_buffer =
        build.buffer("weights", DType::u(8), {build.index(static_cast<int64_t>(shared_.weights.bytes()))},
                     tir::Scope::kWeights, WeightLayout::kAlignment);
  }

  /// What calls itself is known to its callers before anything is lowered.
  Status announce_recursive() {
    Diagnostics& diag = shared_.context.diag;
    std::map<std::string, std::set<std::string>> calls;
    for (Function* function : shared_.module.functions())
      for (Op* op : ops_of(function->body(), true))
        if (op->kind == OpKind::kCallFunction) calls[function->name].insert(op->callee);
    for (const auto& [name, next] : calls) {
      std::set<std::string> seen;
      std::vector<std::string> waiting(next.begin(), next.end());
      while (!waiting.empty()) {
        std::string at = std::move(waiting.back());
        waiting.pop_back();
        if (!seen.insert(at).second || calls.count(at) == 0) continue;
        waiting.insert(waiting.end(), calls.at(at).begin(), calls.at(at).end());
      }
      if (seen.count(name) != 0) shared_.recursive.insert(name);
    }
    for (Function* function : shared_.module.functions())
      if (shared_.recursive.count(function->name) != 0)
        RELAXC_DO(HostFunction(shared_, *function, Form::kShared).announce());
    return Done{};
  }

  /// Depth first, so that a callee is lowered before its callers.
  Status with_callees(Function& function) {
    Diagnostics& diag = shared_.context.diag;
    for (Op* op : ops_of(function.body(), true)) {
      if (op->kind != OpKind::kCallFunction) continue;
      Function* callee = shared_.module.find_function(op->callee);
      RELAXC_CHECK(callee != nullptr, "no function " + op->callee);
      if (visited_.insert(callee->name).second) RELAXC_DO(with_callees(*callee));
    }
    bool shared = function.is_private || called_.count(function.name) != 0;
    HostFunction host(shared_, function, shared ? Form::kShared : Form::kEntry);
    RELAXC_DO(host.run());
    if (host.entry_is_missing()) return HostFunction(shared_, function, Form::kEntry).run();
    return Done{};
  }

  Shared shared_;
  std::set<std::string> visited_, called_;
};

}  // namespace

Result<Changed> lower_functions(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "lowering needs an object to describe");
  Diagnostics& diag = context.diag;
  RELAXC_DO(Lowering(module, context).run());
  return Changed::kYes;
}

}  // namespace relaxc
