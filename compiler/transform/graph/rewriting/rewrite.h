// rewrite.h: local rewrite rules, applied to a graph until none matches.
#pragma once

#include <span>

#include "compiler/relax/builder.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// What a rule gets: an op with one tensor or tuple result, and a builder that inserts before it.
struct Site {
  relax::Op& op;
  relax::GraphBuilder& builder;
  const arith::Facts& facts;

  relax::Value* in(size_t index = 0) const { return op.operand(index); }
  relax::Value* out() const { return op.result(); }
  /// Returns the operator that computes operand `index`, if it is a call of `name`; else null.
  relax::Op* producer(size_t index, relax::OpName name) const;
  bool same_shape(const relax::Value& a, const relax::Value& b) const;
  /// Whether `value` has the dtype and shape of the result.
  bool like_result(const relax::Value& value) const;
  /// Returns the result of a new operator on operands that the rule knows to fit, named like the op's result.
  /// Attributes that are not given have their defaults.
  relax::Value* make(relax::OpName name, std::vector<relax::Value*> operands, relax::Attrs attrs = {}) const;
};

/// Returns a value that replaces the op's result, or null. If null, ops that the rule made are left to dead_code.
using Rule = relax::Value* (*)(const Site&);

/// Applies the first rule that matches to every op, and again to ops that this affects. Leaves dead ops behind.
Changed rewrite_ops(relax::Module& module, relax::Function& function, PassContext& context,
                    std::span<const Rule> rules);

/// Returns the operator that computes the value, if it is a call of `name`; else, or if `value` is null, null.
relax::Op* producer_of(const relax::Value* value, relax::OpName name);
/// Returns the data of a constant; null for any other value.
relax::ConstantRef constant_of(const relax::Value* value);
/// Returns the number that all elements of a constant of a float or integer dtype have; nothing if they differ, or
/// there are none or more than 64 KiB of them.
std::optional<double> uniform_value(const relax::Value* value);
/// Returns dims as numbers; nothing if one is not known when compiling.
std::optional<std::vector<int64_t>> numbers_of(const std::vector<arith::Expr>& dims);
/// Records that results of `function` may differ from the source's in their last bits.
void mark_rounding(relax::Function& function);

}  // namespace relaxc
