// explicit_memory.cpp: reads memory that the text allocates, and calls that write it.
#include "frontends/relax/function/explicit_memory.h"

#include <algorithm>

#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// What a call reads, and the memory that it writes.
struct Split {
  std::vector<Value*> inputs, memory;
  std::vector<Info> outputs;
};

/// Returns the value that a name stands for; null for any other expression.
Value* named_value(FunctionParts& fn, const ast::Expr& e) {
  auto* known = e.is(AstKind::kName) ? fn.names.find(e.text) : nullptr;
  return known != nullptr && known->value.kind == Term::kValue ? known->value.value : nullptr;
}

Result<Split> split_arguments(FunctionParts& fn, const ast::Expr& call, size_t first) {
  Split split;
  bool ok = true;
  for (size_t i = first; i < call.items.size(); ++i) {
    const ast::Expr& item = *call.items[i];
    Value* value = named_value(fn, item);
    if (value != nullptr && fn.memory.is_unwritten(value)) {
      if (!fn.memory.is_of(value, fn.graph.region()))
        return fn.source.error(item.place, Kind::unsupported,
                               "'{}' is memory of an enclosing block, and a call in here cannot write it", item.text);
      if (std::find(split.memory.begin(), split.memory.end(), value) != split.memory.end())
        return fn.source.error(item.place, Kind::unsupported, "the memory '{}' is written twice by one call",
                               item.text);
      split.memory.push_back(value);
      split.outputs.push_back(value->info);
      continue;
    }
    value = operand_value(fn, item);
    ok = ok && value != nullptr;
    if (value == nullptr) continue;
    if (!split.memory.empty() && value->info->as<relax::TensorInfo>() != nullptr)
      return fn.source.error(item.place, Kind::unsupported,
                             "a tensor that is read follows memory that is written, which comes last");
    split.inputs.push_back(value);
  }
  if (!ok) return fn.diag().failed();
  return split;
}

/// Puts the results of a call into the place of the memory.
Result<Term> written(FunctionParts& fn, const Split& split, const Term& results, Place place) {
  std::vector<Term> parts = results.kind == Term::kSequence ? results.items : std::vector<Term>{results};
  if (parts.size() != split.memory.size())
    return fn.source.error(place, Kind::wrong_arity, "{} results for {} tensors of memory", parts.size(),
                           split.memory.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    RELAXC_TRY(Value * value, as_value(fn, parts[i], place));
    value->name = std::move(split.memory[i]->name);  // an output of the object has it
    split.memory[i]->name.clear();
    fn.memory.write(split.memory[i], value);
  }
  return Term::sequence({});
}

/// Reads a tensor's shape and dtype from position `at` on.
Result<Term> allocated(FunctionParts& fn, const ast::Expr& e, size_t at) {
  const ast::Expr *dims = argument(e, at, {"shape"}), *element = argument(e, at + 1, {"dtype"});
  if (dims == nullptr || element == nullptr)
    return fn.source.error(e.place, Kind::wrong_arity, "an allocation takes a shape and a dtype");
  RELAXC_TRY(Term sizes, eval(fn, *dims));
  RELAXC_TRY(Value * shape, as_value(fn, sizes, dims->place));
  RELAXC_TRY(Term named, eval(fn, *element));
  std::optional<DType> dtype = named.kind == Term::kString ? parse_dtype(named.text) : std::nullopt;
  if (!dtype) return fn.source.error(element->place, Kind::invalid_value, "expected a dtype");
  RELAXC_TRY(Value * made, fn.graph.at(e.place).call("zeros", {shape}, {{"dtype", *dtype}}));
  fn.memory.allocate(made, fn.graph.region(), e.place);
  return Term::of(made);
}

}  // namespace

const ExplicitMemory::Allocation* ExplicitMemory::find(const Value* value) const {
  auto at =
      std::find_if(allocated_.begin(), allocated_.end(), [&](const Allocation& one) { return one.value == value; });
  return at == allocated_.end() ? nullptr : &*at;
}

bool ExplicitMemory::is_unwritten(const Value* value) const {
  return find(value) != nullptr && written_.count(value) == 0;
}

bool ExplicitMemory::is_of(const Value* value, const relax::Region& region) const {
  const Allocation* known = find(value);
  return known != nullptr && known->region == &region;
}

Value* ExplicitMemory::current(Value* value) const {
  auto at = written_.find(value);
  return at == written_.end() ? value : at->second;
}

Status ExplicitMemory::check(FunctionParts& fn) const {
  bool ok = true;
  for (const Allocation& one : allocated_) {
    if (one.value->uses().empty()) continue;
    ok = false;
    (void)fn.source.error(one.place, Kind::unsupported,
                          "this memory is read, or is part of a tuple, before a call has written it");
  }
  if (!ok) return fn.diag().failed();
  return Done{};
}

Result<Term> alloc_tensor(FunctionParts& fn, const ast::Expr& e) {
  return allocated(fn, e, 1);
}

Result<Term> alloc_tensor_of_storage(FunctionParts& fn, const ast::Expr& e) {
  return allocated(fn, e, 3);
}

bool writes_memory(FunctionParts& fn, const ast::Expr& call, size_t first) {
  for (size_t i = first; i < call.items.size(); ++i)
    if (Value* value = named_value(fn, *call.items[i]); value != nullptr && fn.memory.is_unwritten(value)) return true;
  return false;
}

Result<Term> call_on_memory(FunctionParts& fn, const std::string& name, const ast::Expr& call) {
  RELAXC_TRY(Split split, split_arguments(fn, call, 1));
  RELAXC_TRY(Term results, finish_call_tir(fn, name, split.inputs, split.outputs, call, call.items[0]->place));
  return written(fn, split, results, call.place);
}

Result<Term> call_packed_on_memory(FunctionParts& fn, const std::string& name, const ast::Expr& call) {
  RELAXC_TRY(Split split, split_arguments(fn, call, 2));
  RELAXC_TRY(Term results, external_call(fn, name, split.inputs, split.outputs, call.place));
  return written(fn, split, results, call.place);
}

}  // namespace relaxc::frontend
