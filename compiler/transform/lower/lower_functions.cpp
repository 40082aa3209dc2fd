// lower_functions.cpp: makes a host prim func of every Relax function, and adds entries to the object.
//
// Afterwards the module holds prim funcs only. Besides calls of kernels, a host prim func is the shape program; its
// memory is written as allocations, which plan_memory places.
#include "compiler/transform/passes.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/analysis/strongly_connected_components.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/externals.h"
#include "compiler/transform/lower/host/host_function.h"
#include "compiler/transform/lower/host/scratch_entry.h"
#include "compiler/transform/lower/weight_stream.h"

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
      if (!function->is_private) shared_.object.public_prim_funcs.push_back(public_prim_func(module, *function));
    place_constants();
    for (Function* function : module.functions()) hold_objects(*function);
    size_t errors = diag.error_count();
    find_calls();
    RELAXC_DO(announce_recursive());
    lower_all();
    if (diag.error_count() > errors) return diag.failed();
    RELAXC_DO(list_externals(module, shared_.object, diag));
    shared_.object.weights = shared_.weights.finish();
    for (Function* function : module.functions()) module.remove_function(std::string(function->name));
    return Done{};
  }

 private:
  /// Replaces the types of opaque objects by what they are in memory: one handle.
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

  /// Places all constants, since the buffer of weights must have its size before anything names it.
  void place_constants() {
    if (const auto* before = shared_.object.weights.stream.target<WeightStream>())
      for (const WeightStream::Piece& piece : before->pieces)
        RELAXC_CHECK(shared_.weights.place(piece.data, piece.name) == piece.offset, "a constant moved");
    for (Function* function : shared_.module.functions())
      for (Op* op : ops_of(function->body(), true))
        if (op->kind == OpKind::kConstant)
          shared_.weights.place(op->constant, op->result()->name);
        else if (op->kind == OpKind::kPrint)
          for (const ConstantRef& text : print_texts(shared_, *op)) shared_.weights.place(text);
    tir::Builder build(shared_.module.context());
    shared_.weights_buffer =
        build.buffer("weights", DType::u(8), {build.index(static_cast<int64_t>(shared_.weights.bytes()))},
                     tir::Scope::kWeights, WeightLayout::kAlignment);
  }

  void find_calls() {
    functions_ = shared_.module.functions();
    std::map<std::string, size_t> number;
    for (size_t i = 0; i < functions_.size(); ++i) number.emplace(functions_[i]->name, i);
    callees_.resize(functions_.size());
    for (size_t i = 0; i < functions_.size(); ++i)
      for (Op* op : ops_of(functions_[i]->body(), true)) {
        if (op->kind != OpKind::kCallFunction) continue;
        RELAXC_CHECK(number.count(op->callee) != 0, "no function " + op->callee);
        callees_[i].push_back(number.at(op->callee));
        called_.insert(op->callee);
      }
    order_ = analysis::strongly_connected_components(callees_);
  }

  /// Announces recursive functions, so that their callers know them before anything is lowered.
  Status announce_recursive() {
    for (const std::vector<size_t>& members : order_)
      for (size_t i : members)
        if (members.size() > 1 || std::count(callees_[i].begin(), callees_[i].end(), i) != 0)
          shared_.recursive.insert(functions_[i]->name);
    for (Function* function : functions_)
      if (shared_.recursive.count(function->name) != 0)
        RELAXC_DO(HostFunction(shared_, *function, Form::kShared).announce());
    return Done{};
  }

  /// Lowers callees before their callers; a caller is left out if a callee failed.
  void lower_all() {
    std::vector<bool> failed(functions_.size());
    for (const std::vector<size_t>& members : order_)
      for (size_t i : members) {
        bool ready =
            std::none_of(callees_[i].begin(), callees_[i].end(), [&](size_t callee) { return failed[callee]; });
        failed[i] = !ready || !lower(*functions_[i]);
      }
  }

  Status lower(Function& function) {
    bool shared = function.is_private || called_.count(function.name) != 0;
    HostFunction host(shared_, function, shared ? Form::kShared : Form::kEntry);
    RELAXC_DO(host.run());
    if (host.entry_is_missing()) return HostFunction(shared_, function, Form::kEntry).run();
    return Done{};
  }

  Shared shared_;
  std::vector<Function*> functions_;
  std::vector<std::vector<size_t>> callees_;  ///< the callees of each function, one entry per call
  std::vector<std::vector<size_t>> order_;    ///< sets of functions that call each other, callees first
  std::set<std::string> called_;
};

}  // namespace

Result<Changed> lower_functions(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "lowering needs an object to describe");
  RELAXC_DO(Lowering(module, context).run());
  return Changed::kYes;
}

}  // namespace relaxc
