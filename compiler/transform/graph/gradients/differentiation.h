// differentiation.h: reverse mode over the ops of a function, and over those of its branches and loops.
//
// A branch becomes a branch on the same condition, each of whose sides computes its ops again and then the derivatives
// of what it reads from outside. A loop becomes one that runs from the last step to the first: the first loop stores
// what it carries at each step (a scan output), the second reads it back, computes the step again, and carries the
// derivatives of the carried values and the sums of those of what it reads from outside. Of a tensor of which step i
// reads row i, as recurrent layers read a sequence, the rows of the derivative are stacked and not summed, so that a
// step does not pass over the whole tensor.
//
// Tried: to keep all that a step computes for the second loop. It takes as many tensors as the step has ops, where what
// is carried is one or two, and a step is cheap next to its derivatives.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/relax/builder.h"
#include "compiler/relax/copy.h"
#include "compiler/transform/passes.h"

namespace relaxc::gradients {

/// The derivative by a value: of a tensor, or of the fields of a tuple; null where it is 0.
struct Adjoint {
  relax::Value* tensor = nullptr;
  std::vector<Adjoint> fields = {};
  bool none() const;
};

bool is_float_tensor(const relax::Value& value);
/// Returns the operands of ops in the op's regions, and the results of these.
std::vector<relax::Value*> values_read_inside(const relax::Op& op);

class Differentiation {
 public:
  /// \param original  the function that is differentiated, for messages
  /// \param adjoint   its copy, to which the derivatives are added
  Differentiation(relax::Module& module, const relax::Function& original, relax::Function& adjoint,
                  PassContext& context)
      : module_(module), original_(original), function_(adjoint), context_(context) {}

  /// Appends the derivatives of `target` by `parameters` to the function and makes them its results.
  Status run(relax::Value& target, const std::vector<relax::Value*>& parameters);

 private:
  using Adjoints = std::unordered_map<const relax::Value*, Adjoint>;
  struct Loop;

  relax::Block* last_block();
  /// Returns the operands of the op, of ops in its regions, and the results of these.
  static std::vector<relax::Value*> read_values(const relax::Op& op);
  bool reads_active(const relax::Op& op) const;
  /// Adds what the ops compute from active values to these.
  void mark(const std::vector<relax::Op*>& ops);
  /// Adds the derivatives by the operands of the ops, from the last to the first.
  Status sweep(relax::GraphBuilder& builder, const std::vector<relax::Op*>& ops);
  /// Adds the derivatives by the operands of one op, of whose results they are known.
  Status propagate(relax::GraphBuilder& builder, relax::Op& op);
  Status through_operator(relax::GraphBuilder& builder, const relax::Op& op, const std::vector<Adjoint>& by_results);
  /// A cast only says more of a shape, so the derivative gets the shape that is known of the operand.
  Status through_cast(relax::GraphBuilder& builder, const relax::Op& op, const Adjoint& by_result);
  Status through_branch(relax::GraphBuilder& builder, const relax::Op& op, const std::vector<Adjoint>& by_results);
  Status through_loop(relax::GraphBuilder& builder, relax::Op& op, const std::vector<Adjoint>& by_results);

  /// Returns the active values from outside that the op's regions read, each once; null if one is no tensor of a known
  /// shape.
  std::optional<std::vector<relax::Value*>> captured(const relax::Op& op) const;
  Result<relax::Value*> zeros(relax::GraphBuilder& builder, const relax::Value& like);
  /// Differentiates one side of a branch: the region `to` gives the derivatives by `outer`.
  Status sweep_side(const relax::Region& from, relax::Region* to, const std::vector<relax::Value*>& outer,
                    const std::vector<Adjoint>& by_results);
  /// Adds the loop that computes the derivatives, without ops.
  Status begin_backward(relax::GraphBuilder& builder, const relax::Op& op, Loop& loop);
  /// Appends the loop's carried values to its scan outputs, and reads them back for the step `now`.
  Status restore_carried(relax::GraphBuilder& builder, relax::Op& op, Loop& loop);
  Status sweep_step(relax::GraphBuilder& builder, const relax::Op& op, Loop& loop);
  /// Gives the derivatives that the step found to the next one, and stacks rows.
  Status finish_step(relax::GraphBuilder& builder, Loop& loop);
  Status add_results(relax::GraphBuilder& builder, const relax::Op& op, const Loop& loop);

  Status refuse(const relax::Op& op, std::string_view what = "");
  /// After an error at the op: what it reads gets a derivative, of the right type but no meaning, so that the ops
  /// before it are looked at as well.
  Failure pass_on(const relax::Op& op);
  Status add(relax::GraphBuilder& builder, const relax::Value* value, const Adjoint& more);
  Status sum(relax::GraphBuilder& builder, Adjoint& into, const Adjoint& more);
  /// Makes the function return (results, (derivatives)).
  Status give_results(relax::GraphBuilder& builder, const std::vector<relax::Value*>& parameters);

  relax::Module& module_;
  const relax::Function& original_;
  relax::Function& function_;
  PassContext& context_;
  std::unordered_set<const relax::Value*> active_;  ///< values that depend on a parameter and can have a derivative
  Adjoints adjoints_;                               ///< by the values of the region whose ops are passed
  Loop* step_ = nullptr;                            ///< the loop whose step is passed
};

}  // namespace relaxc::gradients
