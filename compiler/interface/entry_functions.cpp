// entry_functions.cpp: the functions that a program calls by name: the typed call, the arena's size, prim funcs.
//
// The typed call refers to no table, so that a static model links only its kernels and this function. It makes the
// checks that are cheap and protect memory that is not the caller's; pointers are not checked.
#include "compiler/interface/entry_functions.h"

#include <algorithm>

#include "compiler/interface/entry_steps.h"
#include "compiler/interface/layout.h"

namespace relaxc::interface {

using tir::Argument;
using tir::BufferRef;
using tir::Expr;

namespace {

size_t count_dims(const std::vector<Tensor>& tensors) {
  size_t count = 0;
  for (const Tensor& tensor : tensors) count += tensor.dims.size();
  return count;
}

Expr given(Expr address) {
  return ne(address, address.context().index(0));
}

Expr as_index(Expr value) {
  return cast(DType::index(), value);
}

/// Requires `needed` bytes of memory at `address`. `size` is how many there are; a null address counts as 0 bytes.
void check_memory(EntrySteps& s, Expr address, Expr size, Expr needed, Status status, int32_t axis) {
  Expr bytes = s.let("size", size);  // an unconditional load is less code than a branch around it
  Expr there = s.let("there", select(given(address), bytes, s.word(0)));
  s.require(ge(there, needed), status, {.axis = axis, .expected = as_index(needed), .actual = as_index(there)});
}

void check_alignment(EntrySteps& s, uint32_t align, Expr address, Status status, int32_t axis, Expr or_else = {}) {
  Expr mask = s.word(align - 1);
  Expr rest = s.let("rest", arith::call(arith::Intrinsic::k_bitwise_and, {cast(DType::u(64), address), mask}));
  Expr aligned = eq(rest, s.word(0));
  s.require(or_else ? logical_or(aligned, or_else) : aligned, status,
            {.axis = axis, .expected = s.index(align), .actual = as_index(rest)});
}

/// Builds the typed call of one entry.
class TypedCall {
 public:
  TypedCall(const Object& object, const Entry& entry, const std::vector<CallField>& fields,
            const tir::Record& arguments, tir::Context& context, tir::PrimFunc& function)
      : object_(object),
        entry_(entry),
        fields_(fields),
        c_function_(function.c_function),
        s_(context, function),
        context_(s_.records_param("context", described(Record::kContext))),
        args_(s_.records_param("args", arguments)) {}

  void make() {
    c_function_->context = context_;
    c_function_->is_global = c_function_->ties_runtime = true;
    s_.require(logical_and(given(s_.build().address(context_)), given(s_.build().address(args_))), kNullPointer);
    s_.report_to(field("error"));
    take_pointers();
    take_symbols();
    fill_dims();
    check_arena();
    check_pools();
    if (object_.weights.separate) check_weights();
    make_call();
    s_.finish();
  }

 private:
  Expr field(std::string_view name) { return s_.build().field(context_, name); }
  /// Loads a field by its place: a search by name would take quadratic time for all arguments.
  Expr argument(const CallField& field) {
    const auto i = static_cast<size_t>(&field - fields_.data());
    return s_.build().context().load(args_, tir::dtype_of(args_->record->fields[i].kind),
                                     {s_.index(0), s_.index(static_cast<int64_t>(i))});
  }

  void take_pointers() {
    for (const CallField& f : fields_) {
      if (f.kind == CallField::kInput)
        pointers_.push_back(s_.at_address(f.name, entry_.inputs[f.index].dtype, argument(f)));
      if (f.kind == CallField::kInput) ++inputs_;
      if (f.kind == CallField::kOutput)
        pointers_.push_back(s_.at_address(f.name, entry_.outputs[f.index].dtype, argument(f)));
    }
  }

