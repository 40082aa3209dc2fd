// typed_call.cpp: the call that the generated header declares, as C.
//
// It checks what is cheap and would otherwise reach outside of the caller's memory: the bounds of the dynamic dims, the
// arena's and the pools' size and alignment, and the size of separate weights. It refers to no table.
#include "compiler/interface/typed_call.h"

#include <fmt/format.h>

#include "compiler/codegen/c/arguments.h"
#include "compiler/codegen/c/entry.h"
#include "compiler/codegen/c/types.h"

namespace relaxc::codegen_c {
namespace {

using interface::CallField;
using interface::Entry;

std::string number(int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", value);
}

/// Statements that check a symbol's declared bounds; `error` is an expression.
std::string bounds_checks(const interface::Symbol& symbol, size_t index, const std::string& value,
                          const std::string& error) {
  std::string text;
  auto require = [&](const std::string& holds, int64_t expected) {
    text += fmt::format("  if (!({})) return rlx_fail({}, RLX_DIM_BOUNDS, -1, -1, {}, -1, {}, {});\n", holds, error,
                        index, number(expected), value);
  };
  require(value + " >= " + number(symbol.lower), symbol.lower);
  if (symbol.upper != INT64_MAX) require(value + " <= " + number(symbol.upper), symbol.upper);
  if (symbol.multiple_of > 1) require(value + " % " + number(symbol.multiple_of) + " == 0", symbol.multiple_of);
  return text;
}

class TypedCall {
 public:
  TypedCall(const interface::Object& object, const Entry& entry, const Conventions& conventions)
      : object_(object), entry_(entry), conventions_(conventions), fields_(interface::call_fields(object, entry)) {}

