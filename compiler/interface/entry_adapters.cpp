// entry_adapters.cpp: the functions that runtime-lite calls by rlx_function_private.
//
// runtime-lite passes arrays of pointers and symbols, and prim funcs take each as a parameter: an adapter loads one
// after the other, in the order that object.h defines.
#include "compiler/interface/entry_functions.h"
#include "compiler/interface/entry_steps.h"
#include "compiler/interface/layout.h"

namespace relaxc::interface {

using tir::Argument;
using tir::BufferRef;
using tir::Expr;

namespace {

constexpr tir::Field kPointerField[] = {{"", tir::FieldKind::kPointer}};
constexpr tir::Record kPointers{"void*", kPointerField}, kConstPointers{"const void*", kPointerField};

void add_symbols(const Entry& entry, EntrySteps& steps, BufferRef symbols, std::vector<Argument>& args,
                 bool from_dims_alone = false) {
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    if (!from_dims_alone || !is_value(entry.symbols[i])) args.emplace_back(steps.load(symbols, i));
}

/// Appends a buffer for the memory that each pointer of an array points to.
void add_pointers(const std::vector<Tensor>& tensors, EntrySteps& steps, BufferRef pointers,
                  std::vector<Argument>& args) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    Expr address = steps.build().field(pointers, steps.index(static_cast<int64_t>(i)), "");
    args.emplace_back(steps.at_address(tensors[i].identifier, tensors[i].dtype, address));
  }
}

/// Returns the condition that all symbols read from data have a value; null if the entry has no such symbol.
Expr all_known(const Entry& entry, EntrySteps& steps, BufferRef symbols) {
  Expr known;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    if (!is_value(entry.symbols[i])) continue;
    Expr one = ne(steps.load(symbols, i), steps.index(INT64_MIN));
    known = known ? logical_and(known, one) : one;
  }
  return known;
}

}  // namespace

std::optional<tir::PrimFunc> EntryFunctions::shapes(const Entry& entry) {
  if (entry.shapes.empty() || (is_static(entry) && !has_derived_dims(entry))) return std::nullopt;
  tir::PrimFunc function;
  function.name = entry.name + ".shapes";
  EntrySteps steps(context_, function);
  BufferRef symbols = steps.array_param("symbols", DType::index()), dims = steps.array_param("dims", DType::index());
  function.c_function->error = steps.records_param("error", described(Record::kError));
  std::vector<Argument> args;
  add_symbols(entry, steps, symbols, args);
  args.emplace_back(dims);
  tir::Stmt call = steps.invocation(entry.shapes, std::move(args));
  Expr known = all_known(entry, steps, symbols);
  steps.add(known ? steps.build().branch(known, call) : call);
  steps.finish();
  return function;
}

std::optional<tir::PrimFunc> EntryFunctions::arena(const Entry& entry) {
  if (is_static(entry) || entry.arena.empty()) return std::nullopt;
  tir::PrimFunc function;
  function.name = entry.name + ".arena";
  EntrySteps steps(context_, function);
  BufferRef symbols = steps.array_param("symbols", DType::index()), bytes = steps.array_param("bytes", DType::u(64));
  Expr known = all_known(entry, steps, symbols);
  const bool bounded = entry.arena_max != UINT64_MAX;
  if (known && !bounded) steps.require(known, kNeedsData);
  std::vector<Argument> args;
  add_symbols(entry, steps, symbols, args);
  args.emplace_back(steps.within("words", DType::index(), bytes, 0));
  tir::Stmt call = steps.invocation(entry.arena, std::move(args));
  tir::Stmt most = steps.build().store(bytes, {steps.index(0)}, steps.word(entry.arena_max));
  steps.add(known && bounded ? steps.build().branch(known, call, most) : call);
  steps.finish();
  return function;
}

std::optional<tir::PrimFunc> EntryFunctions::values(const Entry& entry) {
  if (entry.values.empty()) return std::nullopt;
  tir::PrimFunc function;
  function.name = entry.name + ".values";
  EntrySteps steps(context_, function);
  function.c_function->context = steps.records_param("context", described(Record::kContext));
  BufferRef inputs = steps.records_param("input_data", kConstPointers);
  steps.array_param("dims", DType::index());
  BufferRef symbols = steps.array_param("symbols", DType::index());
  function.c_function->error = steps.records_param("error", described(Record::kError));
  std::vector<Argument> args;
  add_pointers(entry.inputs, steps, inputs, args);
  add_symbols(entry, steps, symbols, args, true);
  args.emplace_back(symbols);
  steps.call(entry.values, std::move(args));
  steps.finish();
  return function;
}

tir::PrimFunc EntryFunctions::call(const Entry& entry) {
  tir::PrimFunc function;
  function.name = entry.name + ".call";
  EntrySteps steps(context_, function);
  BufferRef context = steps.records_param("context", described(Record::kContext));
  function.c_function->context = context;
  BufferRef inputs = steps.records_param("input_data", kPointers),
            outputs = steps.records_param("output_data", kPointers);
  BufferRef symbols = steps.array_param("symbols", DType::index());
  BufferRef out_dims = steps.array_param("out_dims", DType::index());
  std::vector<Argument> args;
  add_pointers(entry.inputs, steps, inputs, args);
  add_pointers(entry.outputs, steps, outputs, args);
  args.emplace_back(steps.at_address("arena", DType::u(8), steps.build().field(context, "arena")));
  for (const Argument& pool : steps.pools(entry, context)) args.push_back(pool);
  args.emplace_back(steps.weights(object_.weights, context));
  args.emplace_back(out_dims);
  add_symbols(entry, steps, symbols, args);
  steps.report_to(steps.build().field(context, "error"));
  steps.call(entry.call, std::move(args));
  steps.finish();
  return function;
}

}  // namespace relaxc::interface
