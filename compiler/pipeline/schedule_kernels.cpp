// schedule_kernels.cpp: the scheduler as a pass.
//
// It is in this folder because it joins two components that do not know each other: passes do not see schedules, and
// schedules do not see passes. Kernels are scheduled independently of each other. A schedule may pack a parameter that
// is a constant at every call; then each call gets a constant that is packed when its bytes are written, so that
// nothing is packed at run time.
#include "compiler/pipeline/schedule_kernels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/builder.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

class Scheduling {
 public:
  Scheduling(Module& module, PassContext& context) : module_(module), context_(context) {
    for (Function* function : module.functions())
      for (Op* op : ops_of(function->body(), true)) {
        if (op->kind == OpKind::kCallTir)
          calls_[op->callee].push_back(op);
        else if (!op->callee.empty())
          other_uses_.insert(op->callee);
      }
    for (tir::PrimFunc* kernel : module.prim_funcs())
      tir::for_each_stmt(kernel->body, [&](tir::Stmt s) {
        if (const auto* invoke = s.as<tir::Invoke>()) other_uses_.insert(invoke->callee);
      });
  }

  Result<Changed> run() {
    Changed changed = Changed::kNo;
    for (tir::PrimFunc* kernel : module_.prim_funcs()) {
      std::vector<tir::BufferRef> before = analysis::buffer_params(*kernel), constants;
      for (size_t i = 0; i < before.size(); ++i)
        if (is_constant(*kernel, i)) constants.push_back(before[i]);
      std::vector<schedule::PackedParam> packed;
      const tir::PrimFunc definition = context_.scheduled ? *kernel : tir::PrimFunc();
      RELAXC_TRY(const bool done, schedule_one(*kernel, constants, packed));
      if (done) changed = Changed::kYes;
      if (context_.scheduled) context_.scheduled(definition, *kernel, packed, facts_of(*kernel));
      for (const schedule::PackedParam& one : packed) {
        auto at = std::find(before.begin(), before.end(), one.param);
        repack(*kernel, static_cast<size_t>(at - before.begin()), one);
      }
    }
    return changed;
  }

 private:
  /// Schedules by the steps that the user gave for the kernel, else by the strategies. False if nothing changed.
  Result<bool> schedule_one(tir::PrimFunc& kernel, const std::vector<tir::BufferRef>& constants,
                            std::vector<schedule::PackedParam>& packed) {
    Diagnostics& diag = context_.diag;
    const arith::Facts facts = facts_of(kernel);
    if (auto steps = context_.traces.find(kernel.name); steps != context_.traces.end()) {
      RELAXC_DO(schedule::replay_kernel(module_.context(), kernel, constants, packed, facts, steps->second,
                                        module_.sources(), diag));
      return true;
    }
    const schedule::ScheduleOptions options{.winograd = context_.option(kScheduleWinograd),
                                            .online_softmax = context_.option(kScheduleOnlineSoftmax),
                                            .small = context_.option(kScheduleSmall) != 0,
                                            .smallest = context_.option(kScheduleSmall) > 1,
                                            .little_memory = context_.option(kStreamRowsBudget) != 0};
    schedule::KernelExplanation explanation;
    const bool done = schedule::schedule_kernel(module_.context(), kernel, context_.target, constants, packed, facts,
                                                options, context_.explain ? &explanation : nullptr);
    if (context_.explain) context_.explain(kernel.name, to_text(explanation));
    return done;
  }

  /// Returns the index of the operand for the kernel's tensor parameter number `tensor`.
  static size_t operand_of(const Op& call, size_t tensor) {
    size_t seen = 0;
    for (size_t i = 0; i < call.operands().size(); ++i)
      if (call.operand(i)->info->as<TensorInfo>() != nullptr && seen++ == tensor) return i;
    return call.operands().size();
  }

