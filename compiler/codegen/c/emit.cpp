// emit.cpp: writes whole files: helpers, functions, tables, weights.
//
// In one file everything but the interface is static. With several, functions and weights are visible to the other
// files, under names that begin with the object's, and hidden from the rest of the program if the format allows it.
#include "compiler/codegen/c/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/selftest.h"
#include "compiler/codegen/c/tables.h"
#include "compiler/interface/call_order.h"
#include "compiler/interface/typed_call.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {
namespace {

class Emission {
 public:
  Emission(const interface::Object& object, const interface::Object& shown, const std::string& stem,
           const OpenFile& open, const Style& style, const std::vector<ElementRun>& runs, bool narrow_indices)
      : object_(object),
        shown_(shown),
        stem_(stem),
        open_(open),
        style_(style),
        runs_(runs),
        misra_(style.profile == Profile::kMisra) {
    functions_.hooks = object.hooks;
    functions_.vectors = style.has_vectors();
    functions_.contracts = misra_;
    functions_.narrow_indices = narrow_indices;
    functions_.dots = narrow_indices && !misra_;
    functions_.macro_prefix = interface::capitals(object.name) + "_";
    if (in_parts()) {
      functions_.linkage = "RLX_PRIVATE";
      functions_.prefix = object.name + "_k_";
    }
    std::set<std::string> others = interface::global_names(object);
    for (const interface::External& external : object.externals) others.insert(external.name);
    auto begins = [&](const std::string& name) { return name.rfind(functions_.prefix, 0) == 0; };
    while (std::any_of(others.begin(), others.end(), begins)) functions_.prefix += "k_";
  }

  bool run() {
    add_apart();
    for (const tir::PrimFunc* function : interface::called_before_listed(object_)) {
      conventions_[function->name] = {true, true, function_name(functions_, function->name)};
      forward_declared_.push_back(function);
    }
    for (const tir::PrimFunc* function : object_.functions) {
      conventions_.try_emplace(function->name, convention_of(*function, conventions_, functions_));
      by_name_[function->name] = function;
    }
    if (has_weights() && style_.weights != WeightsForm::kArray && object_.weights.bytes > 0 &&
        !write_weights_bytes(object_.weights, open_(kWeightsFile)))
      return false;
    return in_parts() ? write_parts() && write_main() : write_main();
  }

 private:
  /// Where no output may be the memory of an input, runtime-lite and callers of the typed call keep all tensors, the
  /// arena and the weights apart (docs/abi.md).
  void add_apart() {
    for (const interface::Entry& entry : object_.entries) {
      const bool states = std::any_of(entry.outputs.begin(), entry.outputs.end(),
                                      [](const interface::Tensor& output) { return output.pair >= 0; });
      if (states) continue;
      functions_.apart.insert(entry.call);
      functions_.apart.insert(interface::run_symbol(object_, entry));
    }
  }

  bool in_parts() const { return style_.part_bytes != 0; }
  bool has_weights() const { return !object_.weights.separate; }

  bool write_parts() {
    if (has_weights()) {
      Write write = open_("_weights.c");
      if (!write(opening() + "\n") || !write_weights(object_, runs_, style_, stem_ + kWeightsFile, false, write))
        return false;
    }
    std::vector<const tir::PrimFunc*> part;
    std::set<std::string> helpers;
    std::string text;
    size_t count = 0;
    auto flush = [&] {
      if (part.empty()) return true;
      Write write = open_(fmt::format("_{}.c", ++count));
      bool fine = write(opening() + helper_text(helpers, style_.profile) + "\n" + prototypes_of_called(part) + text);
      part.clear(), helpers.clear(), text.clear();
      return fine;
    };
    for (const tir::PrimFunc* function : called_functions(object_, style_.profile)) {
      std::set<std::string> own;
      std::string added = function_text(*function, conventions_, functions_, own);
      if (text.size() + added.size() > style_.part_bytes && !flush()) return false;
      part.push_back(function);
      helpers.merge(own);
      text += added;
    }
    return flush();
  }

  /// Prototypes of the functions of a part and of those that they call, in whatever part these are.
  std::string prototypes_of_called(const std::vector<const tir::PrimFunc*>& part) const {
    std::set<const tir::PrimFunc*> wanted(part.begin(), part.end());
    for (const tir::PrimFunc* function : part)
      tir::for_each_stmt(function->body, [&](tir::Stmt s) {
        const auto* invoke = s.as<tir::Invoke>();
        if (invoke != nullptr && !invoke->external) wanted.insert(by_name_.at(invoke->callee));
      });
    return prototypes(wanted);
  }

