// merged_parameters.cpp: finds the common parameters of functions that tail-call each other.
//
// Every symbol that never changes must be found: a tensor whose dims a loop changes has no place in the arena that is
// known before the run. So symbols are first put into classes by the calls: ping(x: (n,)) -> pong(y: (m,)) with a
// tensor of n elements makes one class of n and m. A class is kept if every call passes a member's own symbol of the
// class for the callee's.
#include "compiler/transform/graph/functions/merged_parameters.h"

#include <algorithm>
#include <set>

#include "compiler/relax/callable.h"
#include "compiler/transform/graph/functions/tail_tree.h"
#include "compiler/transform/graph/functions/tuple_leaves.h"

namespace relaxc {

using namespace relax;

namespace {

/// Classes of symbols that calls make equal.
class Classes {
 public:
  explicit Classes(const std::vector<Function*>& members) {
    for (size_t m = 0; m < members.size(); ++m)
      for (arith::Var var : members[m]->symbols) {
        owner_.emplace(var->id, m);
        all_.push_back(var);
      }
  }
  bool known(arith::Var var) const { return owner_.count(var->id) != 0; }
  void unite(arith::Var a, arith::Var b) {
    uint32_t x = root(a->id), y = root(b->id);
    if (x != y) up_[std::max(x, y)] = std::min(x, y);
  }
  void change(arith::Var var) { changed_.insert(var->id); }

  /// Returns the classes that no call changes and that have one symbol of every member.
  std::vector<std::vector<arith::Var>> kept(size_t members) {
    std::map<uint32_t, std::vector<arith::Var>> classes;
    for (arith::Var var : all_) classes[root(var->id)].push_back(var);
    std::vector<std::vector<arith::Var>> found;
    for (auto& [at, vars] : classes) {
      std::set<size_t> owners;
      bool changed = false;
      for (arith::Var var : vars) {
        owners.insert(owner_.at(var->id));
        changed |= changed_.count(var->id) != 0;
      }
      if (!changed && owners.size() == members && vars.size() == members) found.push_back(vars);
    }
    return found;
  }

 private:
  uint32_t root(uint32_t id) {
    for (auto at = up_.find(id); at != up_.end(); at = up_.find(id)) id = at->second;
    return id;
  }

  std::map<uint32_t, size_t> owner_;
  std::map<uint32_t, uint32_t> up_;
  std::set<uint32_t> changed_;
  std::vector<arith::Var> all_;
};

}  // namespace

MergedParameters::MergedParameters(Module& module, const std::vector<Function*>& members) : context_(module.context()) {
  find_kept(members);
  for (const Function* member : members) place(*member);
}

void MergedParameters::find_kept(const std::vector<Function*>& members) {
  Classes classes(members);
  for (const Function* caller : members)
    for (const Op* call : tail_calls(*caller)) {
      auto callee = std::find_if(members.begin(), members.end(), [&](Function* f) { return f->name == call->callee; });
      if (callee == members.end()) continue;
      const std::vector<Value*>& parameters = (*callee)->body().arguments;
      arith::Substitution found;
      for (size_t i = 0; i < parameters.size(); ++i) solve_symbols(parameters[i]->info, call->operand(i)->info, found);
      for (arith::Var var : (*callee)->symbols) {
        auto value = found.find(var);
        const auto* node = value == found.end() ? nullptr : value->second.as<arith::VarNode>();
        if (node != nullptr && classes.known(arith::Var(node)))
          classes.unite(var, arith::Var(node));
        else
          classes.change(var);
      }
    }
  for (const std::vector<arith::Var>& vars : classes.kept(members.size())) {
    arith::Var mine = context_.var(vars.front().name(), vars.front().dtype());
    for (arith::Var var : vars) kept_.emplace(var, mine);
  }
}

/// Returns the number in kept symbols; null if a call may change it.
Expr MergedParameters::closed(const Expr& number) const {
  for (arith::Var var : arith::free_vars(number))
    if (kept_.count(var) == 0) return {};
  return arith::substitute(number, kept_);
}

void MergedParameters::place(const Function& member) {
  std::set<size_t> taken;
  for (const Value* parameter : member.body().arguments)
    for (Info leaf : leaves_of({parameter->info})) {
      size_t at = 0;
      while (at < slots_.size() && (taken.count(at) != 0 || !fits(slots_[at], leaf))) ++at;
      if (at == slots_.size()) slots_.push_back(slot_for(leaf, parameter->name));
      taken.insert(at);
      places_[&member].push_back(at);
    }
  places_.try_emplace(&member);
}

bool MergedParameters::fits(const ParameterSlot& slot, Info leaf) const {
  std::vector<Expr> ours = numbers_of(slot.info), theirs = numbers_of(leaf);
  if (slot.info->kind != leaf->kind || ours.size() != theirs.size()) return false;
  if (const auto* tensor = leaf->as<TensorInfo>(); tensor && tensor->dtype != slot.info->as<TensorInfo>()->dtype)
    return false;
  if (const auto* prim = leaf->as<PrimInfo>(); prim && prim->dtype != slot.info->as<PrimInfo>()->dtype) return false;
  for (size_t i = 0; i < ours.size(); ++i) {
    Expr number = closed(theirs[i]);
    const auto* var = ours[i].as<arith::VarNode>();
    bool open = var != nullptr && std::find(slot.open.begin(), slot.open.end(), arith::Var(var)) != slot.open.end();
    if (number ? open || number != ours[i] : !open) return false;
  }
  return true;
}

MergedParameters::ParameterSlot MergedParameters::slot_for(Info leaf, const std::string& name) const {
  ParameterSlot slot;
  slot.name = name;
  auto number = [&](const Expr& theirs) {
    if (Expr fixed = closed(theirs)) return fixed;
    const auto* var = theirs.as<arith::VarNode>();
    slot.open.push_back(context_.var(var != nullptr ? arith::Var(var).name() : "d", theirs.dtype()));
    return Expr(slot.open.back());
  };
  auto numbers = [&](std::vector<Expr> dims) {
    for (Expr& dim : dims) dim = number(dim);
    return dims;
  };
  slot.info = leaf;
  if (const auto* tensor = leaf->as<TensorInfo>(); tensor != nullptr && tensor->shape)
    slot.info = tensor_info(context_, numbers(*tensor->shape), tensor->dtype);
  if (const auto* shape = leaf->as<ShapeInfo>(); shape != nullptr && shape->dims)
    slot.info = shape_info(context_, numbers(*shape->dims));
  if (const auto* prim = leaf->as<PrimInfo>(); prim != nullptr && prim->value)
    slot.info = prim_info(context_, prim->dtype, number(prim->value));
  return slot;
}

}  // namespace relaxc
