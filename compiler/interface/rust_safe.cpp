// rust_safe.cpp: prints typed calls of a model for Rust, based on the crate relax-rt.
//
// The length of a slice is compared with its shape, which is computed from the dims of the call; the model's own guards
// check the rest, so no check is made twice. Dims that are expressions are not computed in Rust: such an input is an
// array with a shape (relax_rt::Array), which the guards compare, and sizes of outputs come from the model
// (output_shape). A state is one slice that the call updates in place; a state that grows is an input and an output.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/interface/dlpack.h"
#include "compiler/interface/identifiers.h"
#include "compiler/interface/rust.h"
#include "compiler/interface/rust_names.h"
#include "compiler/interface/typed_call.h"
#include "compiler/support/quote.h"

namespace relaxc::interface {
namespace {

/// Writes the part of the module that belongs to one entry.
class SafeEntry {
 public:
  SafeEntry(const Object& object, size_t index, bool unsafe_extern)
      : object_(object), entry_(object.entries[index]), index_(index), unsafe_extern_(unsafe_extern) {
    for (const Tensor& tensor : entry_.inputs) taken_.insert(tensor.identifier);
    for (const Tensor& tensor : entry_.outputs) taken_.insert(tensor.identifier);
    for (const Symbol& symbol : entry_.symbols) dims_.push_back(rust_name(symbol.identifier, taken_));
  }

