// entry_generic.cpp: the functions that loaders find in the tables, and the self-test.
//
// runtime-lite implements them by an entry's tables; they only add scratch memory. That is in the frames of these
// functions, so that the stack use is known at compile time.
#include "compiler/interface/entry_functions.h"
#include "compiler/interface/entry_steps.h"
#include "compiler/interface/layout.h"

namespace relaxc::interface {

using tir::Argument;
using tir::RuntimeFunction;

namespace {

constexpr tir::Field kWordField[] = {{"", tir::FieldKind::kI64}};
constexpr tir::Record kWord{"int64_t", kWordField}, kConstWord{"const int64_t", kWordField};
constexpr tir::Record kSize{"uint64_t", kWordField};

/// Returns RLX_SCRATCH_WORDS of rlx_internal.h for this entry.
size_t scratch_words(const Entry& entry) {
  size_t dims = 0;
  for (const auto* tensors : {&entry.inputs, &entry.outputs})
    for (const Tensor& tensor : *tensors) dims += tensor.dims.size();
  return 1 + entry.symbols.size() + dims + 3 * (entry.inputs.size() + entry.outputs.size());
}

/// Adds the parameters that the runtime function has in rlx_function, and returns them as arguments.
std::vector<Argument> parameters(EntrySteps& steps, RuntimeFunction callee) {
  static const tir::Record kConstTensor{"const rlx_tensor", fields(Record::kTensor)};
  std::vector<Argument> args;
  auto pointer = [&](const char* name, const tir::Record& record) {
    args.emplace_back(steps.records_param(name, record));
  };
  auto number = [&](const char* name) { args.emplace_back(steps.scalar_param(name, DType::u(32))); };
  if (callee == RuntimeFunction::kGenericBind || callee == RuntimeFunction::kGenericRun) {
    pointer("context", described(Record::kContext)), pointer("in", kConstTensor), number("num_in");
    if (callee == RuntimeFunction::kGenericBind) pointer("symbols", kWord), pointer("error", described(Record::kError));
    if (callee == RuntimeFunction::kGenericRun) pointer("out", described(Record::kTensor)), number("num_out");
    return args;
  }
  pointer("symbols", kConstWord);
  if (callee == RuntimeFunction::kGenericOutputShape) number("index"), pointer("dims", kWord);
  if (callee == RuntimeFunction::kGenericArenaBytes) pointer("bytes", kSize);
  return args;
}

}  // namespace

tir::PrimFunc EntryFunctions::generic(const Entry& entry, RuntimeFunction callee) {
  tir::PrimFunc function;
  function.name = entry.name + "." + tir::unprefixed_name(callee);
  EntrySteps steps(context_, function);
  function.c_function->ties_runtime = callee == RuntimeFunction::kGenericRun;
  std::vector<Argument> args{steps.data("private")};
  std::vector<Argument> given = parameters(steps, callee);
  if (callee != RuntimeFunction::kGenericArenaBytes)
    args.emplace_back(steps.array("scratch", DType::u(64), scratch_words(entry)));
  args.insert(args.end(), given.begin(), given.end());
  steps.call_runtime(tir::runtime_name(callee), std::move(args));
  steps.finish();
  return function;
}

tir::PrimFunc EntryFunctions::selftest() {
  tir::PrimFunc function;
  function.name = object_.name + "_selftest";
  EntrySteps steps(context_, function);
  function.c_function->is_global = true;
  tir::BufferRef context = steps.records_param("context", described(Record::kContext));
  // Separate weights are passed as null: the runtime takes them from the context.
  tir::BufferRef weights =
      object_.weights.separate ? steps.at_address("weights", DType::u(8), steps.index(0)) : steps.data("weights");
  steps.call_runtime(
      tir::runtime_name(RuntimeFunction::kSelftest),
      {steps.data("model"), steps.data("selftest"), weights, steps.word(object_.weights.bytes), context});
  steps.finish();
  return function;
}

}  // namespace relaxc::interface
