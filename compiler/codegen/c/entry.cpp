// entry.cpp: the tables of an entry, and the functions that they point to.
#include "compiler/codegen/c/entry.h"

#include <fmt/format.h>

#include "compiler/interface/c_type.h"
#include "compiler/interface/dlpack.h"
#include "compiler/interface/typed_call.h"
#include "compiler/interface/value_inputs.h"

namespace relaxc::codegen_c {
namespace {

using interface::Entry;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?';
    // An octal escape ends after three digits, so the next character cannot join it.
    out += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned>(byte));
  }
  return out + "\"";
}

std::string number(int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : value == INT64_MAX ? "INT64_MAX" : fmt::format("INT64_C({})", value);
}

class EntryPrinter {
 public:
  EntryPrinter(const interface::Object& object, const Entry& entry, size_t index, EntryFunctionPrinter& printer)
      : object_(object), entry_(entry), index_(index), printer_(printer), stem_(fmt::format("rlx_e{}", index)) {}

  std::string run() {
    interface::EntryFunctions& made = printer_.made;
    const Adapters adapters{print("shapes", made.shapes(entry_)), print("values", made.values(entry_)),
                            print("arena", made.arena(entry_)), print("call", made.call(entry_))};
    specs("inputs", entry_.inputs, true);
    specs("outputs", entry_.outputs, false);
    symbols();
    nodes();
    pools();
    private_record(adapters);
    wrappers();
    return out_;
  }

 private:
  /// Names, or NULL.
  struct Adapters {
    std::string shapes, values, arena, call;
  };

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  /// Prints a function that the tables point to, and gives its name.
  std::string print(const char* what, std::optional<tir::PrimFunc> function) {
    if (!function) return "NULL";
    function->name = stem_ + "_" + what;
    out_ += printer_.print(*function);
    return function->name;
  }

  void specs(const char* name, const std::vector<interface::Tensor>& tensors, bool inputs) {
    if (tensors.empty()) return;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].dims.empty()) continue;
      std::string dims;
      for (int64_t dim : tensors[i].dims) dims += (dims.empty() ? "" : ", ") + number(dim);
      line("static const int64_t {}_{}_{}_dims[] = {{{}}};", stem_, name, i, dims);
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].quant) quantization(*tensors[i].quant, fmt::format("{}_{}_{}", stem_, name, i));
    line("static const rlx_tensor_spec {}_{}[] = {{", stem_, name);
    for (size_t i = 0; i < tensors.size(); ++i) {
      const interface::Tensor& t = tensors[i];
      int flags = (t.strided ? 1 : 0) | (t.data_dependent ? 2 : 0) |
                  (inputs && interface::reads_values(object_, entry_, i) ? 4 : 0);
      interface::DLPackType type = interface::dlpack_type(t.dtype);
      std::string dims = t.dims.empty() ? "NULL" : fmt::format("{}_{}_{}_dims", stem_, name, i);
      std::string quant = t.quant ? fmt::format("&{}_{}_{}_quant", stem_, name, i) : "NULL";
      line("    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, NULL}},", quoted(t.name), static_cast<int>(t.kind),
           static_cast<int>(type.code), static_cast<int>(type.bits), flags, t.dims.size(), dims, quant, t.pair,
           t.append_axis);
    }
    line("}};");
  }

  void quantization(const interface::Quantization& q, const std::string& stem) {
    std::string scales;
    for (float scale : q.scale) scales += (scales.empty() ? "" : ", ") + interface::float_literal(scale);
    line("static const float {}_scale[] = {{{}}};", stem, scales);
    line("static const int32_t {}_zero_point[] = {{{}}};", stem, fmt::join(q.zero_point, ", "));
    line("static const rlx_quant {0}_quant = {{{1}, {2}, {0}_scale, {0}_zero_point}};", stem, q.axis, q.scale.size());
  }

  void symbols() {
    if (entry_.symbols.empty()) return;
    line("static const rlx_symbol {}_symbols[] = {{", stem_);
    for (const interface::Symbol& s : entry_.symbols)
      line("    {{{}, {}, {}, {}}},", quoted(s.name), number(s.lower), number(s.upper), number(s.multiple_of));
    line("}};\nstatic const rlx_symbol_source {}_sources[] = {{", stem_);
    for (const interface::Symbol& s : entry_.symbols)
      line("    {{{}, {}, {}}},", interface::is_value(s) ? "RLX_SOURCE_VALUE" : "RLX_SOURCE_DIM", s.tensor, s.axis);
    line("}};");
  }

  void nodes() {
    if (entry_.nodes.empty()) return;
    std::string names;
    for (const std::string& node : entry_.nodes) names += "\n    " + quoted(node) + ",";
    line("static const char* const {}_nodes[] = {{{}\n}};", stem_, names);
  }

  void pools() {
    if (entry_.pools.empty()) return;
    line("static const rlx_memory_pool_spec {}_pools[] = {{", stem_);
    for (const interface::Pool& pool : entry_.pools) line("    {{{}, UINT64_C({})}},", quoted(pool.name), pool.bytes);
    line("}};");
  }

  size_t dim_count() const {
    size_t count = 0;
    for (const auto* list : {&entry_.inputs, &entry_.outputs})
      for (const interface::Tensor& tensor : *list) count += tensor.dims.size();
    return count;
  }

  void private_record(const Adapters& adapters) {
    bool context = !entry_.values.empty() && printer_.conventions.at(entry_.values).context;
    line("static const rlx_function_private {}_private = {{", stem_);
    bool separate = object_.weights.separate;
    line("    RLX_PRIVATE_VERSION, {}, {}, {}, &rlx_functions[{}], {},", context ? 1 : 0, dim_count(),
         separate ? object_.weights.alignment : 0, index_, entry_.symbols.empty() ? "NULL" : stem_ + "_sources");
    line("    {}, {}, {}, {}, {}, UINT64_C({})}};", adapters.shapes, adapters.values, adapters.arena, adapters.call,
         separate ? "rlx_hash" : "NULL", interface::weights_file_bytes(object_.weights));
  }

  void wrappers() {
    printer_.style.data["private"] = fmt::format("&{}_private", stem_);
    for (const char* what : {"bind", "output_shape", "arena_bytes", "run"})
      print(what, printer_.made.generic(entry_, what));
  }

  const interface::Object& object_;
  const Entry& entry_;
  size_t index_;
  EntryFunctionPrinter& printer_;
  std::string stem_, out_;
};

}  // namespace

