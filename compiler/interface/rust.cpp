// rust.cpp: what the C header says, for Rust. Records come from the table of layouts, names from the typed call.
#include "compiler/interface/rust.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/interface/c_type.h"
#include "compiler/interface/layout.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::interface {
namespace {

/// The Rust type of a stored element.
std::string rust_type(DType dtype) {
  std::string c = c_type(dtype);
  if (c == "float") return "f32";
  if (c == "double") return "f64";
  bool is_unsigned = c[0] == 'u';
  size_t digits = c.find_first_of("0123456789");
  return (is_unsigned ? "u" : "i") + c.substr(digits, c.find('_') - digits);
}

std::string field_type(std::string_view name, FieldKind kind) {
  if (name == "error") return "*mut rlx_error";
  if (name == "pools") return "*const rlx_memory_pool";
  static constexpr const char* kTypes[] = {"u8", "u16", "i32", "u32", "i64", "u64", "*mut c_void"};
  return kTypes[static_cast<size_t>(kind)];
}

/// A name that may stand in Rust beside `fields`: words of its grammar as raw identifiers, and the few that cannot be
/// raw with an underscore.
std::string name_of(const std::string& name, const std::vector<CallField>& fields) {
  static const std::set<std::string> kWords = {
      "as",    "async", "await",    "box",    "dyn",      "enum",    "fn",      "impl",   "in",
      "let",   "loop",  "match",    "mod",    "move",     "mut",     "pub",     "ref",    "trait",
      "type",  "try",   "unsafe",   "use",    "where",    "yield",   "false",   "true",   "final",
      "macro", "priv",  "abstract", "become", "override", "unsized", "virtual", "typeof", "gen"};
  if (name != "self" && name != "super" && name != "Self" && name != "crate")
    return kWords.count(name) != 0 ? "r#" + name : name;
  std::string made = name + "_";
  auto taken = [&](const CallField& field) { return field.name == made; };
  while (std::any_of(fields.begin(), fields.end(), taken)) made += "_";
  return made;
}

class Module {
 public:
  Module(const Object& object, bool unsafe_extern, std::span<const uint64_t> run_stack_max)
      : object_(object), unsafe_extern_(unsafe_extern), run_stack_max_(run_stack_max) {}

  std::string run() {
    line("// How to call the model {}. Written by relaxc; changes are lost.", object_.name);
    line(
        "#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code)]\nuse core::ffi::c_void;\n");
    record(Record::kError);
    record(Record::kMemoryPool);
    record(Record::kContext);
    line("impl rlx_context {{");
    line("    /// A context of this version of the interface, with nothing else set.");
    line("    pub fn new() -> Self {{\n        // SAFETY: all fields are numbers and pointers.");
    line("        let mut context: Self = unsafe {{ core::mem::zeroed() }};\n        context.abi_version = 1;");
    line("        context.struct_size = core::mem::size_of::<Self>() as u32;\n        context\n    }}\n}}\n");
    for (size_t i = 0; i < object_.entries.size(); ++i)
      print(object_.entries[i], i < run_stack_max_.size() ? run_stack_max_[i] : UINT64_MAX);
    return out_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  void record(Record which) {
    line("#[repr(C)]\npub struct {} {{", record_name(which));
    for (const Field& field : fields(which)) line("    pub {}: {},", field.name, field_type(field.name, field.kind));
    line("}}\n");
  }

  void print(const Entry& entry, uint64_t run_stack_max) {
    std::string prefix = entry_prefix(object_, entry);
    if (run_stack_max != UINT64_MAX) constant(capitals(prefix) + "RUN_STACK_MAX", run_stack_max);
    if (entry.arena_max != UINT64_MAX) {
      constant(capitals(prefix) + "ARENA_MAX", entry.arena_max);
      print_memory(prefix + "arena", entry.arena_max, entry.arena_align);
    }
    for (const Pool& pool : entry.pools) {
      constant(capitals(prefix) + "POOL_" + capitals(pool.name) + "_BYTES", pool.bytes);
      print_memory(prefix + "pool_" + pool.name, pool.bytes, entry.arena_align);
    }
    line("#[repr(C)]\npub struct {}args {{", prefix);
    std::vector<CallField> all = call_fields(object_, entry);
    for (const CallField& field : all) line("    pub {}: {},", name_of(field.name, all), type_of(entry, field));
    if (all.empty()) line("    pub unused: u8,");
    line("}}\n");
    line("{}extern \"C\" {{\n    /// Runs the model: 0, or an rlx_status. Pointers are not checked.",
         unsafe_extern_ ? "unsafe " : "");
    line("    #[link_name = \"{}\"]", run_symbol(object_, entry));
    line("    pub {1}fn {0}run(context: *mut rlx_context, args: *const {0}args) -> i32;\n}}\n", prefix,
         unsafe_extern_ ? "unsafe " : "");
  }

  /// Names that differ in case alone become one; the later one gets a number, as in the C header.
  void constant(const std::string& name, uint64_t value) {
    std::string unique = name;
    for (int i = 2; !constants_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    line("pub const {}: usize = {};", unique, value);
  }

  void print_memory(const std::string& name, uint64_t bytes, uint32_t align) {
    line("#[repr(C, align({}))]\npub struct {}(pub [u8; {}]);\n", std::max<uint32_t>(align, 1), name,
         std::max<uint64_t>(bytes, 1));
  }

  static std::string type_of(const Entry& entry, const CallField& field) {
    switch (field.kind) {
      case CallField::kInput:
        return "*const " + rust_type(entry.inputs[field.index].dtype);
      case CallField::kOutput:
        return "*mut " + rust_type(entry.outputs[field.index].dtype);
      case CallField::kOutputDims:
        return "*mut i64";
      case CallField::kSymbol:
        return "i64";
    }
    RELAXC_UNREACHABLE();
  }

  const Object& object_;
  bool unsafe_extern_;
  std::span<const uint64_t> run_stack_max_;
  std::string out_;
  std::set<std::string> constants_;
};

}  // namespace

std::string rust_module(const Object& object, bool unsafe_extern, std::span<const uint64_t> run_stack_max) {
  return Module(object, unsafe_extern, run_stack_max).run();
}

}  // namespace relaxc::interface
