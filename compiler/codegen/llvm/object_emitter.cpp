// object_emitter.cpp: the order of an object's contents, its weights, and its tie to the runtime's version.
#include "compiler/codegen/llvm/object_emitter.h"

#include <fmt/format.h>

#include "compiler/interface/call_order.h"

namespace relaxc::codegen_llvm {

std::string weights_symbol(const interface::Object& object) {
  return object.name + ".weights";
}
std::string weights_section(const interface::Object& object) {
  return ".rodata." + weights_symbol(object);
}

void ObjectEmitter::run(const std::string& weights_text) {
  for (const tir::PrimFunc* function : interface::called_before_listed(object_))
    lowering_.declare(*function, object_.name + ".f." + function->name);
  for (const tir::PrimFunc* function : object_.functions)
    lowering_.add(*function, object_.name + ".f." + function->name);
  for (const interface::PublicPrimFunc& function : object_.public_prim_funcs) public_function(function);
  for (const Entry& entry : object_.entries) {
    typed_call(entry);
    typed_arena(entry);
  }
  llvm::GlobalVariable* model = model_table();
  if (!object_.selftest.data.empty()) selftest(model);
  if (object_.weights.bytes == 0 || object_.weights.separate) return;
  uint32_t alignment = std::max<uint32_t>(object_.weights.alignment, 1);
  std::string name = weights_symbol(object_);
  module_.appendModuleInlineAsm(
      fmt::format(".section {0},\"a\",%progbits\n.balign {1}\n.type \"{2}\",%object\n.size \"{2}\",{3}\n\"{2}\":\n{4}",
                  weights_section(object_), alignment, name, object_.weights.bytes, weights_text));
}

/// The weights are defined in assembly: for LLVM they are memory of unknown contents, which it neither copies nor
/// folds.
llvm::Value* ObjectEmitter::weights_address(llvm::IRBuilder<>& b, llvm::Value* call_context) {
  llvm::LLVMContext& context = module_.getContext();
  if (object_.weights.bytes == 0) return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  if (object_.weights.separate) {
    llvm::Value* file = b.CreateLoad(b.getPtrTy(), field(b, call_context, Record::kContext, "weights"));
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), file, interface::kWeightsHeaderBytes);
  }
  std::string name = weights_symbol(object_);
  if (llvm::GlobalVariable* known = module_.getNamedGlobal(name)) return known;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), object_.weights.bytes);
  auto* weights = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::ExternalLinkage, nullptr, name);
  weights->setDSOLocal(true);
  weights->setAlignment(llvm::Align(std::max<uint32_t>(object_.weights.alignment, 1)));
  return weights;
}

/// A relocation that does nothing, except that the linker must find the runtime of this version.
void ObjectEmitter::refer_to_runtime(const std::string& section, const char* flags) {
  module_.appendModuleInlineAsm(
      fmt::format(".section {},\"{}\",%progbits\n.reloc 0, BFD_RELOC_NONE, rlx_abi_1", section, flags));
}

}  // namespace relaxc::codegen_llvm
