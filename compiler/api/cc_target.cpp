// cc_target.cpp: implements `--target-from-cc`.
//
// Compilers' flags are a language of their own (-march=armv8.1-m.main+mve, -mfpu=auto), so they are not parsed: the
// macros that the compiler predefines show their meaning. Only -mcpu is used as written, if LLVM knows the name, since
// no macro distinguishes a Cortex-M7 from a Cortex-M4. If no flag selects an x86-64 CPU, relaxc chooses one
// (choose_target.cpp); `-march=x86-64` predefines the same macros, so that flag is searched for.
#include "compiler/api/cc_target.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace relaxc::api {
namespace {

/// Returns the output of a shell command, or nothing if it fails.
std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  if (pclose(pipe) != 0) return std::nullopt;
  return text;
}

class Macros {
 public:
  explicit Macros(const std::string& text) {
    std::istringstream lines(text);
    for (std::string define, name, value; lines >> define >> name;) {
      std::getline(lines, value);
      if (define == "#define") values_[name] = value.empty() ? value : value.substr(1);
    }
  }
  bool has(const char* name) const { return values_.count(name) != 0; }
  long number(const char* name) const {
    auto found = values_.find(name);
    return found == values_.end() ? 0 : std::strtol(found->second.c_str(), nullptr, 0);
  }
  bool is(const char* name, const std::string& value) const {
    auto found = values_.find(name);
    return found != values_.end() && found->second == value;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// Returns NAME of the last "-mcpu=NAME+extensions" in a command; empty if there is none or it is "native".
std::string cpu_of(const std::string& command) {
  std::istringstream words(command);
  std::string cpu;
  for (std::string word; words >> word;)
    if (word.rfind("-mcpu=", 0) == 0)
      cpu = word.substr(6, word.find('+') == std::string::npos ? std::string::npos : word.find('+') - 6);
  return cpu == "native" ? "" : cpu;
}

void add(std::string& features, const std::string& feature) {
  features += (features.empty() ? "" : ",") + feature;
}

std::string system_of(const Macros& macros) {
  return macros.has("__linux__") ? "unknown-linux-gnu" : "unknown-none";
}

Machine arm(const Macros& macros, const std::string& command) {
  Machine machine;
  machine.cpu = cpu_of(command);
  long level = macros.number("__ARM_ARCH");
  bool hard = macros.has("__ARM_PCS_VFP"), soft = macros.has("__SOFTFP__") || !macros.has("__ARM_FP");
  machine.float_abi = hard ? "hard" : soft ? "soft" : "softfp";
  if (macros.is("__ARM_ARCH_PROFILE", "'M'") || macros.number("__ARM_ARCH_PROFILE") == 'M') {
    bool dsp = macros.has("__ARM_FEATURE_DSP"), thumb2 = macros.number("__ARM_ARCH_ISA_THUMB") >= 2;
    std::string name = level == 6   ? "thumbv6m"
                       : level == 7 ? (dsp ? "thumbv7em" : "thumbv7m")
                       : macros.has("__ARM_FEATURE_MVE") || macros.has("__ARM_FEATURE_PAUTH") ? "thumbv8.1m.main"
                       : thumb2                                                               ? "thumbv8m.main"
                                                                                              : "thumbv8m.base";
    machine.triple = name + "-unknown-none-eabi" + (hard ? "hf" : "");
    if (level >= 8 && thumb2) add(machine.features, dsp ? "+dsp" : "-dsp");
    if (macros.number("__ARM_FEATURE_MVE") == 0 && name == "thumbv8.1m.main") add(machine.features, "-mve");
    if (!soft) add(machine.features, (macros.number("__ARM_FP") & 8) != 0 ? "+fp64" : "-fp64");
  } else {
    machine.triple = "armv7-" + system_of(macros) + (macros.has("__linux__") ? "eabi" : "-eabi") + (hard ? "hf" : "");
    if (!soft) add(machine.features, macros.has("__ARM_NEON") ? "+neon" : "-neon");
    if (!soft && macros.has("__ARM_FEATURE_FMA")) add(machine.features, "+vfp4");
  }
  if (machine.cpu.empty()) machine.cpu = "generic";
  return machine;
}

Machine aarch64(const Macros& macros, const std::string& command) {
  Machine machine;
  machine.triple = "aarch64-" + system_of(macros) + (macros.has("__linux__") ? "" : "-elf");
  machine.cpu = cpu_of(command).empty() ? "generic" : cpu_of(command);
  if (macros.has("__ARM_FEATURE_DOTPROD")) add(machine.features, "+dotprod");
  if (macros.has("__ARM_FEATURE_FP16_VECTOR_ARITHMETIC")) add(machine.features, "+fullfp16");
  return machine;
}

Machine riscv(const Macros& macros) {
  bool wide = macros.number("__riscv_xlen") == 64;
  Machine machine;
  machine.triple = (wide ? "riscv64-" : "riscv32-") + system_of(macros) + (macros.has("__linux__") ? "" : "-elf");
  machine.cpu = wide ? "generic-rv64" : "generic-rv32";
  static constexpr std::pair<const char*, const char*> kFeatures[] = {
      {"__riscv_mul", "+m"}, {"__riscv_atomic", "+a"}, {"__riscv_compressed", "+c"}};
  for (auto [macro, feature] : kFeatures)
    if (macros.has(macro)) add(machine.features, feature);
  if (macros.number("__riscv_flen") >= 32) add(machine.features, "+f");
  if (macros.number("__riscv_flen") >= 64) add(machine.features, "+d");
  return machine;
}

/// Whether flags of the command choose a level of x86-64, even if it is the one that the compiler has by default.
bool chooses_x86(const std::string& command) {
  std::istringstream words(command);
  for (std::string word; words >> word;)
    for (const char* flag : {"-march=", "-mno-sse", "-mno-avx", "-mno-fma", "-mno-bmi", "-mgeneral-regs-only"})
      if (word.rfind(flag, 0) == 0) return true;
  return false;
}

Machine x86_64(const Macros& macros, const std::string& command) {
  Machine machine;
  machine.triple = "x86_64-" + system_of(macros) + (macros.has("__linux__") ? "" : "-elf");
  bool v4 = macros.has("__AVX512F__") && macros.has("__AVX512BW__") && macros.has("__AVX512CD__") &&
            macros.has("__AVX512DQ__") && macros.has("__AVX512VL__");
  bool v3 = macros.has("__AVX2__") && macros.has("__FMA__") && macros.has("__BMI2__") && macros.has("__F16C__");
  machine.cpu = v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : macros.has("__SSE4_2__") ? "x86-64-v2" : "x86-64";
  if (machine.cpu == "x86-64" && !macros.has("__SSE3__") && macros.has("__linux__") && !chooses_x86(command))
    machine.cpu.clear();
  return machine;
}

}  // namespace

Result<Machine> machine_of_macros(const std::string& command, const std::string& triple, const std::string& text,
                                  Diagnostics& diag) {
  Macros macros(text);
  bool elf = macros.has("__ELF__");
  if (elf && macros.has("__arm__")) return arm(macros, command);
  if (elf && macros.has("__aarch64__")) return aarch64(macros, command);
  if (elf && macros.has("__riscv")) return riscv(macros);
  if (elf && macros.has("__x86_64__") && !macros.has("__ILP32__")) return x86_64(macros, command);
  return diag.error(nullptr, Kind::usage,
                    "--target-from-cc: '{}' compiles for {}, which relaxc does not support; --print-targets lists the "
                    "supported machines",
                    command, triple.empty() ? "an unknown machine" : triple);
}

Result<Machine> machine_of_compiler(const std::string& command, Diagnostics& diag) {
  std::optional<std::string> macros = output_of(command + " -dM -E -x c /dev/null");
  if (!macros) macros = output_of(command + " -dM -E -x c++ /dev/null");  // C++ flags may be illegal for C
  if (!macros)
    return diag.error(nullptr, Kind::usage, "--target-from-cc: '{}' is not a C or C++ compiler that prints its macros",
                      command);
  std::string triple = output_of(command + " -dumpmachine").value_or("");
  if (!triple.empty() && triple.back() == '\n') triple.pop_back();
  return machine_of_macros(command, triple, *macros, diag);
}

}  // namespace relaxc::api