  /// Prototypes of the functions in `wanted`, in the order of the object.
  std::string prototypes(const std::set<const tir::PrimFunc*>& wanted) const {
    std::string text;
    for (const tir::PrimFunc* function : object_.functions)
      if (wanted.count(function) != 0) text += prototype_text(*function, conventions_, functions_);
    return text;
  }

  bool write_main() {
    Write write = open_(".c");
    std::set<std::string> helpers;
    std::string functions;
    std::vector<const tir::PrimFunc*> called = called_functions(object_, style_.profile);
    if (in_parts()) {
      functions = prototypes({called.begin(), called.end()});
    } else {
      for (const tir::PrimFunc* function : forward_declared_)
        functions += prototype_text(*function, conventions_, functions_);
      for (const tir::PrimFunc* function : called)
        functions += function_text(*function, conventions_, functions_, helpers);
    }
    interface::EntryFunctions made(object_);
    FunctionStyle style = functions_;
    style.data = {{"weights", "(uint8_t*)(uintptr_t)rlx_weights.bytes"},
                  {"model", fmt::format("&{}_model", object_.name)},
                  {"selftest", "(uint8_t*)(uintptr_t)rlx_selftest_data.bytes"}};
    const EntryFunctionPrinter printer{conventions_, style, helpers};
    const bool has_tables = !object_.entries.empty() && !misra_;
    const std::string tables = has_tables ? tables_of_shown(printer) : "";
    std::string calls;
    auto call = [&](const tir::PrimFunc& function) { calls += printer.print(function); };
    for (const interface::Entry& entry : object_.entries) {
      call(made.run(entry));
      if (std::optional<tir::PrimFunc> size = made.arena_bytes(entry)) call(*size);
    }
    for (const interface::PublicPrimFunc& function : object_.public_prim_funcs) {
      call(made.public_function(function));
      if (std::optional<tir::PrimFunc> size = made.public_arena_bytes(function)) call(*size);
    }
    if (has_tables && !object_.selftest.data.empty()) {
      calls += selftest_data_text(object_, runs_);
      call(made.selftest());
    }
    return write(opening() + "\n") && write_own_weights(write) && write(helper_text(helpers, style_.profile) + "\n") &&
           write(functions) && write(tables) && write(calls);
  }

  std::string tables_of_shown(const EntryFunctionPrinter& printer) const {
    interface::EntryFunctions made(shown_);
    interface::CodeFacts facts;
    facts.target = "C99";
    facts.needs_context = [&](const std::string& name) { return conventions_.at(name).context; };
    return tables_text(shown_, interface::object_tables(shown_, made, facts), printer);
  }

  bool write_own_weights(const Write& write) const {
    if (!has_weights())
      return write(little_endian_only(
          "a file of weights is little-endian; without --weights they are in the text, for any byte order"));
    if (in_parts()) return write(weights_declaration(object_) + "\n");
    return write_weights(object_, runs_, style_, stem_ + kWeightsFile, true, write);
  }

  /// The text at the beginning of every file.
  std::string opening() const {
    std::string text =
        fmt::format("/* Written by {}; changes are lost. Compile with -ffp-contract=off. */\n", object_.producer);
    text += fmt::format("#include <stddef.h>\n#include <stdint.h>\n\n#include \"rlx_libc.h\"\n#include \"{}.h\"\n{}\n",
                        stem_, misra_ ? "" : "#include \"rlx_internal.h\"\n");
    // A kernel is never inlined: the arena holds values of many types in turn, and the call keeps their accesses in
    // order.
    text +=
        "#if defined(__GNUC__)\n#define RLX_NOINLINE __attribute__((noinline))\n#else\n#define RLX_NOINLINE\n#endif\n";
    bool shared = has_weights() && style_.weights == WeightsForm::kIncbin;
    if (in_parts() || shared)
      text +=
          "#if defined(__ELF__) || defined(__MACH__)\n#define RLX_PRIVATE __attribute__((visibility(\"hidden\")))\n"
          "#else\n#define RLX_PRIVATE\n#endif\n";
    return text;
  }

  const interface::Object& object_;
  const interface::Object& shown_;  ///< the one that the tables describe
  const std::string& stem_;
  const OpenFile& open_;
  const Style& style_;
  const std::vector<ElementRun>& runs_;
  bool misra_;
  FunctionStyle functions_;
  Conventions conventions_;
  std::vector<const tir::PrimFunc*> forward_declared_;
  std::map<std::string, const tir::PrimFunc*> by_name_;
};

}  // namespace

bool emit_c(const interface::Object& object, const std::string& stem, const OpenFile& open, const Style& style,
            const interface::Object* tables, const std::vector<ElementRun>& runs, bool narrow_indices) {
  return Emission(object, tables != nullptr ? *tables : object, stem, open, style, runs, narrow_indices).run();
}

}  // namespace relaxc::codegen_c
