// host_function.h: one Relax function as a host prim func: its shape program and its calls.
//
// The pass lower_functions makes one of these for each function, callees first. What a Relax value is in TIR is a Slot;
// what is known of symbols is kept in Symbols; statements gather in Steps, one list for each region.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"
#include "compiler/support/status_code.h"
#include "compiler/transform/lower/steps.h"
#include "compiler/transform/lower/symbols.h"
#include "compiler/transform/lower/weights.h"
#include "compiler/transform/pass.h"

namespace relaxc::lower {

using arith::Context;
using arith::Expr;
using arith::Var;
using relax::ConstantRef;
using relax::Info;
using relax::Op;
using relax::Region;
using relax::Value;
using tir::BufferRef;

/// What a Relax value is in the host function. A shape or an index scalar is what its struct info says and needs none.
struct Slot {
  BufferRef buffer = nullptr;  ///< of a tensor
  std::vector<Slot> fields;    ///< of a tuple
};

/// An entry symbol that no dim gives.
struct ValueSymbol {
  Var var;
  BufferRef buffer = nullptr;  ///< the input that it is an element of …
  int64_t element = 0;
  Op* function = nullptr;        ///< … or the shape function that gives it,
  std::vector<Expr> asked = {};  ///< of these numbers, in entry symbols
};

/// How a lowered function is called.
struct HostCallee {
  const relax::Function* function = nullptr;
  std::string name;                        ///< of the host prim func
  std::vector<Var> symbols;                ///< the scalars that it takes, in order
  std::vector<ValueSymbol> values;         ///< those of them that no dim of an argument is
  std::vector<BufferRef> inputs;           ///< leaves of the parameters
  std::set<BufferRef> read;                ///< those of them that the body names
  std::vector<Info> outputs;               ///< leaves of the result
  std::vector<tir::Guard> guards;          ///< what must hold of its symbols
  std::vector<Expr> bounds;                ///< all dims of all outputs, data-dependent ones by their bound (null: none)
  std::vector<std::vector<Expr>> numbers;  ///< of each output that is no tensor: bounds of what it says (null: none)
  bool needs_heap = false;                 ///< takes the run's heap after `out_dims`

