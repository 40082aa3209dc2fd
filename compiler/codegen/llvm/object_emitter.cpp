// object_emitter.cpp: emits an object's contents in order, its weights, and its reference to the runtime's version.
#include "compiler/codegen/llvm/object_emitter.h"

#include <fmt/format.h>

#include "compiler/interface/call_order.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {
namespace {

bool calls_others(const tir::PrimFunc& function) {
  bool calls = false;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    const auto* invoke = s.as<tir::Invoke>();
    calls |= invoke != nullptr && !invoke->external;
  });
  return calls;
}

}  // namespace

std::string weights_symbol(const interface::Object& object) {
  return object.name + ".weights";
}
std::string weights_section(const interface::Object& object, const llvm::Triple& triple) {
  if (triple.isOSBinFormatMachO())
    return "__rlx_weights";  // sixteen letters at most, and its symbol says whose they are
  if (triple.isOSBinFormatCOFF()) return ".rdata$" + weights_symbol(object);
  return ".rodata." + weights_symbol(object);
}

void ObjectEmitter::lower_functions() {
  for (const tir::PrimFunc* function : interface::called_before_listed(object_))
    lowering_.declare(*function, object_.name + ".f." + function->name);
  for (const tir::PrimFunc* function : object_.functions)
    lower(lowering_, *function, object_.name + ".f." + function->name);
}

/// Lowers `function` into this module, or leaves it to another one if this is full.
void ObjectEmitter::lower(ModuleLowering& lowering, const tir::PrimFunc& function, const std::string& symbol) {
  bool here = elsewhere_ == nullptr || lowering.find(function.name) != nullptr ||
              (elsewhere_->empty() && !is_full(module_)) || calls_others(function);
  if (here) return void(lowering.add(function, symbol));
  lowering.declare_elsewhere(function, symbol);
  elsewhere_->push_back({&function, symbol, &lowering.options()});
}

void ObjectEmitter::run(const std::string& weights_text) {
  levels_.empty() ? lower_functions() : lower_levels();
  auto add = [&](const tir::PrimFunc& function) { c_function(function, function.name); };
  for (const interface::PublicPrimFunc& function : object_.public_prim_funcs) {
    add(made_.public_function(function));
    if (std::optional<tir::PrimFunc> size = made_.public_arena_bytes(function)) add(*size);
  }
  for (const Entry& entry : object_.entries) {
    add(made_.run(entry));
    if (std::optional<tir::PrimFunc> size = made_.arena_bytes(entry)) add(*size);
  }
  llvm::GlobalVariable* model = model_table();
  if (!object_.selftest.data.empty()) selftest(model);
  if (object_.weights.bytes == 0 || object_.weights.separate) return;
  define_weights(weights_text);
}

llvm::Function* ObjectEmitter::c_function(const tir::PrimFunc& function, const std::string& symbol,
                                          ObjectAddresses tables) {
  tables.emplace("weights", weights_address());
  llvm::Function* made = lowering_.add_c_function(function, symbol, tables);
  const bool named = function.c_function->is_global;  // named by the program; else the model's table ties it
  if (named && function.c_function->ties_runtime) refer_to_runtime(".text." + symbol, "ax");
  return made;
}

llvm::GlobalVariable* ObjectEmitter::model_table() {
  std::string cpus = levels_.empty() ? lowering_.options().cpu : "";
  for (const LoweredLevel& level : levels_) cpus += (cpus.empty() ? "" : ",") + level.name;
  interface::CodeFacts facts;
  facts.target = module_.getTargetTriple().str() + " " + cpus;
  facts.needs_context = [&](const std::string& name) {
    const Signature* function = lowering_.find(name);
    return function != nullptr && function->needs_context;
  };
  llvm::GlobalVariable* model = tables_.define(interface::object_tables(object_, made_, facts));
  const std::string name = model->getName().str();
  if (module_.getPICLevel() == llvm::PICLevel::NotPIC)
    refer_to_runtime(".rodata." + name, "a");
  else
    refer_to_runtime(".data.rel.ro." + name, "aw");
  return model;
}

void ObjectEmitter::selftest(llvm::GlobalVariable* model) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(object_.selftest.data.data());
  llvm::GlobalVariable* data = tables_.bytes({bytes, object_.selftest.data.size()}, object_.name + ".selftest");
  data->setAlignment(llvm::Align(8));
  c_function(made_.selftest(), object_.name + "_selftest", {{"model", model}, {"selftest", data}});
}

llvm::Function* ObjectEmitter::declare(const std::string& name, llvm::FunctionType* type, bool global) {
  auto linkage = global ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
  llvm::Function* function = llvm::Function::Create(type, linkage, name, module_);
  lowering_.set_attributes(*function);
  return function;
}

llvm::Value* ObjectEmitter::field(llvm::IRBuilder<>& b, llvm::Value* address, Record which, std::string_view name) {
  return b.CreateStructGEP(lowering_.record(which), address, interface::field_index(which, name));
}

/// Defines the weights in assembly, whose directives differ between object formats. Their symbol is not global, so no
/// other object sees it.
void ObjectEmitter::define_weights(const std::string& weights_text) {
  const llvm::Triple& triple = module_.getTargetTriple();
  uint32_t alignment = std::max<uint32_t>(object_.weights.alignment, 1);
  std::string section = weights_section(object_, triple), name = weights_symbol(object_);
  if (char prefix = module_.getDataLayout().getGlobalPrefix(); prefix != 0) name.insert(0, 1, prefix);
  std::string directive = triple.isOSBinFormatMachO()  ? "__TEXT," + section
                          : triple.isOSBinFormatCOFF() ? section + ",\"dr\""
                          : triple.isOSBinFormatWasm() ? section + ",\"\",@"
                                                       : section + ",\"a\",%progbits";
  if (!triple.isOSBinFormatWasm()) name = "\"" + name + "\"";  // wasm's assembler takes no quotes
  bool typed = triple.isOSBinFormatELF() || triple.isOSBinFormatWasm();
  std::string type = typed ? fmt::format(".type {0},{1}object\n.size {0},{2}\n", name,
                                         triple.isOSBinFormatELF() ? "%" : "@", object_.weights.bytes)
                           : "";
  module_.appendModuleInlineAsm(fmt::format(".section {}\n.p2align {}\n{}{}:\n{}", directive,
                                            llvm::Log2_32_Ceil(alignment), type, name, weights_text));
}

/// The weights are defined in assembly: for LLVM they are memory of unknown contents, which it neither copies nor
/// folds.
llvm::Constant* ObjectEmitter::weights_address() {
  llvm::LLVMContext& context = module_.getContext();
  if (object_.weights.bytes == 0 || object_.weights.separate)
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  std::string name = weights_symbol(object_);
  if (llvm::GlobalVariable* known = module_.getNamedGlobal(name)) return known;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), object_.weights.bytes);
  auto* weights = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::ExternalLinkage, nullptr, name);
  weights->setDSOLocal(true);
  weights->setAlignment(llvm::Align(std::max<uint32_t>(object_.weights.alignment, 1)));
  return weights;
}

/// Adds a relocation without effect for which the linker must find the runtime of this version; only ELF has such ones.
void ObjectEmitter::refer_to_runtime(const std::string& section, const char* flags) {
  if (!module_.getTargetTriple().isOSBinFormatELF()) return;
  module_.appendModuleInlineAsm(
      fmt::format(".section {},\"{}\",%progbits\n.reloc 0, BFD_RELOC_NONE, rlx_abi_1", section, flags));
}

}  // namespace relaxc::codegen_llvm
