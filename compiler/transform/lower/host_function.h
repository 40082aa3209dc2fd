// host_function.h: one Relax function as a host prim func: its shape program and its calls.
//
// The pass lower_functions makes one of these for each function, callees first. What a Relax value is in TIR is a Slot;
// what is known of symbols is kept in Symbols; statements gather in Steps, one list for each region.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"
#include "compiler/transform/lower/host/memory.h"
#include "compiler/transform/lower/host/values.h"

namespace relaxc::lower {

using relax::ConstantRef;
using relax::Info;
using relax::Op;
using relax::Region;
using relax::Value;

/// Who calls a host function: other host functions (and the outside, if that makes no difference), or the outside
/// alone, which gives memory for all results but no heap.
enum class Form : uint8_t { kShared, kEntry };

class HostFunction {
 public:
  HostFunction(Shared& shared, relax::Function& function, Form form);
  /// Adds the prim funcs to the module and, for a public function, the entry to the object. A public function that
  /// needs the heap has a form of its own for the outside; `entry_is_missing` says that this was not it.
  Status run();
  /// For a function that calls itself, before any in its circle is lowered: what callers need to know of it.
  Status announce();
  bool entry_is_missing() const { return form_ == Form::kShared && !function_.is_private && heap_.is_needed(); }

 private:
  struct Input {
    std::string name;
    Info info = nullptr;
    BufferRef buffer = nullptr;
    const Value* value = nullptr;  ///< the parameter; null for a field of a tuple
    int32_t pair = -1;
    int32_t append_axis = -1;
  };
  struct Output {
    std::string name;
    Value* value = nullptr;  ///< of which it is `slot_path`'s leaf
    std::vector<size_t> path;
    Info info = nullptr;
    BufferRef buffer = nullptr;
    size_t first_dim = 0;  ///< in out_dims
    int32_t pair = -1;
    int32_t append_axis = -1;  ///< of a state that grows: its rows so far are the first of it
  };
  // host_entry.cpp: parameters, symbols, the prim func itself.
  Slot add_parameter(const std::string& name, Info info);
  Status check_known();
  Status add_symbols();
  void add_symbols_of(const Input& input, std::vector<Var>& sourced);
  void read_scalar(const Input& input);
  void add_value_symbols(Op& op);
  void add_called_symbols(const Op& op);
  void add_trip_count(Op& op);
  void make_outputs();
  void publish(tir::Stmt body);
  tir::PrimFunc host_prim_func(const std::string& name, tir::Stmt body);
  bool is_recursive() const { return form_ == Form::kShared && shared_.recursive.count(function_.name) != 0; }
  // host_recursion.cpp
  tir::PrimFunc in_frame(const std::string& name, const std::string& body);
  Info known(Info info) const;

  // host_interface.cpp: the entry's records and its shape program.
  void add_entry(const std::string& call);
  std::string add_shapes();
  std::string add_arena();
  std::string add_values();
  BufferRef ask_shape_function(const ValueSymbol& value, const std::vector<Expr>& asked, tir::Scope scope,
                               Steps& steps);
  interface::Tensor describe(const std::string& name, Info info, BufferRef buffer) const;
  interface::Symbol describe(Var symbol) const;
  void give_quantizations(interface::Entry& entry) const;

  // host_results.cpp: where results are written.
  void list_outputs();
  /// The dims under which the caller sees an output: a shape is a vector, a scalar has none.
  std::vector<Expr> output_dims(const Output& output) const;
  void flatten_result(Value& value, Info info, std::vector<size_t> path, const std::string& name);
  std::optional<int32_t> append_axis(const Input& input, const Output& output) const;
  Status pair_states();
  bool may_write_early(size_t output, const Op& producer) const;
  const Op* can_write(Value& value, const Region& region) const;
  void promise(Value& value, BufferRef target);
  void choose_destinations();
  void require_capacity(const Output& output, const std::vector<Expr>& shape);
  Status write_output(Output& output, const Slot& from);
  Status write_outputs();

  // host_function.cpp: regions and the ops that are no calls.
  Status lower_region(const Region& region);
  Status lower_op(Op& op);
  Status lower_kind(Op& op);
  Status lower_constant(Op& op);
  Status lower_view(Op& op);
  Status lower_part(Op& op);
  Status lower_host_op(Op& op);
  Status lower_shape_function(Op& op);

  // host_parts.cpp: concatenations whose operands are written where they belong.
  struct Part {
    Op* concat = nullptr;
    Expr byte_offset;
  };
  void choose_parts(const Region& region);
  BufferRef whole_of(Op& concat);
  BufferRef produce_part(const Value& value);
  Status lower_concat(Op& op);

  // host_match.cpp
  struct Match;
  Status lower_match_cast(Op& op);
  Status list_matches(const Op& op, const Slot& from, Info known, Info wanted, std::vector<Match>& out);
  void require_match(const Match& match);
  Slot seen_fields(const Slot& from, Info known, Info wanted);

