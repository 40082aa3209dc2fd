// rust.cpp: prints the C header's declarations for Rust, with records of the layout table and names of the typed call.
#include "compiler/interface/rust.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/interface/identifiers.h"
#include "compiler/interface/layout.h"
#include "compiler/interface/rust_names.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::interface {
namespace {

std::string field_type(std::string_view name, FieldKind kind) {
  if (name == "error") return "*mut rlx_error";
  if (name == "pools") return "*const rlx_memory_pool";
  static constexpr const char* kTypes[] = {"u8", "u16", "i32", "u32", "i64", "u64", "*mut c_void"};
  return kTypes[static_cast<size_t>(kind)];
}

std::set<std::string> names_of(const std::vector<CallField>& fields) {
  std::set<std::string> names;
  for (const CallField& field : fields) names.insert(field.name);
  return names;
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
    for (const PublicPrimFunc& named : object_.public_prim_funcs) print_public(named);
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
    std::vector<CallField> all = call_fields(entry);
    for (const CallField& field : all)
      line("    pub {}: {},", rust_name(field.name, names_of(all)), type_of(entry, field));
    if (all.empty()) line("    pub unused: u8,");
    line("}}\n");
    line("{}extern \"C\" {{\n    /// Runs the model: 0, or an rlx_status. Pointers are not checked.",
         unsafe_extern_ ? "unsafe " : "");
    line("    #[link_name = \"{}\"]", run_symbol(object_, entry));
    line("    pub {1}fn {0}run(context: *mut rlx_context, args: *const {0}args) -> i32;\n}}\n", prefix,
         unsafe_extern_ ? "unsafe " : "");
  }

  /// Prints a prim func that C calls, whose parameters are the context, buffers and scalars, and symbols.
  void print_public(const PublicPrimFunc& named) {
    auto function = std::find_if(object_.functions.begin(), object_.functions.end(),
                                 [&](const tir::PrimFunc* one) { return one->name == named.callee(); });
    RELAXC_CHECK(function != object_.functions.end(), "no prim func " + named.name);
    const tir::Param* arena = nullptr;
    for (const tir::Param& param : (*function)->params)
      if (param.buffer != nullptr && !named.arena.empty()) arena = &param;
    std::string parameters = "context: *mut rlx_context", sizes;
    std::set<std::string> taken{"context"};
    auto add = [&](const std::string& name, const std::string& type, bool is_size) {
      std::string unique = rust_name(readable_identifier(name, "p", taken.size() - 1), taken);
      while (!taken.insert(unique).second) unique += "_";
      parameters += ", " + unique + ": " + type;
      if (is_size) sizes += unique + ": i64, ";
    };
    for (const tir::Param& param : (*function)->params)
      if (param.buffer == nullptr)
        add(param.var.name(), rust_type(param.var.dtype()), param.var.dtype().is_index());
      else if (&param != arena)
        add(param.buffer->name, "*mut " + rust_type(param.buffer->dtype), false);
    for (const arith::Var& symbol : (*function)->symbols) add(symbol.name(), "i64", true);
    const std::string symbol = public_symbol(object_, named);
    const bool is_fixed = named.arena_bytes != UINT64_MAX;
    if (arena != nullptr && is_fixed) {
      constant(capitals(symbol) + "_ARENA_BYTES", named.arena_bytes);
      print_memory(symbol + "_arena", named.arena_bytes, kPrimFuncArenaAlign);
    }
    const char* unsafe = unsafe_extern_ ? "unsafe " : "";
    line("{}extern \"C\" {{\n    /// A prim func: 0, or an rlx_status. Pointers are not checked.", unsafe);
    line("    pub {}fn {}({}) -> i32;", unsafe, symbol, parameters);
    if (arena != nullptr && !is_fixed)
      line("    pub {}fn {}_arena_bytes({}rlx_bytes: *mut u64) -> i32;", unsafe, symbol, sizes);
    line("}}\n");
  }

  /// Prints a constant. Names that differ only in case collide in capitals; the later gets a number, as in the header.
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
