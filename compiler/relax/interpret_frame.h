// interpret_frame.h: runs one call of one function: selects and executes its ops.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/relax/interpret_external.h"
#include "compiler/support/status_code.h"

namespace relaxc::relax::interpreter {

/// A value of an algebraic data type that has fields.
struct Node {
  int64_t tag = 0;
  Parts fields;
};

/// State that all calls of a run share: the program, nodes, and caches of definitions and expansions.
struct Program {
  Module& module;
  const OpTable& table;
  tir::Evaluator& evaluator;
  const tir::CallExternal& external;
  int64_t budget;  ///< left for iterations and calls
  std::unordered_map<const Op*, tir::PrimFunc> definitions;
  std::unordered_map<const Op*, std::unique_ptr<Function>> expansions;
  std::vector<Node> nodes;
};

/// One call of one function.
class Frame {
 public:
  Frame(Program& program, int depth)
      : program_(program),
        depth_(depth),
        values_(program.module.context(), program.evaluator),
        externals_(program.external, values_) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Runs the function. A call in tail position reuses this frame, so a loop written as recursion has constant depth.
  bool call(const Function& function, const Parts& inputs, Parts& outputs);
  const RunFault& fault() const { return values_.fault(); }

 private:
  /// Consumes budget for an iteration or a call with these values; false if it is exceeded.
  bool take_turn(const Parts& given);
  bool run_region(const Region& region);
  bool run(const Op& op);
  bool check(const Op& op);

  // interpret.cpp: values
  bool run_constant(const Op& op);
  bool run_shape(const Op& op);
  bool run_prim(const Op& op);
  bool run_tuple(const Op& op);
  bool run_tuple_get(const Op& op);
  bool run_match_cast(const Op& op);

  // interpret_operator.cpp
  bool run_operator(const Op& op);
  bool run_definition(const Op& op);
  bool bind_definition(const Op& op, const std::vector<int64_t>& bound_values,
                       const std::vector<std::shared_ptr<HostTensor>>& outputs);
  bool run_expansion(const Op& op);
  std::unique_ptr<Function> expanded(const Op& op);

  // interpret_nodes.cpp
  bool run_node(const Op& op);
  bool take_field(const Op& op, int64_t value);

  // interpret_call.cpp: calls of functions and prim funcs, closures, control flow
  bool run_call_tir(const Op& op);
  bool run_make_closure(const Op& op);
  bool run_call(const Op& op);
  bool run_call_closure(const Op& op);
  bool run_call_of(const Op& op, const Function& function, Parts inputs);
  bool run_if(const Op& op);
  bool run_loop(const Op& op);
  void begin_iteration(const Value* iteration, int64_t i);
  bool stack_scans(const Op& op, size_t first, const std::vector<Parts>& scans, Parts& all);

  // interpret_effect.cpp
  bool run_inplace(const Op& op);
  bool run_assert(const Op& op);

  Program& program_;
  int depth_;
  const Function* next_ = nullptr;  ///< the function to call in tail position
  Parts next_inputs_;
  FrameValues values_;
  ExternalCalls externals_;
};

}  // namespace relaxc::relax::interpreter
