// rewrite.h: local rules over a graph, run until none applies.
#pragma once

#include <span>

#include "compiler/relax/builder.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// What a rule sees: an op with one tensor or tuple result, and a builder that is before it.
struct Site {
  relax::Op& op;
  relax::GraphBuilder& builder;
  const arith::Facts& facts;

  relax::Value* in(size_t index = 0) const { return op.operand(index); }
  relax::Value* out() const { return op.result(); }
  /// The operator that made operand `index`, if it is a call of `name`.
  relax::Op* producer(size_t index, relax::OpName name) const;
  bool same_shape(const relax::Value& a, const relax::Value& b) const;
  /// Whether `value` has the dtype and shape of the result.
  bool like_result(const relax::Value& value) const;
  /// An operator on operands that the rule knows to fit, named like the result. Attributes it does not give
  /// have their defaults.
  relax::Value* make(relax::OpName name, std::vector<relax::Value*> operands, relax::Attrs attrs = {}) const;
};

/// The value that can stand for the op's result, or null. What it makes is left to dead_code if it gives null.
using Rule = relax::Value* (*)(const Site&);

/// Applies the first rule that fits to every op, and again to what it touched. Leaves dead ops behind.
Changed rewrite_ops(relax::Module& module, relax::Function& function, PassContext& context,
                    std::span<const Rule> rules);

/// The operator that made the value, if it is a call of `name`; null for anything else, and for no value.
relax::Op* producer_of(const relax::Value* value, relax::OpName name);
/// The data of a constant; null for anything else.
relax::ConstantRef constant_of(const relax::Value* value);
/// The number that all elements of a constant of a float or integer dtype are; nothing if they differ or there are
/// none, or more than 64 KiB of them.
std::optional<double> uniform_value(const relax::Value* value);
/// Numbers that are known when compiling; nothing if one is not.
std::optional<std::vector<int64_t>> numbers_of(const std::vector<arith::Expr>& dims);
/// Says that results of `function` may now differ from the source's in their last bits.
void mark_rounding(relax::Function& function);

}  // namespace relaxc
