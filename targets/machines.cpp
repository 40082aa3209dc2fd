// machines.cpp: the machines that have names.
#include "targets/machine.h"

namespace relaxc {
namespace {

// clang-format off
constexpr KnownMachine kMachines[] = {
    // name           triple                          CPU               features            L1   L2
    {"x86-64-v3",     "x86_64-unknown-linux-gnu",     "x86-64-v3",      "",                 32,  512, "AVX2 and FMA: Haswell, Zen and later"},
    {"x86-64",        "x86_64-unknown-linux-gnu",     "x86-64",         "",                 32,  256, "SSE2, every x86-64"},
    {"x86-64-v2",     "x86_64-unknown-linux-gnu",     "x86-64-v2",      "",                 32,  256, "SSE4.2: Nehalem and later"},
    {"x86-64-v4",     "x86_64-unknown-linux-gnu",     "x86-64-v4",      "",                 32, 1024, "AVX-512: Skylake-SP, Zen 4 and later"},
    {"aarch64",       "aarch64-unknown-linux-gnu",    "generic",        "",                 32,  512, "NEON, every 64-bit ARM"},
    {"aarch64-v8.2",  "aarch64-unknown-linux-gnu",    "generic",        "+v8.2a,+dotprod,+fullfp16", 64, 512, "with dot products and half precision: Cortex-A55, A76 and later"},
    {"armv7-a",       "armv7-unknown-linux-gnueabihf", "generic",       "+neon,+vfp4",      32,  256, "NEON and VFPv4: Cortex-A7, A15, A17; NEON flushes subnormals to zero"},
    {"cortex-m0plus", "thumbv6m-unknown-none-eabi",   "cortex-m0plus",  "",                  8,    8, "no floating-point unit"},
    {"cortex-m3",     "thumbv7m-unknown-none-eabi",   "cortex-m3",      "",                  8,    8, "no floating-point unit"},
    {"cortex-m4",     "thumbv7em-unknown-none-eabihf", "cortex-m4",     "",                  8,    8, "DSP instructions, single precision"},
    {"cortex-m7",     "thumbv7em-unknown-none-eabihf", "cortex-m7",     "",                 16,   16, "DSP instructions, double precision"},
    {"cortex-m33",    "thumbv8m.main-unknown-none-eabihf", "cortex-m33", "",                 8,    8, "DSP instructions, single precision"},
    {"cortex-m55",    "thumbv8.1m.main-unknown-none-eabihf", "cortex-m55", "",              16,   16, "Helium, single and double precision"},
    {"riscv64gc",     "riscv64-unknown-linux-gnu",    "generic-rv64",   "+m,+a,+f,+d,+c",   32,  256, "what Linux distributions ask for"},
    {"riscv64gcv",    "riscv64-unknown-linux-gnu",    "generic-rv64",   "+m,+a,+f,+d,+c,+v", 32, 256, "with vectors of at least 128 bits"},
    {"x86-64-windows", "x86_64-pc-windows-msvc",      "x86-64-v3",      "",                 32,  512, "COFF; AVX2 and FMA"},
    {"aarch64-windows", "aarch64-pc-windows-msvc",    "generic",        "",                 32,  512, "COFF; NEON"},
    {"x86-64-macos",  "x86_64-apple-macosx11.0.0",    "x86-64-v3",      "",                 32,  256, "Mach-O; AVX2 and FMA"},
    {"aarch64-macos", "arm64-apple-macosx11.0.0",     "apple-m1",       "",                 64, 4096, "Mach-O; NEON, dot products, half precision"},
    {"wasm32",        "wasm32-unknown-unknown",       "generic",        "",                 32,  256, "WebAssembly without vectors"},
    {"wasm32-simd",   "wasm32-unknown-unknown",       "generic",        "+simd128",         32,  256, "WebAssembly with vectors of 128 bits"},
    {"riscv32imac",   "riscv32-unknown-none-elf",     "generic-rv32",   "+m,+a,+c",          8,    8, "no floating-point unit"},
};
// clang-format on

}  // namespace

std::span<const KnownMachine> known_machines() {
  return kMachines;
}

const KnownMachine* find_machine(std::string_view name) {
  for (const KnownMachine& machine : kMachines)
    if (machine.name == name) return &machine;
  return nullptr;
}

Machine KnownMachine::machine() const {
  Machine out;
  out.triple = triple;
  out.cpu = cpu;
  out.features = features;
  out.l1_bytes = int64_t{1024} * l1_kilobytes;
  out.l2_bytes = int64_t{1024} * l2_kilobytes;
  return out;
}

}  // namespace relaxc
