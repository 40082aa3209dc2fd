// common_subexpressions.cpp: computes once what is computed twice.
//
// The method: one walk in order with a table of computed values, keyed by operator, attributes and operands (after
// replacement, so chains collapse in one walk). A region sees what the regions around it computed before it, and what
// it computes itself is forgotten at its end. Constants of equal small content become one constant, which also makes
// their users equal.
//
// What is left alone: ops with an effect or with symbols of their own (two unique() bind two sizes), tensors without
// operands (a buffer of zeros is cheaper to make again than to keep), and values that the function returns, which have
// names and memory of their own.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "compiler/relax/attr_text.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr int64_t kMostCompared = 4096;  // bytes of the largest constant that is compared

class Elimination {
 public:
  explicit Elimination(Function& function) : function_(function) {}

  Changed run() {
    region(function_.body());
    return changed_;
  }

 private:
  void region(Region& here) {
    std::vector<std::string> added;
    for (Op* op : ops_of(here)) {
      std::string key = key_of(*op);
      if (!key.empty()) {
        auto [first, fresh] = known_.emplace(key, op);
        if (fresh)
          added.push_back(std::move(key));
        else
          replace(*op, *first->second);
      }
      for (Region* inner : op->regions) region(*inner);
    }
    for (const std::string& key : added) known_.erase(key);
  }

  void replace(Op& op, Op& by) {
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (op.results[i]->unused() || returned(*op.results[i])) continue;
      op.results[i]->replace_all_uses_with(by.results[i]);
      changed_ = Changed::kYes;
    }
    std::vector<Location> added = op.origins.empty() ? std::vector<Location>{op.location} : op.origins;
    if (by.origins.empty()) by.origins = {by.location};
    for (Location origin : added)
      if (std::find(by.origins.begin(), by.origins.end(), origin) == by.origins.end()) by.origins.push_back(origin);
  }

  bool returned(const Value& value) const {
    const Op* yield = function_.body().yield;
    return std::any_of(value.uses().begin(), value.uses().end(), [&](const Use& use) { return use.user == yield; });
  }

  /// Returns a text that is equal for equal ops; empty if the op must not be merged with another.
  static std::string key_of(const Op& op) {
    switch (op.kind) {
      case OpKind::kConstant:
        return constant_key(*op.constant);
      case OpKind::kShape:
      case OpKind::kPrim:
        return number_key(op);
      case OpKind::kOperator:
        return operator_key(op);
      default:
        return {};
    }
  }

  static std::string constant_key(const ConstantData& data) {
    if (data.byte_size() > kMostCompared) return {};
    std::string key = fmt::format("const {} [{}] ", to_string(data.dtype()), fmt::join(data.shape(), ","));
    data.with_bytes([&](std::span<const std::byte> bytes) {
      key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return key;
  }

  static std::string number_key(const Op& op) {
    std::string key = op.kind == OpKind::kShape ? "shape" : "prim";
    if (!op.operands().empty() || !op.binds.empty()) return {};
    if (const auto* shape = op.result()->info->as<ShapeInfo>()) {
      if (!shape->dims) return {};
      for (arith::Expr dim : *shape->dims) key += fmt::format(" {}", dim->id);
      return key;
    }
    const auto* prim = op.result()->info->as<PrimInfo>();
    if (prim == nullptr || !prim->value) return {};
    return key + fmt::format(" {} {}", to_string(prim->dtype), prim->value->id);
  }

  static std::string operator_key(const Op& op) {
    if (!op.def->pure || !op.binds.empty() || !op.regions.empty()) return {};
    std::string key(op.def->name.text());
    bool of_tensor = false;
    for (const Value* operand : op.operands()) {
      of_tensor |= operand != nullptr && operand->info->as<TensorInfo>() != nullptr;
      key += operand == nullptr ? " -" : fmt::format(" {}", operand->id);
    }
    if (!of_tensor) return {};
    for (const auto& [name, value] : op.attrs.all()) key += fmt::format(" {}={}", name, attr_text(value));
    return key;
  }

  Function& function_;
  std::unordered_map<std::string, Op*> known_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> common_subexpressions(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Elimination(*function).run();
  return changed;
}

}  // namespace relaxc