  std::string run() {
    line("int32_t {}(rlx_context* context, const {}args* args) {{", interface::run_symbol(object_, entry_),
         interface::entry_prefix(object_, entry_));
    line("  int32_t status = 0;\n  int64_t symbols[{}];\n  int64_t dims[{}];",
         std::max<size_t>(entry_.symbols.size(), 1), std::max<size_t>(count(entry_.inputs) + count(entry_.outputs), 1));
    line("  (void)*(const volatile uint32_t*)&rlx_abi_1;\n  (void)symbols;\n  (void)dims;\n  (void)status;");
    line("  if ((context == NULL) || (args == NULL)) return RLX_NULL_POINTER;");
    take_symbols();
    if (!entry_.values.empty()) read_values();
    output_dims();
    check_arena();
    for (size_t i = 0; i < entry_.pools.size(); ++i)
      if (entry_.pools[i].bytes != 0) check_pool(i, entry_.pools[i].bytes);
    check_weights();
    make_call();
    line("  return 0;\n}}\n");
    return out_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  static size_t count(const std::vector<interface::Tensor>& tensors) {
    size_t n = 0;
    for (const interface::Tensor& tensor : tensors) n += tensor.dims.size();
    return n;
  }
  void step(const std::string& prim_func, std::vector<std::string> args) {
    line("  {}", checked_call(prim_func, conventions_, "context", std::move(args), "context->error"));
  }
  std::vector<std::string> inputs() const {
    std::vector<std::string> args;
    for (const CallField& field : fields_)
      if (field.kind == CallField::kInput)
        args.push_back(
            fmt::format("({}*)(uintptr_t)args->{}", memory_type(entry_.inputs[field.index].dtype), field.name));
    return args;
  }
  std::vector<std::string> all_symbols() const {
    std::vector<std::string> args;
    for (size_t i = 0; i < entry_.symbols.size(); ++i) args.push_back(fmt::format("symbols[{}]", i));
    return args;
  }

  void take_symbols() {
    for (const CallField& field : fields_) {
      if (field.kind != CallField::kSymbol) continue;
      line("  symbols[{}] = args->{};", field.index, field.name);
      out_ += bounds_checks(entry_.symbols[field.index], field.index, fmt::format("symbols[{}]", field.index),
                            "context->error");
    }
  }

  void read_values() {
    std::vector<std::string> args = inputs();
    for (size_t i = 0; i < entry_.symbols.size(); ++i)
      if (!interface::is_value(entry_.symbols[i])) args.push_back(fmt::format("symbols[{}]", i));
    args.push_back("symbols");
    step(entry_.values, std::move(args));
    for (size_t i = 0; i < entry_.symbols.size(); ++i)
      if (interface::is_value(entry_.symbols[i]))
        out_ += bounds_checks(entry_.symbols[i], i, fmt::format("symbols[{}]", i), "context->error");
  }

  void output_dims() {
    size_t at = count(entry_.inputs);
    for (const interface::Tensor& tensor : entry_.outputs)
      for (int64_t dim : tensor.dims) {
        std::string value = dim >= 0 ? number(dim) : dim == INT64_MIN ? "0" : fmt::format("symbols[{}]", -1 - dim);
        line("  dims[{}] = {};", at++, value);
      }
    if (!entry_.shapes.empty() && (!entry_.symbols.empty() || interface::has_derived_dims(entry_))) {
      std::vector<std::string> args = all_symbols();
      args.push_back("dims");
      step(entry_.shapes, std::move(args));
    }
    for_capacities([&](const CallField& field, size_t first, size_t rank) {
      if (rank > 0) line("  dims[{}] = args->{}[0];", first, field.name);
    });
  }

  template <typename F>
  void for_capacities(F f) {
    size_t at = count(entry_.inputs);
    for (size_t i = 0; i < entry_.outputs.size(); ++i) {
      for (const CallField& field : fields_)
        if (field.kind == CallField::kOutputDims && field.index == i) f(field, at, entry_.outputs[i].dims.size());
      at += entry_.outputs[i].dims.size();
    }
  }

  void check_arena() {
    bool computed = !interface::is_static(entry_) && !entry_.arena.empty();
    if (!computed && entry_.arena_max == 0) return;
    line("  {{\n    uint64_t needed = UINT64_C({});", entry_.arena_max);
    line("    uint64_t there = (context->arena == NULL) ? UINT64_C(0) : context->arena_bytes;");
    line("    uint64_t rest = (uintptr_t)context->arena % {}u;", entry_.arena_align);
    if (computed) {
      std::vector<std::string> args = all_symbols();
      args.push_back("(int64_t*)(void*)&needed");
      step(entry_.arena, std::move(args));
    }
    line(
        "    if (there < needed) {{\n      return rlx_fail(context->error, RLX_ARENA_SIZE, -1, -1, -1, -1, "
        "(int64_t)needed, "
        "(int64_t)there);\n    }}");
    line(
        "    if ((needed != 0u) && (rest != 0u)) {{\n      return rlx_fail(context->error, RLX_ARENA_ALIGNMENT, -1, "
        "-1, "
        "-1, -1, {}, (int64_t)rest);\n    }}\n  }}",
        entry_.arena_align);
  }

  void check_pool(size_t i, uint64_t bytes) {
    line("  {{\n    uint64_t there = UINT64_C(0);\n    uint64_t rest = 0u;");
    line("    if ((context->pools != NULL) && (context->num_pools > {0}u) && (context->pools[{0}].data != NULL)) {{",
         i);
    line("      there = context->pools[{}].bytes;", i);
    line("      rest = (uintptr_t)context->pools[{}].data % {}u;\n    }}", i, entry_.arena_align);
    line(
        "    if (there < UINT64_C({0})) {{\n      return rlx_fail(context->error, RLX_POOL_SIZE, -1, {1}, -1, -1, "
        "INT64_C({0}), (int64_t)there);\n    }}",
        bytes, i);
    line(
        "    if (rest != 0u) {{\n      return rlx_fail(context->error, RLX_POOL_ALIGNMENT, -1, {}, -1, -1, {}, "
        "(int64_t)rest);\n    }}\n  }}",
        i, entry_.arena_align);
  }

  void check_weights() {
    if (!object_.weights.separate) return;
    line("  {{\n    uint64_t there = (context->weights == NULL) ? UINT64_C(0) : context->weights_bytes;");
    line(
        "    if (there < UINT64_C({0})) {{\n      return rlx_fail(context->error, RLX_WEIGHTS_SIZE, -1, -1, -1, -1, "
        "INT64_C({0}), (int64_t)there);\n    }}\n  }}",
        interface::weights_file_bytes(object_.weights));
  }

  void make_call() {
    std::vector<std::string> args = inputs();
    for (const CallField& field : fields_)
      if (field.kind == CallField::kOutput)
        args.push_back(fmt::format("({}*)(void*)args->{}", memory_type(entry_.outputs[field.index].dtype), field.name));
    args.push_back("(uint8_t*)context->arena");
    for (const std::string& pool : pools_text(entry_)) args.push_back(pool);
    args.insert(args.end(), {weights_text(object_), fmt::format("dims + {}", count(entry_.inputs))});
    for (const std::string& symbol : all_symbols()) args.push_back(symbol);
    step(entry_.call, std::move(args));
    for_capacities([&](const CallField& field, size_t first, size_t rank) {
      for (size_t i = 0; i < rank; ++i) line("  args->{}[{}] = dims[{}];", field.name, i, first + i);
    });
  }

  const interface::Object& object_;
  const Entry& entry_;
  const Conventions& conventions_;
  std::vector<CallField> fields_;
  std::string out_;
};

/// The size of the arena from the dims alone; there is none where a symbol is read from data.
std::string arena_call(const interface::Object& object, const Entry& entry, const Conventions& conventions) {
  if (interface::is_static(entry) || entry.arena.empty() || !entry.values.empty()) return {};
  std::string params, checks;
  std::vector<std::string> args;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    args.push_back(fmt::format("s{}", i));
    params += fmt::format("int64_t s{}, ", i);
    checks += bounds_checks(entry.symbols[i], i, args.back(), "NULL");
  }
  args.push_back("(int64_t*)(void*)bytes");
  std::string call = checked_call(entry.arena, conventions, "NULL", std::move(args), "NULL");
  return fmt::format(
      "int32_t {}({}uint64_t* bytes) {{\n  int32_t status = 0;\n  (void)status;\n{}  {}\n  return 0;\n}}\n\n",
      interface::arena_symbol(object, entry), params, checks, call);
}

}  // namespace

std::string typed_call_text(const interface::Object& object, const Entry& entry, const Conventions& conventions) {
  return TypedCall(object, entry, conventions).run() + arena_call(object, entry, conventions);
}

std::string public_function_text(const interface::Object& object, const std::string& name,
                                 const Conventions& conventions) {
  const tir::PrimFunc* function = nullptr;
  for (const tir::PrimFunc* candidate : object.functions)
    if (candidate->name == name) function = candidate;
  RELAXC_CHECK(function != nullptr, "no prim func " + name);
  std::string params;
  std::vector<std::string> args;
  auto add = [&](const std::string& type) {
    args.push_back(fmt::format("a{}", args.size()));
    params += ", " + type + " " + args.back();
  };
  for (const tir::Param& param : function->params)
    add(param.buffer != nullptr ? memory_type(param.buffer->dtype) + "*" : value_type(param.var.dtype()));
  for (size_t i = 0; i < function->symbols.size(); ++i) add("int64_t");
  std::string call =
      checked_call(name, conventions, "context", std::move(args), "context == NULL ? NULL : context->error");
  return fmt::format(
      "int32_t {}(rlx_context* context{}) {{\n  int32_t status = 0;\n  (void)status;\n  (void)context;\n  {}\n"
      "  return 0;\n}}\n\n",
      interface::public_symbol(object, name), params, call);
}

}  // namespace relaxc::codegen_c