  /// Whether output `index`, whose dims begin at `first_dim`, is claimed from the heap: its parameter is a block then.
  bool claims(size_t index, size_t first_dim) const;
};

/// Who calls a host function: other host functions (and the outside, if that makes no difference), or the outside
/// alone, which gives memory for all results but no heap.
enum class Form : uint8_t { kShared, kEntry };

/// What calls of kernels, assertions and guards are known by outside: places in an entry's table.
class NodeNames {
 public:
  int32_t number(const std::string& name) {
    auto [known, fresh] = numbers_.emplace(name, static_cast<int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return known->second;
  }
  int32_t kernel(const std::string& name) {
    kernels_.insert(name);
    return number(name);
  }
  const std::vector<std::string>& names() const { return names_; }
  size_t num_kernels() const { return kernels_.size(); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t> numbers_;
  std::set<std::string> kernels_;
};

/// What lowering one module shares between its functions.
struct Shared {
  relax::Module& module;
  PassContext& context;
  interface::Object& object;
  WeightLayout weights = {};
  std::map<std::string, HostCallee> callees = {};  ///< by the Relax function's name
  NodeNames nodes = {};                            ///< of functions that call each other: one run sees them all
  std::map<std::string, std::string> copies = {};  ///< prim funcs that copy, by what they copy
  std::set<std::string> recursive = {};            ///< functions that call themselves, directly or not
  std::map<std::string, std::string> bodies = {};  ///< of functions that call themselves: their second prim func
  std::map<std::string, ConstantRef> texts = {};   ///< what R.print writes between values
  BufferRef weights_buffer = nullptr;              ///< the parameter `weights` of every host function
};

/// The texts of a kPrint, made once for each text.
std::vector<ConstantRef> print_texts(Shared& shared, const Op& op);

/// How many leaves a value of this info has: tuples flattened.
size_t leaf_count(Info info);

/// A call that copies what `to` has room for, by a prim func that the module gets.
tir::Invoke copy_call(Shared& shared, BufferRef from, BufferRef to);

/// Whether the op gives the bytes of its operand under another type.
bool is_view(const Op& op);
/// Whether a value is an opaque object: a tensor of rank 0 and dtype handle, once lowering has begun.
bool is_handle(const Value& value);
/// Whether the op is a match_cast of an object to what it holds.
bool opens_object(const Op& op);

class HostFunction {
 public:
  HostFunction(Shared& shared, relax::Function& function, Form form);
  /// Adds the prim funcs to the module and, for a public function, the entry to the object. A public function that
  /// needs the heap has a form of its own for the outside; `entry_is_missing` says that this was not it.
  Status run();
  /// For a function that calls itself, before any in its circle is lowered: what callers need to know of it.
  Status announce();
  bool entry_is_missing() const { return form_ == Form::kShared && !function_.is_private && heap_ != nullptr; }

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
  tir::PrimFunc host_prim_func(const std::string& name, tir::Stmt body) const;
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
  int32_t our_symbol(Expr e) const;
  /// The record of a relation between symbols: the sides, if it is a comparison.
  tir::Guard relation(Expr condition) const;
  void make_room(const Op& op, FunctionCall& call);
  BufferRef frame_of(const FunctionCall& call);
  void invoke_function(FunctionCall& call);
  void bind_called(const Op& op, FunctionCall& call);
  BufferRef in_memory(Info info, DType dtype, bool read);

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
  void swap_blocks(BufferRef a, BufferRef b);
  Status reserve_scans(const Op& op, LoopState& loop);
  Status lower_loop_body(const Op& op, LoopState& loop, tir::Stmt& body);
  void loop_results(const Op& op, LoopState& loop);

  // host_heap.cpp: memory that is asked for while running.
  BufferRef heap();
  BufferRef block_buffer(const std::string& name);
  /// Words of a block: of one that has memory, and of one that has none yet.
  BufferRef claimed_block(const std::string& name, Expr bytes);
  BufferRef empty_block(const std::string& name);
  tir::Stmt reserve(BufferRef block, Expr keep, Expr bytes);
  tir::Stmt release(BufferRef block);
  Expr block_word(BufferRef block, int64_t word);
  /// What lies in a block, from here to the end of the region …
  BufferRef view_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape,
                       Expr byte_offset = {});
  /// … and is released after its last use.
  BufferRef own_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape);
  BufferRef claim(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  Expr bytes_of(DType dtype, const std::vector<Expr>& shape);
  /// `body` with `block` for the memory of `room`, as large as each view of it.
  tir::Stmt claim_views(tir::Stmt body, BufferRef room, BufferRef block);
  tir::Stmt with_own_heap(tir::Stmt body);

  // What the parts share.
  Slot& slot(const Value& value) { return slots_[&value]; }
  BufferRef buffer(const Value& value);
  std::vector<Expr> dims(Info info) const { return symbols_.known(relax_dims(info)); }
  static std::vector<Expr> relax_dims(Info info);
  /// What an info says in numbers: dims, or a scalar's value.
  static std::vector<Expr> numbers(Info info);
  Expr scalar(const Value& value);
  Expr truth(const Value& value);
  // host_sizes.cpp: every product of dims is made here. Where it does not fit int64 the function leaves with a status,
  // as its overflow code says.
  /// None of the dims is negative from here on.
  void require_extents(const std::vector<Expr>& shape);
  /// The number of elements of a tensor of these dims, which are required to be extents.
  Expr elements_of(const std::vector<Expr>& shape);
  /// The same of dims that need not have values yet: for a bound alone.
  Expr product_of(const std::vector<Expr>& shape);
  /// The guards of the entry on the sizes of its inputs and outputs, in `body`.
  void add_size_guards(std::vector<tir::Stmt>& body);
  void guard_size(const std::vector<Expr>& shape, DType dtype, int32_t tensor, arith::Facts& known,
                  std::vector<tir::Stmt>& body);

  /// A buffer of these dims, from here to the end of the region: in the arena by the bound of what depends on data, or
  /// claimed from the heap where there is none.
  BufferRef allocate(const std::string& name, DType dtype, const std::vector<Expr>& shape);
  /// The buffer that the producer of `value` writes: its destination, or a new one.
  BufferRef produce(const Value& value);
  BufferRef view_as(BufferRef base, const std::string& name, DType dtype, std::vector<Expr> shape,
                    Expr byte_offset = {});
  BufferRef seen_as(BufferRef output, const std::string& name, const std::vector<Expr>& shape);
  void copy(BufferRef from, BufferRef to);
  /// Whether `buffer` is `base` or a view of it.
  bool aliases(BufferRef buffer, BufferRef base) const;
  /// A guard of the entry, or a statement here if `condition` depends on data or on being reached.
  /// A guard, unless `condition` is known to hold. `found` is said of it at the current op if the record alone does not
  /// say where it is.
  void require(Expr condition, tir::Guard record, const Found& found);
  void require_named(Expr condition, tir::Guard record, const std::string& text);
  void require_equal(Expr expected, Expr actual, size_t axis, const Found& found);
  /// A guard at this place, come what may.
  void add_guard(tir::Guard record, const Found& found);
  /// The current op as messages name it, or the function.
  std::string here() const;
  /// That a dim of `tensor` is what it is not.
  static Found exact_dim(size_t axis, const std::string& tensor = {});
  /// For calls that may fail in themselves: where that is.
  int32_t node_of_call() { return nodes_.number(here()); }
  int32_t node_of_kernel(const Op& op, const tir::PrimFunc& kernel);
  int32_t node_of(const Found& found) { return nodes_.number(here() + ": " + sentence(found)); }
  /// `is_size`: it is not negative.
  void bind_from_data(Var var, Expr value, Expr upper_bound, bool is_size = true);
  void require_room(Expr elements, Expr capacity);
  void guard_declared(Var var, bool is_size);
  Context& context() const { return shared_.module.context(); }
  Diagnostics& diag() const { return shared_.context.diag; }

  Shared& shared_;
  relax::Function& function_;
  Form form_;
  tir::Builder build_;
  Symbols symbols_;
  std::map<const Value*, Slot> slots_;
  std::map<const Value*, BufferRef> destinations_;
  std::map<const Value*, Part> parts_;  ///< values that are written where a concatenation wants them
  std::map<const Op*, BufferRef> wholes_;
  std::unordered_set<Expr> extents_;      ///< dims that are not negative wherever they are known
  std::map<BufferRef, BufferRef> bases_;  ///< of views
  std::map<BufferRef, Expr> capacities_;  ///< elements of destinations that may prove too small
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<ValueSymbol> values_;
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
  std::vector<std::pair<BufferRef, uint64_t>> constants_;
  std::vector<tir::Guard> guards_;
  NodeNames own_nodes_;
  NodeNames& nodes_;  ///< its own, if it is all that its entry runs
  Steps* steps_ = nullptr;
  const Op* op_ = nullptr;     ///< which is being lowered
  int depth_ = 0;              ///< regions around the current one
  bool after_effect_ = false;  ///< something may have happened that the caller can see
  BufferRef arena_ = nullptr, out_dims_ = nullptr;
  BufferRef heap_ = nullptr;  ///< null: nothing is claimed
  size_t num_out_dims_ = 0;
};

}  // namespace relaxc::lower