  void take_symbols() {
    symbols_.resize(entry_.symbols.size());
    for (const CallField& f : fields_) {
      if (f.kind != CallField::kSymbol) continue;
      symbols_[f.index] = s_.let(f.name, as_index(argument(f)));
      s_.require_bounds(entry_, f.index, symbols_[f.index]);
    }
    if (!entry_.values.empty()) read_values();
  }

  void read_values() {
    BufferRef all = s_.words("symbols", symbols_.size());
    std::vector<Argument> args(pointers_.begin(), pointers_.begin() + static_cast<std::ptrdiff_t>(inputs_));
    for (size_t i = 0; i < symbols_.size(); ++i)
      if (symbols_[i]) s_.store(all, i, symbols_[i]), args.emplace_back(symbols_[i]);
    args.emplace_back(all);
    s_.call(entry_.values, std::move(args));
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i]) continue;
      symbols_[i] = s_.let(entry_.symbols[i].name, s_.load(all, i));
      s_.require_bounds(entry_, i, symbols_[i]);
    }
  }

  std::vector<Argument> with_symbols(std::vector<Argument> args) const {
    for (Expr symbol : symbols_) args.emplace_back(symbol);
    return args;
  }

  /// Calls `f` for the dims of each data-dependent output, with the index of the first dim and their number.
  template <typename F>
  void for_capacities(F f) {
    for (const CallField& field : fields_) {
      if (field.kind != CallField::kOutputDims) continue;
      const std::vector<Tensor> before(entry_.outputs.begin(), entry_.outputs.begin() + field.index);
      f(field, count_dims(entry_.inputs) + count_dims(before), entry_.outputs[field.index].dims.size());
    }
  }

  void fill_dims() {
    size_t at = count_dims(entry_.inputs);
    dims_ = s_.words("dims", at + count_dims(entry_.outputs));
    for (const Tensor& tensor : entry_.outputs)
      for (int64_t dim : tensor.dims)
        s_.store(dims_, at++,
                 dim >= 0           ? s_.index(dim)
                 : dim == INT64_MIN ? s_.index(0)
                                    : symbols_.at(static_cast<size_t>(-1 - dim)));
    if (!entry_.shapes.empty() && (!entry_.symbols.empty() || has_derived_dims(entry_))) {
      std::vector<Argument> args = with_symbols({});
      args.emplace_back(dims_);
      s_.call(entry_.shapes, std::move(args));
    }
    for_capacities([&](const CallField& field, size_t first, size_t rank) {
      capacities_.push_back(s_.at_address(field.name, DType::index(), argument(field)));
      if (rank > 0) s_.store(dims_, first, s_.load(capacities_.back(), 0));
    });
  }

  void check_arena() {
    Expr needed = s_.word(entry_.arena_max);
    const bool computed = !is_static(entry_) && !entry_.arena.empty();
    if (computed) {
      BufferRef bytes = s_.words("bytes", 1);
      std::vector<Argument> args = with_symbols({});
      args.emplace_back(bytes);
      s_.call(entry_.arena, std::move(args));
      needed = s_.let("needed", cast(DType::u(64), s_.load(bytes, 0)));
    }
    if (!computed && entry_.arena_max == 0) return;
    check_memory(s_, field("arena"), field("arena_bytes"), needed, kArenaSize, -1);
    check_alignment(s_, entry_.arena_align, field("arena"), kArenaAlignment, -1,
                    computed ? eq(needed, s_.word(0)) : Expr());
  }

  void check_pools() {
    auto needs = [](const Pool& pool) { return pool.bytes != 0; };
    if (std::none_of(entry_.pools.begin(), entry_.pools.end(), needs)) return;
    Expr number = s_.let("number", field("num_pools"));
    Expr none = number.context().imm(number.dtype(), 0);
    Expr count = s_.let("count", select(given(field("pools")), number, none));
    BufferRef pools = s_.records_at("pools", described(Record::kMemoryPool),
                                    s_.index(static_cast<int64_t>(entry_.pools.size())), field("pools"));
    for (size_t i = 0; i < entry_.pools.size(); ++i) {
      if (!needs(entry_.pools[i])) continue;
      const auto axis = static_cast<int32_t>(i);
      Expr bytes = s_.word(entry_.pools[i].bytes), place = s_.index(axis);
      s_.require(lt(number.context().imm(number.dtype(), axis), count), kPoolSize,
                 {.axis = axis, .expected = as_index(bytes), .actual = s_.index(0)});
      Expr data = s_.build().field(pools, place, "data");
      check_memory(s_, data, s_.build().field(pools, place, "bytes"), bytes, kPoolSize, axis);
      check_alignment(s_, entry_.arena_align, data, kPoolAlignment, axis);
    }
  }

  void check_weights() {
    check_memory(s_, field("weights"), field("weights_bytes"), s_.word(weights_file_bytes(object_.weights)),
                 kWeightsSize, -1);
  }

  void make_call() {
    std::vector<Argument> args(pointers_.begin(), pointers_.end());
    args.emplace_back(s_.at_address("arena", DType::u(8), field("arena")));
    for (const Argument& pool : s_.pools(entry_, context_)) args.push_back(pool);
    args.emplace_back(s_.weights(object_.weights, context_));
    constexpr int64_t kWord = 8;
    args.emplace_back(
        s_.within("out_dims", DType::index(), dims_, kWord * static_cast<int64_t>(count_dims(entry_.inputs))));
    s_.call(entry_.call, with_symbols(std::move(args)));
    auto capacity = capacities_.begin();
    for_capacities([&](const CallField&, size_t first, size_t rank) {
      for (size_t i = 0; i < rank; ++i) s_.store(*capacity, i, s_.load(dims_, first + i));
      ++capacity;
    });
  }

  const Object& object_;
  const Entry& entry_;
  const std::vector<CallField>& fields_;
  std::optional<tir::CFunction>& c_function_;
  EntrySteps s_;
  BufferRef context_, args_;
  std::vector<BufferRef> pointers_;  ///< to the inputs, then to the outputs
  size_t inputs_ = 0;
  std::vector<Expr> symbols_;
  BufferRef dims_ = nullptr;           ///< dims of all inputs (never read), then of all outputs
  std::vector<BufferRef> capacities_;  ///< capacities of data-dependent outputs, replaced by dims
};

}  // namespace

