// header.cpp: prints what a C programmer reads to call a model.
//
// The header is read more often than the manual, so it says everything: what each tensor is, how large it is, how much
// memory a call needs. Sizes are macros with plain decimals, because they are used for arrays and in #if. Macros are in
// capitals with the model's name as a prefix; if two names differ only in case, the later one gets a number.
#include "compiler/interface/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/interface/c_type.h"
#include "compiler/interface/identifiers.h"
#include "compiler/interface/quantization.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::interface {
namespace {

std::string number_in_parentheses(int32_t value) {
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

class Header {
 public:
  Header(const Object& object, const HeaderFacts& facts) : object_(object), facts_(facts) {
    macros_ = global_names(object);
    for (const External& external : object.externals) macros_.insert(external.name);
    for (const Entry& entry : object.entries)
      for (const CallField& field : call_fields(entry)) macros_.insert(field.name);
  }

  std::string run() {
    begin();
    for (const External& external : object_.externals)
      line("/* To be defined by the program. */\n{};\n", external.prototype);
    for (size_t i = 0; i < object_.entries.size(); ++i)
      print_entry(object_.entries[i], i < facts_.stack_max.size() ? facts_.stack_max[i] : UINT64_MAX,
                  i < facts_.run_stack_max.size() ? facts_.run_stack_max[i] : UINT64_MAX);
    for (const PublicPrimFunc& function : object_.public_prim_funcs) print_public(function);
    if (object_.entries.size() > 1) print_shared_arena();
    if (!object_.selftest.data.empty()) print_selftest();
    if (facts_.tables) {
      line("/* For loaders and harnesses that know models by their tables. */");
      line("extern const rlx_model {}_model;\n", object_.name);
    }
    if (object_.weights.separate) {
      line("/* The weights are a file of this size, which the context has to hold: rlx_weights_map of");
      line(" * relax_rt_hosted.h maps and checks it. */");
      define(capitals(object_.name) + "_WEIGHTS_BYTES", std::to_string(weights_file_bytes(object_.weights)));
      line("");
    }
    line("#ifdef __cplusplus\n}}\n#endif\n\n#endif");
    return out_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  void begin() {
    std::string guard = "RELAXC_" + object_.name + "_H";  // not in capitals: models may differ in case only
    line("/* {}.h: how to call the model {}. Written by relaxc; changes are lost. */", object_.name, object_.name);
    line("#ifndef {0}\n#define {0}\n", guard);
    line("#include \"relax_rt.h\"\n");
    line("#if RLX_ABI_VERSION != 1\n#error \"{}.h: this header is of ABI version 1, relax_rt.h is not\"\n#endif\n",
         object_.name);
    line("#ifdef __cplusplus\nextern \"C\" {{\n#endif\n");
  }

  /// Returns a macro name that is unique in this header: `name`, followed by a number if it is taken.
  std::string macro(const std::string& name) {
    std::string unique = name;
    for (int i = 2; !macros_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    return unique;
  }
  void define(const std::string& name, const std::string& value) { line("#define {} {}", macro(name), value); }

  /// Returns the text of a dim for a comment: long names become identifiers, and a long text is cut in the middle.
  std::string dim_text(std::string text) const {
    constexpr size_t kLongest = 200, kShown = 80;
    for (const auto& [name, identifier] : long_dims_)
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + identifier.size()))
        text.replace(at, name.size(), identifier);
    text = comment_text(text);
    if (text.size() <= kLongest) return text;
    return text.substr(0, kShown) + " ... " + text.substr(text.size() - kShown);
  }

  std::string shape_text(const Tensor& tensor) const {
    std::string text = "[";
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      std::string dim = tensor.dims[i] >= 0          ? std::to_string(tensor.dims[i])
                        : i < tensor.dim_text.size() ? dim_text(tensor.dim_text[i])
                                                     : std::string("?");
      text += (i == 0 ? "" : ", ") + dim;
    }
    return text + "]";
  }

  void describe(const char* role, const Tensor& tensor) {
    std::string more;
    if (tensor.data_dependent) more += ", size known after the call";
    if (tensor.strided) more += ", any strides";
    if (tensor.pair >= 0) more += ", state";
    if (tensor.append_axis >= 0) more += " that grows along axis " + std::to_string(tensor.append_axis);
    if (tensor.quant) more += ", represents " + formula_text(*tensor.quant);
    std::string original = comment_text(tensor.name);
    line(" *   {} {}: {} {}{}{}", role, tensor.identifier, to_string(tensor.dtype), shape_text(tensor), more,
         original == tensor.identifier ? "" : ", named \"" + original + "\"");
  }

  void describe(const Symbol& symbol) {
    constexpr size_t kShown = 60;
    std::string bound = symbol.upper == INT64_MAX ? "" : std::to_string(symbol.upper), original;
    if (is_long_dim(symbol.name))
      original = fmt::format(", named \"{}...\" ({} characters)", comment_text(symbol.name.substr(0, kShown)),
                             symbol.name.size());
    line(" *   dim    {}: {}..{}{}{}{}", dim_text(symbol.name), symbol.lower, bound,
         symbol.multiple_of > 1 ? ", a multiple of " + std::to_string(symbol.multiple_of) : "",
         is_value(symbol) ? ", read from the inputs" : "", original);
  }

  void find_long_dims(const Entry& entry) {
    long_dims_.clear();
    for (const Symbol& symbol : entry.symbols)
      if (is_long_dim(symbol.name)) long_dims_.emplace_back(symbol.name, symbol.identifier);
    // Longer names are replaced first, since a name may be a part of another.
    std::stable_sort(long_dims_.begin(), long_dims_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  void print_entry(const Entry& entry, uint64_t stack_max, uint64_t run_stack_max) {
    std::string prefix = entry_prefix(object_, entry), macro = capitals(prefix);
    line("/* {}", comment_text(entry.name));
    line(" *");
    find_long_dims(entry);
    for (const Tensor& tensor : entry.inputs) describe("input ", tensor);
    for (const Tensor& tensor : entry.outputs) describe("output", tensor);
    for (const Symbol& symbol : entry.symbols) describe(symbol);
    for (const Pool& pool : entry.pools)
      line(" *   pool   {}: {} bytes that context->pools gives", pool.name, pool.bytes);
    if (entry.needs_allocator)
      line(" *   memory whose size is known only at run time comes from context->alloc, besides the arena");
    line(" */");
    print_sizes(entry, macro);
    if (run_stack_max != UINT64_MAX) define(macro + "RUN_STACK_MAX", std::to_string(run_stack_max));
    if (stack_max != UINT64_MAX) define(macro + "STACK_MAX", std::to_string(stack_max));
    print_call(entry, prefix);
  }

  void print_sizes(const Entry& entry, const std::string& macro) {
    bool bounded = entry.arena_max != UINT64_MAX;
    // With all dims known a call needs exactly this size; otherwise it suffices for all sizes within the bounds.
    if (bounded) define(macro + (is_static(entry) ? "ARENA_BYTES" : "ARENA_MAX"), std::to_string(entry.arena_max));
    define(macro + "ARENA_ALIGN", std::to_string(entry.arena_align));
    for (const Pool& pool : entry.pools)
      define(macro + "POOL_" + capitals(pool.name) + "_BYTES", std::to_string(pool.bytes));
    if (bounded && !object_.arena_name.empty())  // the arena under its pool's name
      define(macro + "POOL_" + capitals(object_.arena_name) + "_BYTES", std::to_string(entry.arena_max));
    if (entry.needs_allocator) define(macro + "NEEDS_ALLOCATOR", "1");
    auto elements = [&](const Tensor& tensor) {
      int64_t count = 1;
      for (int64_t dim : tensor.dims)
        if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return;
      define(macro + capitals(tensor.identifier) + "_ELEMENTS", std::to_string(count));
    };
    auto quantization = [&](const Tensor& tensor) {
      if (!tensor.quant || tensor.quant->axis >= 0) return;
      define(macro + capitals(tensor.identifier) + "_SCALE", float_literal(tensor.quant->scale[0]));
      define(macro + capitals(tensor.identifier) + "_ZERO_POINT", number_in_parentheses(tensor.quant->zero_point[0]));
    };
    for (const Tensor& tensor : entry.inputs) quantization(tensor);
    for (const Tensor& tensor : entry.outputs) quantization(tensor);
    for (const Tensor& tensor : entry.inputs) elements(tensor);
    for (const Tensor& tensor : entry.outputs) elements(tensor);
    auto indices = [&](const char* role, const std::string& name, size_t i) {
      define(macro + role + capitals(name), std::to_string(i));
    };
    for (size_t i = 0; i < entry.inputs.size(); ++i) indices("INPUT_", entry.inputs[i].identifier, i);
    for (size_t i = 0; i < entry.outputs.size(); ++i) indices("OUTPUT_", entry.outputs[i].identifier, i);
    for (size_t i = 0; i < entry.pools.size(); ++i) indices("POOL_", entry.pools[i].name, i);
    for (size_t i = 0; i < entry.symbols.size(); ++i) indices("SYMBOL_", entry.symbols[i].identifier, i);
    line("");
  }

  /// Prints why there is no type for the arena, and where to find the size that a call needs.
  void print_open_arena(const Entry& entry, const std::string& prefix) {
    std::vector<std::string> open;
    bool values = false;
    for (const Symbol& symbol : entry.symbols) {
      values |= is_value(symbol);
      if (symbol.upper == INT64_MAX && !is_value(symbol)) open.push_back("'" + dim_text(symbol.name) + "'");
    }
    if (entry.arena.empty() || values || open.empty()) {
      line("/* There is no type {}arena, since nothing bounds its size: rlx_function.arena_bytes of {}_model says what",
           prefix, object_.name);
      line(" * a call needs. */");
      return;
    }
    line("/* There is no type {}arena, since {} {} no bound: ask {}arena_bytes below for the bytes that a call needs,",
         prefix, fmt::join(open, ", "), open.size() == 1 ? "has" : "have", prefix);
    line(" * aligned to {}ARENA_ALIGN, or compile with bounds, as in --dim NAME=1..512. */", capitals(prefix));
  }

  void print_call(const Entry& entry, const std::string& prefix) {
    if (entry.arena_max != UINT64_MAX)
      print_memory(is_static(entry) ? "arena" : "arena for all dims", prefix + "arena", entry.arena_max,
                   entry.arena_align);
    else if (facts_.explains)
      print_open_arena(entry, prefix);
    for (const Pool& pool : entry.pools)
      print_memory("the pool " + pool.name, prefix + "pool_" + pool.name, pool.bytes, entry.arena_align);
    const std::vector<CallField> fields = call_fields(entry);
    print_args(entry, prefix, fields);
    print_run(entry, prefix);
    const bool values = std::any_of(entry.symbols.begin(), entry.symbols.end(), is_value);
    if (!is_static(entry) && !values && !entry.arena.empty()) print_arena_bytes(entry, prefix, fields);
  }

  /// Prints the struct of a call's arguments.
  void print_args(const Entry& entry, const std::string& prefix, const std::vector<CallField>& fields) {
    line("typedef struct {}args {{", prefix);
    for (const CallField& field : fields) {
      switch (field.kind) {
        case CallField::kInput:
          line("  const {}* {};", c_type(entry.inputs[field.index].dtype), field.name);
          break;
        case CallField::kOutput:
          line("  {}* {};", c_type(entry.outputs[field.index].dtype), field.name);
          break;
        case CallField::kOutputDims:
          line("  int64_t* {}; /* in: [0] holds the capacity in elements; out: the dims */", field.name);
          break;
        case CallField::kSymbol:
          line("  int64_t {};", field.name);
          break;
      }
    }
    if (fields.empty()) line("  char unused;");
    line("}} {}args;\n", prefix);
  }

  void print_run(const Entry& entry, const std::string& prefix) {
    const std::string run = run_symbol(object_, entry);
    line(
        "/* Runs the model. Pointers are not checked; dims and the context's arena are. RLX_OK or another rlx_status. "
        "*/");
    if (!facts_.least_cpu.empty())
      line("/* On a CPU that lacks what {} has it returns RLX_CPU_FEATURES and runs nothing. */", facts_.least_cpu);
    line("#define {}run {}", prefix, run);
    line("int32_t {}(rlx_context* context, const {}args* args);\n", run, prefix);
  }

  /// Prints the function that computes the arena's size from the symbols.
  void print_arena_bytes(const Entry& entry, const std::string& prefix, const std::vector<CallField>& fields) {
    line("/* The bytes of arena that a call with these dims needs. */");
    line("#define {}arena_bytes {}", prefix, arena_symbol(object_, entry));
    std::string parameters, bytes = "bytes";
    std::set<std::string> taken;
    for (const CallField& field : fields)
      if (field.kind == CallField::kSymbol) parameters += "int64_t " + *taken.insert(field.name).first + ", ";
    while (taken.count(bytes) != 0) bytes += "_";
    line("int32_t {}({}uint64_t* {});\n", arena_symbol(object_, entry), parameters, bytes);
  }

  /// Prints a type of this size, with the alignment as far as the dialect of C can express it.
  void print_memory(const std::string& role, const std::string& name, uint64_t bytes, uint32_t align) {
    constexpr uint64_t kLargestType = uint64_t{1} << 40;
    if (bytes > kLargestType) return;
    align = std::max<uint32_t>(align, 1);
    line("/* Memory that serves as {}. */", role);
    line("#if defined(__cplusplus)\ntypedef struct alignas({}) {} {{", align, name);
    line("#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\ntypedef struct {} {{\n  _Alignas({})", name,
         align);
    line("#elif defined(__GNUC__)\ntypedef struct __attribute__((aligned({}))) {} {{", align, name);
    line("#else /* to be placed at a multiple of {} by the program */\ntypedef struct {} {{\n#endif", align, name);
    line("  unsigned char bytes[{}];\n}} {};\n", std::max<uint64_t>(bytes, 1), name);
  }

  /// Prints the size of one arena that all functions can use in turn, and of such pools.
  void print_shared_arena() {
    std::map<std::string, uint64_t> pools;
    uint64_t bytes = 0;
    uint32_t align = 1;
    for (const Entry& entry : object_.entries) {
      if (entry.arena_max == UINT64_MAX) return;
      bytes = std::max(bytes, entry.arena_max);
      align = std::max(align, entry.arena_align);
      for (const Pool& pool : entry.pools) pools[pool.name] = std::max(pools[pool.name], pool.bytes);
    }
    line("/* An arena of this size and alignment serves every function of this header. */");
    define(capitals(object_.name) + "_ARENA_MAX_OF_ALL", std::to_string(bytes));
    define(capitals(object_.name) + "_ARENA_ALIGN_OF_ALL", std::to_string(align));
    for (const auto& [name, most] : pools)
      define(capitals(object_.name) + "_POOL_" + capitals(name) + "_BYTES_OF_ALL", std::to_string(most));
    line("");
  }

  void print_selftest() {
    line(
        "/* Runs the model on inputs that it carries: RLX_OK, or RLX_SELFTEST if weights or outputs are not what they");
    line(" * should be. The context needs an arena of this many bytes, aligned as the model's own. */");
    define(capitals(object_.name) + "_SELFTEST_ARENA_BYTES", std::to_string(object_.selftest.arena_bytes));
    line("int32_t {}_selftest(rlx_context* context);\n", object_.name);
  }

  void print_public(const PublicPrimFunc& named) {
    const tir::PrimFunc* function = nullptr;
    for (const tir::PrimFunc* candidate : object_.functions)
      if (candidate->name == named.callee()) function = candidate;
    RELAXC_CHECK(function != nullptr, "no prim func " + named.name);
    std::string parameters = "rlx_context* context", sizes;
    std::set<std::string> taken{"context"};
    auto add = [&](const std::string& type, const std::string& name) {
      std::string unique = readable_identifier(name, "p", taken.size() - 1);
      while (!taken.insert(unique).second) unique += "_";
      parameters += ", " + type + unique;
      return unique;
    };
    tir::BufferRef arena = nullptr;
    for (const tir::Param& param : function->params)
      if (param.buffer != nullptr && !named.arena.empty()) arena = param.buffer;
    for (const tir::Param& param : function->params) {
      if (param.buffer != nullptr && param.buffer == arena) continue;
      if (param.buffer != nullptr) {
        add(std::string(c_type(param.buffer->dtype)) + "* ", param.buffer->name);
        continue;
      }
      std::string name = add(std::string(c_type(param.var.dtype())) + " ", param.var.name());
      if (param.var.dtype().is_index()) sizes += "int64_t " + name + ", ";
    }
    for (const arith::Var& symbol : function->symbols) sizes += "int64_t " + add("int64_t ", symbol.name()) + ", ";
    const std::string symbol = public_symbol(object_, named);
    if (!named.arena.empty()) print_public_arena(named, symbol, sizes);
    line("/* The prim func {}; {}. */", comment_text(named.name),
         named.arena.empty() ? "the context may be NULL unless it calls external functions"
                             : "the context gives the arena");
    line("int32_t {}({});\n", symbol, parameters);
  }

  void print_public_arena(const PublicPrimFunc& named, const std::string& symbol, const std::string& sizes) {
    define(capitals(symbol) + "_ARENA_ALIGN", std::to_string(kPrimFuncArenaAlign));
    if (named.arena_bytes != UINT64_MAX) {
      define(capitals(symbol) + "_ARENA_BYTES", std::to_string(named.arena_bytes));
      print_memory("the arena of " + comment_text(named.name), symbol + "_arena", named.arena_bytes,
                   kPrimFuncArenaAlign);
      return;
    }
    line("/* The bytes of arena that a call of {} with these sizes needs. */", comment_text(named.name));
    line("int32_t {}_arena_bytes({}uint64_t* rlx_bytes);\n", symbol, sizes);
  }

  const Object& object_;
  const HeaderFacts& facts_;
  std::string out_;
  std::set<std::string> macros_;                                ///< macros and all other names of the header
  std::vector<std::pair<std::string, std::string>> long_dims_;  ///< long names of dims, with their identifiers
};

}  // namespace

std::string c_header(const Object& object, const HeaderFacts& facts) {
  return Header(object, facts).run();
}

}  // namespace relaxc::interface
