// emit.cpp: the whole file: helpers, functions, tables, weights.
#include "compiler/codegen/c/emit.h"

#include <fmt/format.h>

#include "compiler/codegen/c/entry.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/interface/call_order.h"

namespace relaxc::codegen_c {
namespace {

/// Weights as an array of bytes, written piece by piece so that a large model needs no text of its whole size in
/// memory.
bool write_weights(const interface::Weights& weights, Profile profile, const Write& write) {
  uint64_t bytes = std::max<uint64_t>(weights.bytes, 1);
  bool fine =
      profile == Profile::kMisra
          ? write(fmt::format("static const struct {{\n  double alignment;\n  uint8_t bytes[{}];\n}} rlx_weights = "
                              "{{0.0, {{",
                              bytes))
          : write(fmt::format("static const union {{\n  uint8_t bytes[{}];\n  double alignment;\n}} rlx_weights = {{{{",
                              bytes));
  uint64_t written = 0;
  if (weights.bytes > 0)
    weights.stream([&](const std::byte* data, size_t size) {
      std::string text;
      for (size_t i = 0; i < size && fine; ++i, ++written) {
        if (written % 32 == 0) text += "\n";
        text += std::to_string(static_cast<unsigned>(data[i])) + ",";
        if (text.size() > 1 << 16) {
          fine = write(text);
          text.clear();
        }
      }
      fine = fine && write(text);
    });
  return fine && write(weights.bytes == 0 ? "0}};\n\n" : "\n}};\n\n");
}

std::string selftest_text(const interface::Object& object) {
  if (object.selftest.data.empty()) return {};
  std::string text = "static const union {\n  uint8_t bytes[" + std::to_string(object.selftest.data.size()) +
                     "];\n  int64_t alignment;\n} selftest = {{";
  for (size_t i = 0; i < object.selftest.data.size(); ++i)
    text += (i % 32 == 0 ? "\n" : "") + std::to_string(static_cast<unsigned>(object.selftest.data[i])) + ",";
  return text + fmt::format(
                    "\n}}}};\n\nint32_t {0}_selftest(rlx_context* context) {{\n  return "
                    "rlx_selftest(&{0}_model, selftest.bytes, {1}, UINT64_C({2}), context);\n}}\n",
                    object.name, object.weights.separate ? "NULL" : "rlx_weights.bytes", object.weights.bytes);
}

}  // namespace

bool emit_c(const interface::Object& object, std::string_view header, const Write& write, Profile profile) {
  bool misra = profile == Profile::kMisra;
  Conventions conventions;
  std::vector<const tir::PrimFunc*> circles = interface::called_before_listed(object);
  for (const tir::PrimFunc* function : circles) conventions[function->name] = {true, true};
  for (const tir::PrimFunc* function : object.functions)
    conventions.try_emplace(function->name, convention_of(*function, conventions, object.hooks));
  std::set<std::string> helpers{"fail"};
  std::string functions, entries, calls;
  for (const tir::PrimFunc* function : circles) functions += prototype_text(*function, conventions);
  for (const tir::PrimFunc* function : called_functions(object, profile))
    functions += function_text(*function, conventions, object.hooks, helpers);
  for (size_t i = 0; i < object.entries.size(); ++i) {
    if (!misra) entries += entry_text(object, object.entries[i], i, conventions);
    calls += typed_call_text(object, object.entries[i], conventions);
  }
  for (const interface::PublicPrimFunc& function : object.public_prim_funcs)
    calls += public_function_text(object, function.name, conventions);

  std::string begin =
      fmt::format("/* Written by {}; changes are lost. Compile with -ffp-contract=off. */\n", object.producer);
  begin += fmt::format("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n{}\n#include \"{}\"\n{}\n",
                       misra ? "#include <string.h>\n" : "", header, misra ? "" : "#include \"rlx_internal.h\"\n");
  // A kernel is never inlined: the arena holds values of many types in turn, and the call keeps their accesses in
  // order.
  begin +=
      "#if defined(__GNUC__)\n#define RLX_NOINLINE __attribute__((noinline))\n#else\n#define RLX_NOINLINE\n#endif\n\n";
  bool tables = !object.entries.empty() && !misra;
  std::string declared =
      tables ? fmt::format("static const rlx_function functions[{}];\n\n", object.entries.size()) : "";
  if (object.weights.separate && !misra) declared += "static const uint8_t hash[32];\n\n";
  return write(begin) && (object.weights.separate || write_weights(object.weights, profile, write)) &&
         write(helper_text(helpers, profile) + "\n") && write(functions) && write(declared) && write(entries) &&
         write(calls) && (!tables || write(model_text(object, "C99") + selftest_text(object)));
}

}  // namespace relaxc::codegen_c