const EntryFunctions::Arguments& EntryFunctions::arguments(const Entry& entry) {
  Arguments& made = arguments_.emplace_back();
  made.name = entry_prefix(object_, entry) + "args";
  made.fields = call_fields(entry);
  for (const CallField& field : made.fields)
    made.layout.push_back(
        {field.name, field.kind == CallField::kSymbol ? tir::FieldKind::kI64 : tir::FieldKind::kPointer});
  made.record = {made.name, made.layout};
  return made;
}

tir::PrimFunc EntryFunctions::run(const Entry& entry) {
  tir::PrimFunc function;
  function.name = run_symbol(object_, entry);
  const Arguments& given = arguments(entry);
  TypedCall(object_, entry, given.fields, given.record, context_, function).make();
  return function;
}

std::optional<tir::PrimFunc> EntryFunctions::arena_bytes(const Entry& entry) {
  if (is_static(entry) || entry.arena.empty() || !entry.values.empty()) return std::nullopt;
  tir::PrimFunc function;
  function.name = arena_symbol(object_, entry);
  EntrySteps steps(context_, function);
  function.c_function->is_global = function.c_function->ties_runtime = true;
  std::vector<Argument> args;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    Expr symbol = steps.scalar_param(entry.symbols[i].name);
    args.emplace_back(symbol);
    steps.require_bounds(entry, i, symbol);
  }
  BufferRef bytes = steps.array_param("bytes", DType::u(64));
  args.emplace_back(steps.within("words", DType::index(), bytes, 0));
  steps.call(entry.arena, std::move(args));
  steps.finish();
  return function;
}