std::string called_text(const Entry& entry, EntryFunctionPrinter& printer) {
  std::string text = printer.print(printer.made.run(entry));
  if (std::optional<tir::PrimFunc> size = printer.made.arena_bytes(entry)) text += printer.print(*size);
  return text;
}

std::string entry_text(const interface::Object& object, const Entry& entry, size_t index,
                       EntryFunctionPrinter& printer) {
  return EntryPrinter(object, entry, index, printer).run();
}

std::string model_text(const interface::Object& object, const std::string& target) {
  std::string text = fmt::format("static const rlx_function rlx_functions[{}] = {{\n", object.entries.size());
  for (size_t i = 0; i < object.entries.size(); ++i) {
    const Entry& e = object.entries[i];
    auto table = [&](bool there, const char* what) {
      return there ? fmt::format("rlx_e{}_{}", i, what) : std::string("NULL");
    };
    text += fmt::format(
        "    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, UINT64_C({}), UINT64_MAX, {}, rlx_e{}_bind, rlx_e{}_output_shape,\n",
        quoted(e.name), e.inputs.size(), e.outputs.size(), e.symbols.size(), e.nodes.size(),
        table(!e.inputs.empty(), "inputs"), table(!e.outputs.empty(), "outputs"), table(!e.symbols.empty(), "symbols"),
        table(!e.nodes.empty(), "nodes"), e.arena_max, e.arena_align, i, i);
    text += fmt::format("     rlx_e{}_arena_bytes, rlx_e{}_run, {}, {}}},\n", i, i, table(!e.pools.empty(), "pools"),
                        e.pools.size());
  }
  text += "};\n\nstatic const uint8_t rlx_hash[32] = {";
  for (size_t i = 0; i < object.hash.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(object.hash[i]);
  text += fmt::format(
      "}};\n\nconst rlx_model {}_model = {{RLX_ABI_VERSION, sizeof(rlx_function), sizeof(rlx_tensor_spec), {},\n"
      "    rlx_functions, {}, {}, {}, rlx_hash, UINT64_C({})}};\n",
      object.name, object.entries.size(), quoted(object.name), quoted(object.producer), quoted(target),
      interface::weights_file_bytes(object.weights));
  return text;
}

}  // namespace relaxc::codegen_c