  bool is_constant(const tir::PrimFunc& kernel, size_t tensor) const {
    auto calls = calls_.find(kernel.name);
    if (!kernel.is_private || other_uses_.count(kernel.name) != 0 || calls == calls_.end()) return false;
    for (const Op* call : calls->second) {
      size_t operand = operand_of(*call, tensor);
      if (operand == call->operands().size()) return false;
      const Value* value = call->operand(operand);
      if (value->op == nullptr || value->op->kind != OpKind::kConstant) return false;
    }
    return true;
  }

  /// Returns bounds and divisors of dims that hold at all calls of the kernel, so that loops may not need tails.
  arith::Facts facts_of(const tir::PrimFunc& kernel) const {
    auto calls = calls_.find(kernel.name);
    if (!kernel.is_private || other_uses_.count(kernel.name) != 0 || calls == calls_.end()) return {};
    struct Known {
      arith::Range range;
      int64_t factor = 0;
    };
    std::map<uint32_t, Known> known;
    std::vector<arith::Var> symbols;
    for (const Op* call : calls->second)
      for_each_dim(kernel, *call, [&](arith::Var symbol, arith::Expr given) {
        const arith::Facts& facts = call->block->parent->function->facts;
        arith::Range range = arith::bounds(given, facts);
        int64_t factor = arith::divisor(given, facts);
        auto [at, first] = known.try_emplace(symbol->id, Known{range, factor});
        if (first) return symbols.push_back(symbol);
        Known& all = at->second;
        all.range = {std::min(all.range.lower, range.lower), std::max(all.range.upper, range.upper)};
        all.factor = std::gcd(all.factor, factor);
      });
    arith::Facts facts;
    for (arith::Var symbol : symbols) {
      const Known& all = known.at(symbol->id);
      facts.bound(symbol, all.range);
      if (all.factor > 1) facts.multiple(symbol, all.factor);
    }
    return facts;
  }

  /// Calls `f` with each symbol that is a dim of the kernel's tensors, and with the dim that `call` passes for it.
  template <typename F>
  static void for_each_dim(const tir::PrimFunc& kernel, const Op& call, F f) {
    std::vector<const Value*> tensors;
    for (const std::vector<Value*>* values : {&call.operands(), &call.results})
      for (const Value* value : *values)
        if (value != nullptr && value->info->as<TensorInfo>() != nullptr) tensors.push_back(value);
    std::vector<tir::BufferRef> buffers = analysis::buffer_params(kernel);
    for (size_t n = 0; n < std::min(buffers.size(), tensors.size()); ++n) {
      const std::vector<arith::Expr>&from = buffers[n]->shape, &to = tensors[n]->shape();
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i)
        if (const auto* var = from[i].as<arith::VarNode>()) f(arith::Var(var), to[i]);
    }
  }

  void repack(const tir::PrimFunc& kernel, size_t tensor, const schedule::PackedParam& one) {
    for (Op* call : calls_.at(kernel.name)) {
      size_t operand = operand_of(*call, tensor);
      GraphBuilder builder(module_, context_.ops, call, context_.diag);
      call->set_operand(operand, builder.constant(packed_constant(call->operand(operand)->op->constant, one)));
    }
  }

  ConstantRef packed_constant(const ConstantRef& source, const schedule::PackedParam& one) {
    ConstantRef& made = made_[{source, one.packing.description()}];
    if (made != nullptr) return made;
    DType dtype = source->dtype();
    auto apply = [packing = one.packing, bytes = dtype.bytes()](std::span<const std::byte> from) {
      return packing.apply(from, bytes);
    };
    made = ConstantData::transformed(one.packing.packed_dtype(dtype), one.packing.packed_shape(), source,
                                     {one.packing.description(), apply});
    return made;
  }

  Module& module_;
  PassContext& context_;
  std::map<std::string, std::vector<Op*>> calls_;
  std::set<std::string> other_uses_;
  std::map<std::pair<ConstantRef, std::string>, ConstantRef> made_;  // packed constants; never iterated
};

}  // namespace

Result<Changed> schedule_kernels(relax::Module& module, PassContext& context) {
  return Scheduling(module, context).run();
}

}  // namespace relaxc