namespace {

const tir::PrimFunc& function_named(const Object& object, const std::string& name) {
  auto named = [&](const tir::PrimFunc* f) { return f->name == name; };
  auto found = std::find_if(object.functions.begin(), object.functions.end(), named);
  RELAXC_CHECK(found != object.functions.end(), "no prim func " + name);
  return **found;
}

/// Returns the arena of the context, after requiring that it is present, aligned and large enough for the call.
BufferRef checked_arena(EntrySteps& s, const PublicPrimFunc& function, BufferRef context,
                        const std::vector<Argument>& sizes) {
  s.require(given(s.build().address(context)), kNullPointer);
  s.report_to(s.build().field(context, "error"));
  Expr needed = s.word(function.arena_bytes);
  if (function.arena_bytes == UINT64_MAX) {
    BufferRef bytes = s.words("bytes", 1);
    std::vector<Argument> args = sizes;
    args.emplace_back(bytes);
    s.call(function.arena, std::move(args));
    needed = s.let("needed", cast(DType::u(64), s.load(bytes, 0)));
  }
  Expr address = s.build().field(context, "arena");
  check_memory(s, address, s.build().field(context, "arena_bytes"), needed, kArenaSize, -1);
  check_alignment(s, kPrimFuncArenaAlign, address, kArenaAlignment, -1, eq(needed, s.word(0)));
  return s.at_address("arena", DType::u(8), address);
}

}  // namespace

tir::PrimFunc EntryFunctions::public_function(const PublicPrimFunc& named) {
  const tir::PrimFunc& called = function_named(object_, named.callee());
  tir::PrimFunc function;
  function.name = public_symbol(object_, named);
  EntrySteps steps(context_, function);
  function.c_function->is_global = function.c_function->ties_runtime = true;
  BufferRef context = steps.records_param("context", described(Record::kContext));
  function.c_function->context = context;
  std::vector<Argument> args, sizes;
  size_t arena = SIZE_MAX;
  for (size_t i = 0; i < called.params.size() && !named.arena.empty(); ++i)
    if (called.params[i].buffer != nullptr) arena = i;
  for (size_t i = 0; i < called.params.size(); ++i) {
    const tir::Param& param = called.params[i];
    if (i == arena) {
      args.emplace_back(BufferRef());
    } else if (param.buffer != nullptr) {
      args.emplace_back(steps.array_param(param.buffer->name, param.buffer->dtype));
    } else {
      args.emplace_back(steps.scalar_param(param.var.name(), param.var.dtype()));
      if (param.var.dtype().is_index()) sizes.push_back(args.back());
    }
  }
  for (tir::Var symbol : called.symbols) {
    args.emplace_back(steps.scalar_param(symbol.name()));
    sizes.push_back(args.back());
  }
  if (arena != SIZE_MAX) {
    args[arena] = checked_arena(steps, named, context, sizes);
  } else {
    Expr none = steps.index(0);
    steps.report_to(select(eq(steps.build().address(context), none), none, steps.build().field(context, "error")));
  }
  steps.call(named.callee(), std::move(args));
  steps.finish();
  return function;
}

std::optional<tir::PrimFunc> EntryFunctions::public_arena_bytes(const PublicPrimFunc& named) {
  if (named.arena.empty() || named.arena_bytes != UINT64_MAX) return std::nullopt;
  const tir::PrimFunc& called = function_named(object_, named.arena);
  tir::PrimFunc function;
  function.name = public_symbol(object_, named) + "_arena_bytes";
  EntrySteps steps(context_, function);
  function.c_function->is_global = function.c_function->ties_runtime = true;
  std::vector<Argument> args;
  for (const tir::Param& param : called.params)
    if (param.buffer == nullptr) args.emplace_back(steps.scalar_param(param.var.name()));
  BufferRef bytes = steps.array_param("bytes", DType::u(64));
  args.emplace_back(steps.within("words", DType::index(), bytes, 0));
  steps.call(named.arena, std::move(args));
  steps.finish();
  return function;
}

}  // namespace relaxc::interface
