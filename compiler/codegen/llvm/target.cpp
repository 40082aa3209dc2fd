// target.cpp: resolves the names that a user gives to a Target.
//
// LLVM accepts any CPU or feature name with no more than a line on stderr, so names are checked against its tables
// first; the message then suggests the right one.
#include "compiler/codegen/llvm/target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/ARMTargetParser.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <mutex>

#include "compiler/codegen/llvm/machine.h"
#include "compiler/support/suggest.h"
#include "targets/host_caches.h"

namespace relaxc::codegen_llvm {
namespace {

/// Initializes LLVM's targets once, in whichever thread is first.
void initialize() {
  static std::once_flag done;
  std::call_once(done, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
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

bool writes_format(const llvm::Triple& triple) {
  bool wide = triple.getArch() == llvm::Triple::x86_64 || triple.getArch() == llvm::Triple::aarch64;
  return triple.isOSBinFormatELF() || (wide && (triple.isOSBinFormatCOFF() || triple.isOSBinFormatMachO())) ||
         (triple.isOSBinFormatWasm() && triple.isWasm() && !triple.isArch64Bit());
}

/// Whether there is code for the architecture: little-endian, 64-bit integers aligned to 8 bytes in C as in the ABI.
bool has_code(const llvm::Triple& triple) {
  switch (triple.getArch()) {
    case llvm::Triple::x86_64:
    case llvm::Triple::aarch64:
    case llvm::Triple::arm:
    case llvm::Triple::thumb:
    case llvm::Triple::riscv32:
    case llvm::Triple::riscv64:
    case llvm::Triple::wasm32:
      return true;
    default:
      return false;
  }
}

/// Whether the CPU has the vectors of M-profile ARM, of floats as well.
bool has_helium(const llvm::MCSubtargetInfo& info) {
  return info.checkFeatures("+mve.fp");
}

/// RISC-V leaves the width of its registers to the CPU; its features say what they have at least (`v` alone: 128), and
/// vectors of that fixed width run on any that has more.
int32_t least_vector_bits(const llvm::MCSubtargetInfo& info) {
  if (!info.checkFeatures("+v")) return 0;
  for (const auto& [feature, bits] : {std::pair("+zvl512b", 512), std::pair("+zvl256b", 256)})
    if (info.checkFeatures(feature)) return bits;
  return 128;
}

/// The width in bits of the widest vector registers that the CPU's features offer; 0 if there are none.
int32_t vector_bits(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  if (triple.isX86())
    return info.checkFeatures("+avx512f") ? 512
           : info.checkFeatures("+avx2")  ? 256
           : info.checkFeatures("+sse2")  ? 128
                                          : 0;
  if (triple.isAArch64()) return info.checkFeatures("+neon") ? 128 : 0;
  if (triple.isWasm()) return info.checkFeatures("+simd128") ? 128 : 0;
  if (triple.isARM() || triple.isThumb()) return info.checkFeatures("+neon") || has_helium(info) ? 128 : 0;
  if (triple.isRISCV()) return least_vector_bits(info);
  return 0;
}

/// The number of registers for elements: vector registers, or integer ones if there are none (Thumb-1 names eight).
int32_t vector_registers(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info, int32_t bits) {
  if (bits == 0 && triple.isThumb() && !info.checkFeatures("+thumb2")) return 8;
  if (triple.isThumb() && has_helium(info)) return 8;
  return bits == 512 || triple.isAArch64() || triple.isRISCV() ? 32 : 16;
}

bool has_fma(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  if (triple.isX86()) return info.checkFeatures("+fma");
  if (triple.isRISCV()) return info.checkFeatures("+d");
  // A CPU that has it for single precision alone would call a function for double.
  if (triple.isARM() || triple.isThumb()) return info.checkFeatures("+vfp4d16") && !info.checkFeatures("+soft-float");
  return triple.isAArch64();
}

/// Whether the CPU has Arm's DSP extension, with smlad.
bool has_halves(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  return (triple.isARM() || triple.isThumb()) && info.checkFeatures("+dsp");
}

DotProducts dot_products(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  auto has = [&](const char* features) { return info.checkFeatures(features); };
  DotProducts out;
  if (triple.isAArch64())
    out.bits128 = has("+i8mm") ? DotProduct::kMixed : has("+dotprod") ? DotProduct::kSameSign : DotProduct::kNone;
  // Without vectors, smlad adds two products to one sum.
  if (has_halves(triple, info) && vector_bits(triple, info) == 0) out.bits128 = DotProduct::kPairs;
  if (triple.isWasm() && has("+simd128")) out.bits128 = DotProduct::kPairs;
  if (!triple.isX86()) return out;
  auto best = [&](bool words, const char* pairs) {
    return words ? DotProduct::kMixed : has(pairs) ? DotProduct::kPairs : DotProduct::kNone;
  };
  bool words = has("+avxvnni") || has("+avx512vnni,+avx512vl");
  out.bits512 = best(has("+avx512vnni"), "+avx512bw");
  out.bits256 = best(words, "+avx2");
  out.bits128 = best(words, "+sse2");
  return out;
}

BFloatDots bfloat_dots(const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  auto has = [&](const char* features) { return info.checkFeatures(features); };
  BFloatDots out;
  if (triple.isAArch64()) out.bits128 = has("+bf16");
  if (triple.isX86()) out.bits512 = has("+avx512bf16"), out.bits256 = out.bits128 = has("+avx512bf16,+avx512vl");
  return out;
}

void describe(Target& target, const llvm::Triple& triple, const llvm::MCSubtargetInfo& info) {
  target.pointer_bits = triple.isArch64Bit() ? 64 : 32;
  target.vector_bits = vector_bits(triple, info);
  target.vector_registers = vector_registers(triple, info, target.vector_bits);
  target.has_fma = has_fma(triple, info);
  target.dots = dot_products(triple, info);
  target.bfloat_dots = bfloat_dots(triple, info);
  target.byte_matrices = triple.isAArch64() && info.checkFeatures("+i8mm");
  bool wasm_threads = triple.isWasm() && info.checkFeatures("+atomics");
  target.task_slots = triple.isOSUnknown() && !wasm_threads ? 1 : 8;
}

/// Limits the vector width and registers that schedules use; an error if they exceed those of the CPU.
Status narrow_vectors(const Machine& machine, Target& target, Diagnostics& diag) {
  const auto most = [&](const char* field, std::optional<int32_t> said, int32_t& own) -> Status {
    if (said && *said > own)
      return diag.error(nullptr, Kind::usage, "\"{}\" is {}, and CPU '{}' has no more than {}", field, *said,
                        target.cpu, own);
    if (said) own = *said;
    return Done{};
  };
  RELAXC_DO(most("vector_bits", machine.vector_bits, target.vector_bits));
  return most("vector_registers", machine.vector_registers, target.vector_registers);
}

/// Sets the triple of this float ABI and the feature that it needs; false if ARM has no ABI of this name.
bool choose_float_abi(const std::string& name, llvm::Triple& triple, std::string& features) {
  bool gnu = triple.isOSLinux();
  if (name == "hard")
    triple.setEnvironment(gnu ? llvm::Triple::GNUEABIHF : llvm::Triple::EABIHF);
  else if (name == "soft" || name == "softfp")
    triple.setEnvironment(gnu ? llvm::Triple::GNUEABI : llvm::Triple::EABI);
  else
    return false;
  if (name == "soft") features += (features.empty() ? "" : ",") + std::string("+soft-float");
  return true;
}

/// The profile of an ARM triple; nothing else in the names of architectures tells ARMv7-A from ARMv7-R.
llvm::ARM::ProfileKind profile(const llvm::Triple& triple) {
  return llvm::ARM::parseArchProfile(triple.getArchName());
}

/// The machine that a triple means without a CPU: the first known one of its architecture, with or without a system.
const KnownMachine* usual_machine(const llvm::Triple& triple) {
  for (const KnownMachine& known : known_machines()) {
    llvm::Triple other{llvm::StringRef(known.triple)};
    bool same = other.getArch() == triple.getArch() && other.getSubArch() == triple.getSubArch() &&
                profile(other) == profile(triple) && !known.c_only;
    if (same && other.isOSUnknown() == triple.isOSUnknown()) return &known;
  }
  return nullptr;
}

/// Fills in what the description leaves open. An ARM triple without "hf" may mean a CPU without floating-point unit.
void complete(Machine& machine, const llvm::Triple& triple) {
  const KnownMachine* usual = machine.cpu.empty() ? usual_machine(triple) : nullptr;
  if (usual != nullptr) {
    machine.cpu = usual->cpu;
    std::string asked = machine.features;
    machine.features = usual->features;
    if (!asked.empty()) machine.features += (machine.features.empty() ? "" : ",") + asked;
    bool arm = triple.isARM() || triple.isThumb();
    bool hard = triple.getEnvironment() == llvm::Triple::EABIHF || triple.getEnvironment() == llvm::Triple::GNUEABIHF;
    if (arm && !hard && machine.float_abi.empty()) machine.float_abi = "soft";
  }
  if (machine.cpu.empty()) machine.cpu = "generic";
}

/// Suggests a target for C if there is no code for a machine: its name, or a machine of the same sizes without vectors.
std::string c_instead(const llvm::Triple& triple) {
  const KnownMachine* named = find_machine(triple.getArchName().str());
  if (named != nullptr && named->c_only)
    return fmt::format("; its C compiler takes '-o model.c --target={}'", named->name);
  bool little = triple.isLittleEndian();
  if (!little || !(triple.isArch32Bit() || triple.isArch64Bit())) return "";
  return fmt::format("; its C compiler takes '-o model.c --target={}'",
                     triple.isArch32Bit() ? "riscv32imac" : "riscv64gc");
}

/// "; did you mean 'x'?" of the names nearest to `name`, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  std::optional<std::string> near = nearest_name(name, names);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

std::string near_target(const std::string& name) {
  std::vector<std::string> names{"native"};
  for (const KnownMachine& machine : known_machines()) names.emplace_back(machine.name);
  for (const KnownMachine& machine : known_machines()) names.emplace_back(machine.triple);
  for (std::string_view other : {"cuda", "gpu", "opencl", "vulkan", "metal", "rocm", "webgpu", "nvptx"})
    if (name == other) return "; relaxc compiles for CPUs alone";
  return nearest_name(name, names) ? did_you_mean(name, names)
                                   : "; of a chip or board, name its core, as in --target cortex-m4";
}

/// Whether a name is an architecture and a word that LLVM does not know, close to a machine's name: "wasm32-relax".
/// LLVM takes it for the architecture without anything else.
bool is_misspelt_machine(const std::string& name, const llvm::Triple& triple) {
  const bool says_more = triple.getVendor() != llvm::Triple::UnknownVendor ||
                         triple.getOS() != llvm::Triple::UnknownOS || triple.hasEnvironment();
  if (says_more || std::count(name.begin(), name.end(), '-') != 1) return false;
  std::vector<std::string> names;
  for (const KnownMachine& machine : known_machines()) names.emplace_back(machine.name);
  return nearest_name(name, names).has_value();
}

/// Suggests the name nearest to a CPU that the target does not have, or the machine of that name.
std::string near_cpu(const std::string& name, const llvm::MCSubtargetInfo& info) {
  if (find_machine(name) != nullptr) return fmt::format("; --target={} is a machine of this name", name);
  std::vector<std::string> names;
  for (const llvm::SubtargetSubTypeKV& cpu : info.getAllProcessorDescriptions()) names.emplace_back(cpu.Key);
  if (nearest_name(name, names)) return did_you_mean(name, names);
  names.clear();
  for (const KnownMachine& machine : known_machines()) names.emplace_back(machine.name);
  std::optional<std::string> near = nearest_name(name, names);
  return near ? fmt::format("; did you mean --target={}?", *near) : "";
}

std::string near_feature(llvm::StringRef feature, const llvm::MCSubtargetInfo& info) {
  std::vector<std::string> names;
  for (const llvm::SubtargetFeatureKV& one : info.getAllProcessorFeatures())
    names.push_back(feature.substr(0, 1).str() + one.Key);
  return did_you_mean(feature.str(), names);
}

/// Reports an error if no object can be written for such a machine.
Status check_triple(const llvm::Triple& triple, Diagnostics& diag) {
  if (!writes_format(triple))
    return diag.error(
        nullptr, Kind::usage,
        "target '{}' has an object format that relaxc does not write; it writes ELF, COFF and Mach-O for 64-bit "
        "machines, and 32-bit WebAssembly",
        triple.str());

  if (!has_code(triple))
    return diag.error(
        nullptr, Kind::usage,
        "target '{}' has an architecture that relaxc does not support; it supports x86-64, aarch64, 32-bit ARM, RISC-V "
        "and 32-bit WebAssembly, all little-endian{}",
        triple.str(), c_instead(triple));
  return Done{};
}

/// Replaces the CPU "native" by this machine's CPU, its features and the size of its first cache.
Status name_native(Machine& machine, const llvm::Triple& triple, Diagnostics& diag) {
  if (triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return diag.error(nullptr, Kind::usage, "--mcpu=native is for this machine, not for '{}'", machine.triple);
  machine.cpu = llvm::sys::getHostCPUName().str();
  machine.features = native_features() + (machine.features.empty() ? "" : ",") + machine.features;
  // L2 keeps its default: the rules' costs hold for 512 KB, and with 1 MB BERT-base took 10 to 18% longer on a Zen 5.
  auto l1 = machine.says("l1_bytes") ? std::nullopt : host_cache_bytes(1);
  if (l1) machine.say("l1_bytes", static_cast<double>(*l1));
  return Done{};
}

/// Reports a feature that the architecture does not have, or that has no sign (+ or -).
Status check_features(const std::string& asked, const llvm::MCSubtargetInfo& plain, const std::string& triple,
                      Diagnostics& diag) {
  const llvm::SubtargetFeatures named(asked);
  for (const std::string& feature : named.getFeatures()) {
    if (feature.empty() || !llvm::SubtargetFeatures::hasFlag(feature))
      return diag.error(nullptr, Kind::usage,
                        "CPU feature '{0}' has no sign; write "
                        "+{0} or -{0}",
                        feature);
    if (!known_feature(plain, llvm::SubtargetFeatures::StripFlag(feature)))
      return diag.error(nullptr, Kind::usage, "unknown CPU feature '{}' for target '{}'{}", feature, triple,
                        near_feature(feature, plain));
  }
  return Done{};
}

}  // namespace

Result<Target> resolve_target(const Machine& described, Diagnostics& diag) {
  initialize();
  Machine machine = described;
  llvm::Triple triple(llvm::Triple::normalize(machine.triple.empty() ? llvm::sys::getProcessTriple() : machine.triple));
  std::string error;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (known == nullptr || is_misspelt_machine(machine.triple, triple))
    return diag.error(nullptr, Kind::usage,
                      "unknown target '{}'; --print-targets lists names, and triples are LLVM's{}", machine.triple,
                      near_target(machine.triple));
  RELAXC_DO(check_triple(triple, diag));
  Target target;
  const std::string asked = machine.features;
  if (machine.cpu == "native") RELAXC_DO(name_native(machine, triple, diag));
  complete(machine, triple);
  if (!machine.float_abi.empty()) {
    bool arm = triple.isARM() || triple.isThumb();
    if (!arm) return diag.error(nullptr, Kind::usage, "target '{}' has no choice of float ABI", triple.str());
    if (!choose_float_abi(machine.float_abi, triple, machine.features))
      return diag.error(nullptr, Kind::usage, "unknown float ABI '{}'; expected soft, softfp or hard",
                        machine.float_abi);
  }
  target.triple = triple.str();
  target.cpu = machine.cpu;
  target.features = machine.features;

  std::unique_ptr<llvm::MCSubtargetInfo> plain(known->createMCSubtargetInfo(triple, "", ""));
  RELAXC_CHECK(plain != nullptr, "LLVM has no subtarget of " + target.triple);
  if (!plain->isCPUStringValid(target.cpu))
    return diag.error(nullptr, Kind::usage, "unknown CPU '{}' for target '{}'{}", machine.cpu, target.triple,
                      near_cpu(machine.cpu, *plain));
  RELAXC_DO(check_features(asked, *plain, target.triple, diag));
  std::unique_ptr<llvm::MCSubtargetInfo> info(known->createMCSubtargetInfo(triple, target.cpu, target.features));
  // LLVM accepts such a CPU, but ends the program when it generates code.
  bool narrow = triple.isArch64Bit() && known_feature(*plain, "64bit") && !info->checkFeatures("+64bit");
  if (narrow)
    return diag.error(nullptr, Kind::usage, "CPU '{}' is not a 64-bit CPU, as target '{}' needs", machine.cpu,
                      target.triple);
  describe(target, triple, *info);
  RELAXC_DO(narrow_vectors(machine, target, diag));
  if (machine.task_slots) target.task_slots = *machine.task_slots;
  static_cast<MachineModel&>(target) = machine.applied(model_of_cpu(target.cpu));
  return target;
}

Result<Target> resolve_target(const std::string& triple, const std::string& cpu, const std::string& features,
                              Diagnostics& diag) {
  Machine machine;
  machine.triple = triple;
  machine.cpu = cpu;
  machine.features = features;
  return resolve_target(machine, diag);
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target, OptLevel level) {
  initialize();
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, error);
  RELAXC_CHECK(known != nullptr, error);
  // Without an operating system the code is not relocated: tables of addresses are constants that can stay in flash.
  auto model = triple.isOSUnknown() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  llvm::TargetOptions options;
  options.FunctionSections = options.DataSections = true;
  options.UniqueSectionNames = true;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.EmitAddrsig = false;
  bool fast = level == OptLevel::kO0 || level == OptLevel::kFast;
  auto effort = fast                     ? llvm::CodeGenOptLevel::None
                : level == OptLevel::kO1 ? llvm::CodeGenOptLevel::Less
                : level == OptLevel::kO3 ? llvm::CodeGenOptLevel::Aggressive
                                         : llvm::CodeGenOptLevel::Default;
  // The memories of 64-bit RISC-V begin at 2 GB, beyond what addresses of the small model reach.
  std::optional<llvm::CodeModel::Model> reach;
  if (model == llvm::Reloc::Static && triple.isRISCV64()) reach = llvm::CodeModel::Medium;
  std::unique_ptr<llvm::TargetMachine> machine(
      known->createTargetMachine(triple, target.cpu, target.features, options, model, reach, effort));
  RELAXC_CHECK(machine != nullptr, "LLVM has no machine for " + target.triple);
  return machine;
}

Capabilities capabilities_of(const Target& target, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const llvm::Triple& triple = machine.getTargetTriple();
  Capabilities out;
  out.fma = target.has_fma;
  if (triple.isARM() || triple.isThumb()) {
    bool soft = info.checkFeatures("+soft-float");
    out.sqrt_single = !soft && info.checkFeatures("+vfp2sp");
    out.doubles = out.sqrt_double = out.sqrt_single && info.checkFeatures("+fp64");
    out.fma_single = !soft && info.checkFeatures("+vfp4d16sp");
    out.rounded_integers = out.sqrt_single;  // the same version of the unit has both
  } else if (triple.isRISCV()) {
    out.sqrt_single = out.fma_single = info.checkFeatures("+f");
    out.doubles = out.sqrt_double = info.checkFeatures("+d");
  }
  out.half = triple.isAArch64() || (triple.isX86() && info.checkFeatures("+f16c"));
  out.rounding = triple.isAArch64() || triple.isWasm() || (triple.isX86() && info.checkFeatures("+sse4.1"));
  out.dots = target.dots;
  out.bfloat_dots = target.bfloat_dots;
  out.byte_tiles = byte_tile_form(target);
  out.byte_matrices = target.byte_matrices;
  out.halves = has_halves(triple, info);
  out.dual_issue = info.getSchedModel().IssueWidth >= 2;
  out.lane_sums = triple.isThumb() && has_helium(info);
  out.byte_permutes = triple.isX86() && info.checkFeatures("+avx512vbmi");
  out.neon = triple.isAArch64();
  out.wasm = triple.isWasm();
  out.may_fuse = out.wasm && info.checkFeatures("+relaxed-simd");
  return out;
}

bool link_together(const std::string& triple, const std::string& other) {
  llvm::Triple a{llvm::StringRef(triple)}, b{llvm::StringRef(other)};
  auto is_arm = [](const llvm::Triple& t) { return t.isARM() || t.isThumb(); };
  auto is_hard = [](const llvm::Triple& t) {
    return t.getEnvironment() == llvm::Triple::EABIHF || t.getEnvironment() == llvm::Triple::GNUEABIHF;
  };
  if (a.getObjectFormat() != b.getObjectFormat()) return false;
  if (is_arm(a) && is_arm(b)) return is_hard(a) == is_hard(b);
  return a.getArch() == b.getArch();
}

bool links_here(const std::string& triple) {
  return link_together(triple, llvm::sys::getDefaultTargetTriple());
}

}  // namespace relaxc::codegen_llvm
