// target.cpp: from the names a user gives to a Target.
//
// LLVM takes any CPU or feature name with no more than a line on stderr, so names are checked against its tables first;
// the message then says what would have been right.
#include "compiler/codegen/llvm/target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

void initialize() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
}

std::string native_features() {
  llvm::SubtargetFeatures features;
  for (const auto& [name, on] : llvm::sys::getHostCPUFeatures()) features.AddFeature(name, on);
  std::vector<std::string> all = features.getFeatures();
  std::sort(all.begin(), all.end());
  return llvm::SubtargetFeatures(llvm::join(all, ",")).getString();
}

bool known_feature(const llvm::MCSubtargetInfo& info, llvm::StringRef name) {
  for (const llvm::SubtargetFeatureKV& feature : info.getAllProcessorFeatures())
    if (name == feature.Key) return true;
  return false;
}

/// Widest registers that the CPU's features offer.
int32_t vector_bits(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  if (triple.isX86())
    return info.checkFeatures("+avx512f") ? 512
           : info.checkFeatures("+avx2")  ? 256
           : info.checkFeatures("+sse2")  ? 128
                                          : 0;
  if (triple.isAArch64()) return info.checkFeatures("+neon") ? 128 : 0;
  if (triple.isARM() || triple.isThumb()) return info.checkFeatures("+neon") ? 128 : 0;
  return 0;
}

void describe(Target& target, const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  target.pointer_bits = triple.isArch64Bit() ? 64 : 32;
  target.vector_bits = vector_bits(triple, info);
  target.vector_registers = target.vector_bits == 512 || triple.isAArch64() ? 32 : 16;
  target.has_fma = triple.isAArch64() || (triple.isX86() && info.checkFeatures("+fma"));
  target.task_slots = triple.isOSUnknown() ? 1 : 8;
}

}  // namespace

Result<Target> resolve_target(const std::string& triple_name, const std::string& cpu, const std::string& features,
                              Diagnostics& diag) {
  initialize();
  llvm::Triple triple(llvm::Triple::normalize(triple_name.empty() ? llvm::sys::getProcessTriple() : triple_name));
  std::string error;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (known == nullptr) return diag.error(nullptr, Kind::usage, "unknown target '{}'", triple_name);

  if (!triple.isOSBinFormatELF())
    return diag.error(nullptr, Kind::usage, "target '{}' has no ELF objects", triple.str());
  Target target;
  target.triple = triple.str();
  target.cpu = cpu;
  bool native = cpu == "native";
  if (native) {
    if (triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
      return diag.error(nullptr, Kind::usage, "--mcpu=native is for this machine, not for '{}'", triple_name);
    target.cpu = llvm::sys::getHostCPUName().str();
    target.features = native_features();
  }
  // Without fused multiply-add every polynomial would be emulated; what lacks it is asked for by name (--mcpu=x86-64).
  if (target.cpu.empty()) target.cpu = triple.getArch() == llvm::Triple::x86_64 ? "x86-64-v3" : "generic";
  if (!features.empty()) target.features += (target.features.empty() ? "" : ",") + features;

  std::unique_ptr<llvm::MCSubtargetInfo> plain(known->createMCSubtargetInfo(triple, "", ""));
  RELAXC_CHECK(plain != nullptr, "LLVM has no subtarget of " + target.triple);
  if (!plain->isCPUStringValid(target.cpu))
    return diag.error(nullptr, Kind::usage, "unknown CPU '{}' for target '{}'", cpu, target.triple);
  llvm::SubtargetFeatures asked(features);
  for (const std::string& feature : asked.getFeatures())
    if (!known_feature(*plain, llvm::SubtargetFeatures::StripFlag(feature)))
      return diag.error(nullptr, Kind::usage, "unknown CPU feature '{}' for target '{}'", feature, target.triple);
  std::unique_ptr<llvm::MCSubtargetInfo> info(known->createMCSubtargetInfo(triple, target.cpu, target.features));
  describe(target, triple, *info);
  return target;
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target, OptLevel level) {
  initialize();
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, error);
  RELAXC_CHECK(known != nullptr, error);
  // Without an operating system nobody relocates: tables of addresses are constants and can stay in flash.
  auto model = triple.isOSUnknown() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  llvm::TargetOptions options;
  options.FunctionSections = options.DataSections = true;
  options.UniqueSectionNames = true;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.EmitAddrsig = false;
  auto effort = level == OptLevel::kO0   ? llvm::CodeGenOptLevel::None
                : level == OptLevel::kO1 ? llvm::CodeGenOptLevel::Less
                : level == OptLevel::kO3 ? llvm::CodeGenOptLevel::Aggressive
                                         : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(
      known->createTargetMachine(triple, target.cpu, target.features, options, model, std::nullopt, effort));
  RELAXC_CHECK(machine != nullptr, "LLVM has no machine for " + target.triple);
  return machine;
}

Abilities abilities_of(const Target& target, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const llvm::Triple& triple = machine.getTargetTriple();
  Abilities out;
  out.fma = target.has_fma;
  out.half = triple.isAArch64() || (triple.isX86() && info.checkFeatures("+f16c"));
  out.rounding = triple.isAArch64() || (triple.isX86() && info.checkFeatures("+sse4.1"));
  return out;
}

}  // namespace relaxc::codegen_llvm
