// interpret_frame.h: one call of one function, as the interpreter runs it.
//
// A value is the list of its leaves (a tuple's fields flattened; a shape is a vector of int64, a scalar a tensor of
// rank 0, a function a closure). Symbols have their values in an environment of the call; an op that binds symbols
// overwrites them, so loop bodies need no scopes of their own.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "compiler/relax/interpret.h"
#include "compiler/relax/interpret_symbols.h"
#include "compiler/support/status_code.h"

namespace relaxc::relax::interpreter {

/// A function as a value: one leaf, which is not a tensor but travels as one.
struct Closure : HostTensor {
  const Function* function = nullptr;
  Parts captured;
};

/// How many leaves a value of this info has.
size_t leaves(Info info);
Part vector_of(const std::vector<int64_t>& values);
std::vector<int64_t> values_of(const HostTensor& t);
/// The address of a tensor's elements; never null.
void* address(const HostTensor& t);
/// A number as the environment holds it: an integer, or the bits of a double for floats.
int64_t cell_of(const HostTensor& t);
Part part_of(DType dtype, int64_t cell);
/// An operand as an external function is given it.
void add_arguments(const Parts& parts, Info info, std::vector<tir::ExternalArg>& args);
/// What an op is called in a fault.
std::string label(const Op& op);
/// Leaves of an operand: tensors, and scalars of shapes and prims.
void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars);
/// The tensor infos of a result, tuples flattened.
void collect_tensors(Info info, std::vector<const TensorInfo*>& out);

/// What runs share: the program, and what was made of its operators.
struct Program {
  Module& module;
  const OpTable& table;
  tir::Evaluator& evaluator;
  const tir::CallExternal& external;
  int64_t budget;  ///< what repetitions may still take
  std::unordered_map<const Op*, tir::PrimFunc> definitions;
  std::unordered_map<const Op*, std::unique_ptr<Function>> expansions;
};

/// One call of one function.
class Frame {
 public:
  Frame(Program& program, int depth)
      : program_(program), depth_(depth), symbols_(program.module.context(), program.evaluator, fault_) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// A call in tail position takes this frame over, so that a loop written as recursion runs in constant stack.
  bool call(const Function& function, const Parts& inputs, Parts& outputs);
  const RunFault& fault() const { return fault_; }

 private:
  bool fail(int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
    return fail_with(fault_, code, std::move(text), expected, actual);
  }

  /// Pays for an iteration or a call that gets these values.
  bool take_turn(const Parts& given);
  bool enter(const Function& function, const Parts& inputs);
  bool run_region(const Region& region);
  bool run(const Op& op);
  bool run_shape(const Op& op);
  bool run_prim(const Op& op);
  bool run_tuple(const Op& op);
  bool run_tuple_get(const Op& op);
  bool run_operator(const Op& op);
  bool run_definition(const Op& op);
  bool run_expansion(const Op& op);
  bool run_call_tir(const Op& op);
  bool run_make_closure(const Op& op);
  bool run_call(const Op& op);
  bool run_call_closure(const Op& op);
  bool run_call_of(const Op& op, const Function& function, Parts inputs);
  std::vector<tir::ExternalArg> external_arguments(const Op& op);
  bool run_external(const Op& op);
  bool run_match_cast(const Op& op);
  bool take_result(const Op& op, Info info, const tir::ExternalResult& result, Parts& outputs);
  bool run_shape_function(const Op& op);
  bool run_inplace(const Op& op);
  bool call_inplace(const Op& op, const Parts& tensors, const std::vector<int64_t>& scalars,
                    std::vector<std::shared_ptr<HostTensor>>& fresh);
  bool run_assert(const Op& op);
  bool run_print(const Op& op);
  bool run_if(const Op& op);
  bool run_loop(const Op& op);
  struct PrimCall;
  bool solve_symbols(PrimCall& call);
  bool make_buffers(PrimCall& call);
  bool run_prim_func(PrimCall& call);
  bool bind_results(PrimCall& call);

  bool allocate(const TensorInfo& info, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out,
                const std::string& what);
  const Parts& parts(const Value* value) const {
    auto it = values_.find(value);
    RELAXC_CHECK(it != values_.end(), "'" + value->name + "' is used before it has a value");
    return it->second;
  }
  bool flag(const Value* value) const { return decode_integer(parts(value)[0]->dtype, parts(value)[0]->bytes.data()); }
  /// Gives the results of an op their leaves, binding its symbols.
  bool set_results(const Op& op, const Parts& all);
  bool hold_declared(const Op& op);

  Program& program_;
  int depth_;
  const Function* function_ = nullptr;  ///< whose body runs
  const Function* next_ = nullptr;      ///< called in tail position
  Parts next_inputs_;
  std::unordered_map<const Value*, Parts> values_;
  RunFault fault_;
  SymbolValues symbols_;
};

}  // namespace relaxc::relax::interpreter
