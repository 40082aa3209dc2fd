// effects.cpp: see effects.h.
#include "compiler/codegen/c/effects.h"

#include <algorithm>

#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

using tir::BufferRef;

class EffectsOfCode {
 public:
  explicit EffectsOfCode(const Conventions& callees) : callees_(callees) {}

  Effects run(tir::Stmt code) {
    tir::for_each_stmt(code, [&](tir::Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) own_.insert(alloc->buffer);
      if (const auto* view = s.as<tir::View>()) enter(*view);
      if (const auto* invoke = s.as<tir::Invoke>()) call(*invoke);
      if (const auto* store = s.as<tir::Store>()) add(store->buffer);
    });
    return found_;
  }

 private:
  void enter(const tir::View& view) {
    if (view.base != nullptr)
      bases_[view.buffer] = view.base;
    else
      found_.addressed.push_back(&view);
  }

  void call(const tir::Invoke& invoke) {
    const auto callee = callees_.find(invoke.callee);
    if (invoke.external || invoke.plain || callee == callees_.end() || !callee->second.stores) {
      found_.known = false;
      return;
    }
    for (size_t i = 0; i < invoke.args.size(); ++i)
      if (const auto* buffer = std::get_if<BufferRef>(&invoke.args[i]);
          buffer != nullptr && (*callee->second.stores)[i])
        add(*buffer);
  }

  void add(BufferRef buffer) {
    for (auto base = bases_.find(buffer); base != bases_.end(); base = bases_.find(buffer)) buffer = base->second;
    if (own_.count(buffer) != 0) return;
    found_.known = found_.known && buffer->record == nullptr;
    if (std::find(found_.stored.begin(), found_.stored.end(), buffer) == found_.stored.end())
      found_.stored.push_back(buffer);
  }

  const Conventions& callees_;
  Effects found_;
  std::set<BufferRef> own_;
  std::map<BufferRef, BufferRef> bases_;  ///< of views
};

}  // namespace

Effects effects_of(tir::Stmt code, const Conventions& callees) {
  return EffectsOfCode(callees).run(code);
}

std::optional<std::set<int32_t>> statuses_of(const tir::PrimFunc& function, const Conventions& callees,
                                             const interface::Hooks& hooks) {
  std::set<int32_t> codes;
  bool known = true;
  if (function.checks.overflow_code != 0) codes.insert(function.checks.overflow_code);
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    if (const auto* guard = s.as<tir::Guard>()) codes.insert(guard->code);
    const auto* invoke = s.as<tir::Invoke>();
    if (invoke == nullptr || (invoke->plain && !invoke->status)) return;
    const auto callee = callees.find(invoke->callee);
    const bool decided = !invoke->external && !invoke->plain && callee != callees.end() && callee->second.statuses &&
                         !(hooks.at(invoke->trace_node) && hooks.poll);
    known = known && decided;
    if (decided) codes.insert(callee->second.statuses->begin(), callee->second.statuses->end());
  });
  return known ? std::optional(codes) : std::nullopt;
}

void add_effects(const tir::PrimFunc& function, const Conventions& callees, const interface::Hooks& hooks,
                 Convention& own) {
  const Effects effects = effects_of(function.body, callees);
  own.statuses = statuses_of(function, callees, hooks);
  std::vector<bool> stores;
  size_t count = 0;
  for (const tir::Param& param : function.params) {
    const bool stored = param.buffer != nullptr &&
                        std::find(effects.stored.begin(), effects.stored.end(), param.buffer) != effects.stored.end();
    stores.push_back(stored), count += stored ? 1 : 0;
    own.elements.push_back(param.buffer != nullptr ? elements_of(param.buffer) : std::nullopt);
  }
  if (effects.known && effects.addressed.empty() && count == effects.stored.size()) own.stores = std::move(stores);
}

std::optional<int64_t> elements_of(BufferRef buffer) {
  int64_t count = 1;
  for (const arith::Expr dim : buffer->shape)
    if (dim.constant() == nullptr || *dim.constant() == INT64_MAX ||
        __builtin_mul_overflow(count, *dim.constant(), &count))
      return std::nullopt;
  return count;
}

}  // namespace relaxc::codegen_c