  std::string run() {
    if (std::string why = refusal(); !why.empty()) {
      line("// There are no safe calls: {}.", why);
      return out_;
    }
    line("use relax_rt::{{Error, Function, Input, Output}};\n");
    print_types();
    print_function();
    print_run();
    return out_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  std::string refusal() const {
    if (!entry_.pools.empty()) return "the function has pools beside its arena";
    auto is_plain = [](const Tensor& t) {
      return t.kind <= Tensor::kScalar && !t.dtype.is_complex() && t.dtype.bits % 8 == 0;
    };
    bool plain = std::all_of(entry_.inputs.begin(), entry_.inputs.end(), is_plain) &&
                 std::all_of(entry_.outputs.begin(), entry_.outputs.end(), is_plain);
    return plain ? "" : "an input or output is of a kind that Rust has no slices for";
  }

  std::string name_of(const Tensor& tensor) const { return rust_name(tensor.identifier, taken_); }
  bool in_place(const Tensor& tensor) const { return tensor.pair >= 0 && tensor.append_axis < 0 && is_known(tensor); }
  /// Returns the input whose memory the output reuses, or null.
  const Tensor* state_of(const Tensor& output) const {
    if (output.pair < 0) return nullptr;
    const Tensor& input = entry_.inputs[static_cast<size_t>(output.pair)];
    return in_place(input) ? &input : nullptr;
  }

  /// Whether the shape consists only of constants and of dims that the caller passes, not of values read from data.
  bool is_known(const Tensor& tensor) const {
    return std::all_of(tensor.dims.begin(), tensor.dims.end(), [&](int64_t dim) {
      return dim >= 0 || (dim != INT64_MIN && !is_value(entry_.symbols[static_cast<size_t>(-1 - dim)]));
    });
  }

  std::string shape_of(const Tensor& tensor) const {
    std::string text;
    for (int64_t dim : tensor.dims)
      text += (text.empty() ? "" : ", ") +
              (dim >= 0 ? std::to_string(dim) : "dims." + dims_[static_cast<size_t>(-1 - dim)]);
    return "[" + text + "]";
  }

  static std::string described(const Tensor& tensor) {
    std::string dims;
    for (const std::string& dim : tensor.dim_text) dims += (dims.empty() ? "" : ", ") + dim;
    return printable(tensor.name + ": " + to_string(tensor.dtype) + " [" + dims + "]");
  }

  std::vector<size_t> open_dims() const {
    std::vector<size_t> open;
    for (size_t i = 0; i < entry_.symbols.size(); ++i)
      if (!is_value(entry_.symbols[i])) open.push_back(i);
    return open;
  }

  void print_struct(const char* name, const std::string& about, const std::string& fields) {
    if (!fields.empty()) line("/// {}\npub struct {} {{\n{}}}\n", about, name, fields);
  }

  std::string field(const Tensor& tensor, const std::string& type) const {
    return fmt::format("    /// {}\n    pub {}: {},\n", described(tensor), name_of(tensor), type);
  }

  void print_types() {
    std::string dims, inputs, states, outputs, shapes;
    for (size_t i : open_dims()) dims += fmt::format("    pub {}: i64,\n", dims_[i]);
    for (const Tensor& input : entry_.inputs) {
      std::string type = rust_type(input.dtype);
      if (in_place(input))
        states += field(input, "&'a mut [" + type + "]");
      else if (is_known(input))
        inputs += field(input, "&'a [" + type + "]");
      else
        inputs += field(input, fmt::format("relax_rt::Array<'a, {}, {}>", type, input.dims.size()));
    }
    for (const Tensor& output : entry_.outputs) {
      if (state_of(output) != nullptr) continue;
      outputs += field(output, "&'a mut [" + rust_type(output.dtype) + "]");
      shapes += field(output, fmt::format("[i64; {}]", output.dims.size()));
    }
    has_dims_ = !dims.empty(), has_inputs_ = !inputs.empty(), has_states_ = !states.empty();
    has_outputs_ = !outputs.empty();
    if (has_dims_) line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
    print_struct("Dims", "Sizes of the open dims.", dims);
    print_struct("Inputs<'a>", "What a call reads.", inputs);
    print_struct("States<'a>", "What a call reads, and replaces for the next one; at first zeros.", states);
    print_struct("Outputs<'a>", "What a call writes: room for at least the elements of the shapes.", outputs);
    line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
    if (has_outputs_)
      print_struct("Shapes", "The sizes of the outputs after a call.", shapes);
    else
      line("/// There are no outputs.\npub struct Shapes {{}}\n");
  }

  void print_function() {
    if (entry_.arena_max != UINT64_MAX)
      line("/// Bytes of arena that suffice for every call.\npub const ARENA_BYTES: usize = {};\n",
           entry_.arena_max + std::max<uint32_t>(entry_.arena_align, 1) - 1);
    line("/// The entry in the tables of the model.\npub fn function() -> Function {{");
    line("    {}extern \"C\" {{\n        #[link_name = \"{}_model\"]", unsafe_extern_ ? "unsafe " : "", object_.name);
    line("        static MODEL: relax_rt::abi::rlx_model;\n    }}");
    line("    // SAFETY: the object defines it, with that many functions.");
    line("    unsafe {{ Function::of(&MODEL, {}) }}\n}}\n", index_);
    if (open_dims().size() != entry_.symbols.size()) return;
    std::string symbols;
    for (size_t i : open_dims()) symbols += (symbols.empty() ? "" : ", ") + ("dims." + dims_[i]);
    line("/// Bytes of arena that a call{} needs.", has_dims_ ? " with these dims" : "");
    line("pub fn arena_bytes({}) -> Result<usize, Error> {{", has_dims_ ? "dims: &Dims" : "");
    line("    function().arena_bytes(&[{}])\n}}\n", symbols);
  }

  void print_run() {
    line("/// Runs the function, with memory of at least `arena_bytes` of which nothing is kept.");
    line("pub fn run(arena: &mut [u8]{}{}{}{}) -> Result<Shapes, Error> {{", has_dims_ ? ", dims: &Dims" : "",
         has_inputs_ ? ", inputs: &Inputs" : "", has_states_ ? ", states: &mut States" : "",
         has_outputs_ ? ", outputs: &mut Outputs" : "");
    line("    let function = function();\n    let mut symbols = [0i64; {}];", entry_.symbols.size());
    for (size_t i = 0; i < entry_.inputs.size(); ++i) print_input(i);
    for (size_t i = 0; i < entry_.outputs.size(); ++i)
      if (const Tensor* state = state_of(entry_.outputs[i])) print_state(*state, i);
    line("    let given: [Input; {0}] = [{1}];", entry_.inputs.size(), listed("input", entry_.inputs.size()));
    line("    function.bind(&given, &mut symbols)?;");
    for (size_t i = 0; i < entry_.outputs.size(); ++i)
      if (state_of(entry_.outputs[i]) == nullptr) print_output(i);
    line("    let mut made: [Output; {0}] = [{1}];", entry_.outputs.size(), listed("output", entry_.outputs.size()));
    line("    function.run(arena, &given, &mut made)?;");
    std::string shapes;
    for (size_t i = 0; i < entry_.outputs.size(); ++i)
      if (state_of(entry_.outputs[i]) == nullptr) shapes += fmt::format(" {}: out_{},", name_of(entry_.outputs[i]), i);
    if (!shapes.empty()) shapes.back() = ' ';
    line("    Ok(Shapes {{{}}})\n}}", shapes);
  }

  static std::string listed(const char* name, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + (name + std::to_string(i));
    return text;
  }

  void print_input(size_t i) {
    const Tensor& input = entry_.inputs[i];
    const std::string name = name_of(input);
    const unsigned code = dlpack_type(input.dtype).code;
    if (is_known(input)) line("    let in_{} = {};", i, typed_shape(input));
    if (in_place(input)) return;
    if (is_known(input))
      line("    let input{0} = Input::new({1}, inputs.{2}, &in_{0})?;", i, code, name);
    else
      line("    let input{0} = Input::new({1}, inputs.{2}.data, &inputs.{2}.shape)?;", i, code, name);
  }

  std::string typed_shape(const Tensor& tensor) const { return tensor.dims.empty() ? "[0i64; 0]" : shape_of(tensor); }

  void print_state(const Tensor& state, size_t output) {
    const unsigned code = dlpack_type(state.dtype).code;
    const auto input = static_cast<size_t>(entry_.outputs[output].pair);
    line("    let mut out_{} = in_{};", output, input);
    line("    let (input{0}, output{1}) = relax_rt::state({2}, states.{3}, &in_{0}, &mut out_{1})?;", input, output,
         code, name_of(state));
  }

  void print_output(size_t i) {
    const Tensor& output = entry_.outputs[i];
    const std::string name = name_of(output);
    line("    let mut out_{} = [0i64; {}];", i, output.dims.size());
    if (output.data_dependent && !output.dims.empty()) {
      line("    out_{0}.fill(1);\n    out_{0}[0] = outputs.{1}.len() as i64;", i, name);
    } else {
      line("    // SAFETY: there is a place for each of its dims.");
      line("    unsafe {{ function.output_shape(&symbols, {0}, &mut out_{0})? }};", i);
    }
    line("    let output{0} = Output::new({1}, outputs.{2}, &mut out_{0})?;", i,
         static_cast<unsigned>(dlpack_type(output.dtype).code), name);
  }

  const Object& object_;
  const Entry& entry_;
  size_t index_;
  bool unsafe_extern_;
  bool has_dims_ = false, has_inputs_ = false, has_states_ = false, has_outputs_ = false;
  std::set<std::string> taken_;
  std::vector<std::string> dims_;  ///< names of the symbols in Rust
  std::string out_;
};

/// Returns a name for an entry's module that no other module has.
std::string module_name(const std::string& entry, std::set<std::string>& taken) {
  std::string name = rust_name(entry, taken);
  if (name == entry && entry != "main") return name;
  while (!taken.insert(name).second) name += "_";
  return name;
}

}  // namespace

std::string rust_safe_module(const Object& object, bool unsafe_extern) {
  std::string out = fmt::format("// Safe calls of the model {}. Written by relaxc; changes are lost.\n", object.name);
  const std::string attributes =
      "#[allow(non_snake_case, non_camel_case_types, dead_code, unused_imports, unused_mut, unused_variables)]\n";
  std::set<std::string> taken{"main"};
  for (const Entry& entry : object.entries) taken.insert(entry.identifier);
  for (size_t i = 0; i < object.entries.size(); ++i) {
    const std::string text = SafeEntry(object, i, unsafe_extern).run();
    const std::string& own = object.entries[i].identifier;
    const std::string name = own.empty() ? "main" : module_name(own, taken);
    out += attributes + "pub mod " + name + " {\n" + text + "}\n";
    if (own.empty()) out += "#[allow(unused_imports)]\npub use self::main::*;\n";
  }
  return out;
}

}  // namespace relaxc::interface