  // host_call.cpp
  struct KernelCall;
  Status call_tir(Op& op);
  Status check_arity(const Op& op, const KernelCall& call);
  Status solve_symbols(const Op& op, KernelCall& call);
  Status pass_arguments(Op& op, KernelCall& call);

  // host_external.cpp
  Status call_external(Op& op);
  Status open_object(Op& op);
  BufferRef result_words(const std::string& name, DType dtype, size_t rank);
  BufferRef found_tensor(BufferRef words, const std::string& name, DType dtype, const std::vector<Expr>& shape);

  void bind_results(Op& op, const std::vector<Value*>& results, const std::vector<BufferRef>& raw,
                    const std::vector<BufferRef>& bound_values);

  // host_effect.cpp
  Status lower_assert(Op& op);
  Status lower_print(Op& op);
  BufferRef shown(const Value& value);
  bool may_take(const Value* value, const Op& op) const;
  void take_places(Op& op);
  static std::vector<const Value*> placed_operands(const Op& op);
  static std::vector<Value*> fresh_results(const Op& op);
  Status call_inplace(Op& op);

  // host_function_call.cpp
  struct FunctionCall;
  Status call_function(Op& op);
  void list_arguments(const Op& op, FunctionCall& call);
  Status solve_arguments(const Op& op, FunctionCall& call);
  Status read_values(const Op& op, FunctionCall& call);
  void require_declared(FunctionCall& call);
  void make_room(const Op& op, FunctionCall& call);
  BufferRef frame_of(const FunctionCall& call);
  void invoke_function(FunctionCall& call);
  void bind_called(const Op& op, FunctionCall& call);

  // host_control.cpp
  /// Where a branch or an iteration leaves the values of symbols.
  struct Cells {
    BufferRef indices = nullptr;
    std::vector<std::pair<BufferRef, size_t>> places;  ///< of each symbol: its own memory, or where in `indices`
  };
  struct Bounds;
  Status lower_if(Op& op);
  Status lower_branch(const Op& op, const Region& region, const std::vector<BufferRef>& targets, const Cells& cells,
                      Expr holds, tir::Stmt& body, Bounds& bounds);
  std::vector<bool> tell_targets(const Region& region, const std::vector<BufferRef>& targets);
  Expr joined_number(const Op& op, const Region& region, Var symbol);
  static bool is_extent(const Op& op, Var symbol);
  Cells make_cells(const std::string& name, const std::vector<Var>& symbols, size_t more);
  void alloc_cells(const Cells& cells);
  Expr cell(const Cells& cells, size_t k);
  tir::Stmt set_cell(const Cells& cells, size_t k, Expr value);
  // host_loop.cpp
  struct Carried;
  struct LoopState;
  Status lower_loop(Op& op);
  Expr trip_count(const Op& op);
  void carry_symbols(const Op& op, LoopState& loop);
  Expr bound_of_carried(const Op& op, const LoopState& loop, Var var, Expr initial, Expr next);
  bool replaces(const Op& op, size_t k) const;
  Status reserve_carried(const Op& op, LoopState& loop);
  void claim_carried(const Value& first, const Value& argument, Carried& value);
  Status reserve_scans(const Op& op, LoopState& loop);
  Status lower_loop_body(const Op& op, LoopState& loop, tir::Stmt& body);
  void loop_results(const Op& op, LoopState& loop);

  /// The guards of the entry on the sizes of its inputs and outputs, in `body`.
  void add_size_guards(std::vector<tir::Stmt>& body);
  void guard_size(const std::vector<Expr>& shape, DType dtype, int32_t tensor, arith::Facts& known,
                  std::vector<tir::Stmt>& body);

  /// The buffer that the producer of `value` writes: its destination, or a new one.
  BufferRef produce(const Value& value);
  Context& context() const { return shared_.module.context(); }
  Diagnostics& diag() const { return shared_.context.diag; }

  Shared& shared_;
  relax::Function& function_;
  Form form_;
  InsertionPoint at_;
  tir::Builder& build_;
  Origins origins_;
  ShapeProgram shapes_;
  Symbols& symbols_;
  Heap heap_;
  Memory memory_;
  Values values_;
  std::map<const Value*, BufferRef> destinations_;
  std::map<const Value*, Part> parts_;  ///< values that are written where a concatenation wants them
  std::map<const Op*, BufferRef> wholes_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<ValueSymbol> read_values_;
  /// A number of a shape or scalar input that must be what another input, or the program, says.
  struct Repeated {
    Expr expected;
    Var read;
    int32_t input = -1, axis = -1;
  };
  std::vector<Repeated> repeated_;
  std::map<const Op*, Var> trip_counts_;  ///< of loops whose trip count is an input
  /// Symbols that a callee reads from an argument that is an input of ours, under our own name.
  std::map<std::pair<const Op*, size_t>, Var> called_values_;
  BufferRef arena_ = nullptr, out_dims_ = nullptr;
  size_t num_out_dims_ = 0;
};

}  // namespace relaxc::lower
