// machines.cpp: the table of named machines.
//
// A name stands for cores with different caches, so sizes are round numbers: 64 KB is what a Cortex-A76 has (TRM
// 100798, A6.1), 1 MB what a Zen 4 has (Hot Chips 2024, "Next Generation Zen 5 Core"). A Cortex-M7, M52, M55, M85, R5
// and R52 have up to 64 KB of data cache, or up to 32 (their TRMs: DDI 0489, 102776, 101051, 101924, DDI 0460, 100026);
// 16 KB is what chips with an M7 or M85 have (STM32F7, RA8M1), 32 what those with an R5 or R52 have (TMS570LC43,
// S32Z2). Boards without caches have one memory; a small number keeps copies small. All other numbers are
// MachineModel's defaults, or those of the CPU (cpus.cpp).
#include <algorithm>

#include "targets/machine.h"

namespace relaxc {
namespace {

/// Returns the default model with other sizes of its two caches, in kilobytes.
constexpr MachineModel caches(int64_t l1, int64_t l2) {
  return {.l1_bytes = 1024 * l1, .l2_bytes = 1024 * l2};
}

// clang-format off
constexpr KnownMachine kMachines[] = {
    // name           triple                          CPU               features            model
    {"x86-64-v3",     "x86_64-unknown-linux-gnu",     "x86-64-v3",      "",                 caches(32, 512), "AVX2 and FMA: Haswell, Zen and later"},
    {"x86-64",        "x86_64-unknown-linux-gnu",     "x86-64",         "",                 caches(32, 256), "SSE2, every x86-64"},
    {"x86-64-v2",     "x86_64-unknown-linux-gnu",     "x86-64-v2",      "",                 caches(32, 256), "SSE4.2: Nehalem and later"},
    {"x86-64-v4",     "x86_64-unknown-linux-gnu",     "x86-64-v4",      "",                 caches(32, 1024), "AVX-512: Skylake-SP, Zen 4 and later"},
    {"aarch64",       "aarch64-unknown-linux-gnu",    "generic",        "",                 caches(32, 512), "NEON, every 64-bit ARM"},
    {"aarch64-v8.2",  "aarch64-unknown-linux-gnu",    "generic",        "+v8.2a,+dotprod,+fullfp16", caches(64, 512), "with dot products and half precision: Cortex-A55, A76 and later"},
    {"aarch64-v8.6",  "aarch64-unknown-linux-gnu",    "generic",        "+v8.6a,+fullfp16", caches(64, 512), "with products of matrices of bytes and of bfloat16: Neoverse V1, N2, Cortex-A510, A710 and later"},
    {"armv7-a",       "armv7-unknown-linux-gnueabihf", "generic",       "+neon,+vfp4",      caches(32, 256), "NEON and VFPv4: Cortex-A7, A15, A17; NEON flushes subnormals to zero"},
    {"cortex-m0plus", "thumbv6m-unknown-none-eabi",   "cortex-m0plus",  "",                  caches(8, 8), "no floating-point unit"},
    {"cortex-m0",     "thumbv6m-unknown-none-eabi",  "cortex-m0",     "",                 caches(8, 8), "no floating-point unit"},
    {"cortex-m1",     "thumbv6m-unknown-none-eabi",  "cortex-m1",     "",                 caches(8, 8), "of FPGAs, no floating-point unit"},
    {"cortex-m23",    "thumbv8m.base-unknown-none-eabi", "cortex-m23", "",                 caches(8, 8), "no floating-point unit"},
    {"cortex-m3",     "thumbv7m-unknown-none-eabi",   "cortex-m3",      "",                  caches(8, 8), "no floating-point unit"},
    {"cortex-m4",     "thumbv7em-unknown-none-eabihf", "cortex-m4",     "",                  caches(8, 8), "DSP instructions, single precision"},
    {"cortex-m7",     "thumbv7em-unknown-none-eabihf", "cortex-m7",     "",                 caches(16, 16), "DSP instructions, double precision"},
    {"cortex-m33",    "thumbv8m.main-unknown-none-eabihf", "cortex-m33", "",                 caches(8, 8), "DSP instructions, single precision"},
    {"cortex-m55",    "thumbv8.1m.main-unknown-none-eabihf", "cortex-m55", "",              caches(16, 16), "Helium, single and double precision"},
    {"cortex-m52",    "thumbv8.1m.main-unknown-none-eabihf", "cortex-m52", "",                 caches(16, 16), "Helium, single and double precision"},
    {"cortex-m85",    "thumbv8.1m.main-unknown-none-eabihf", "cortex-m85", "",                 caches(16, 16), "Helium, single and double precision"},
    {"cortex-r5",     "thumbv7r-unknown-none-eabihf", "cortex-r5",    "",                 caches(32, 32), "DSP instructions, single and double precision"},
    {"cortex-r52",    "thumbv8r-unknown-none-eabihf", "cortex-r52",   "",                 caches(32, 32), "NEON, which flushes subnormals to zero"},
    {"riscv64gc",     "riscv64-unknown-linux-gnu",    "generic-rv64",   "+m,+a,+f,+d,+c",   caches(32, 256), "what Linux distributions ask for"},
    {"riscv64gcv",    "riscv64-unknown-linux-gnu",    "generic-rv64",   "+m,+a,+f,+d,+c,+v", caches(32, 256), "with vectors of at least 128 bits"},
    {"x86-64-windows", "x86_64-pc-windows-msvc",      "x86-64-v3",      "",                 caches(32, 512), "COFF; AVX2 and FMA"},
    {"aarch64-windows", "aarch64-pc-windows-msvc",    "generic",        "",                 caches(32, 512), "COFF; NEON"},
    {"x86-64-macos",  "x86_64-apple-macosx11.0.0",    "x86-64-v3",      "",                 caches(32, 256), "Mach-O; AVX2 and FMA"},
    {"aarch64-macos", "arm64-apple-macosx11.0.0",     "apple-m1",       "",                 caches(64, 4096), "Mach-O; NEON, dot products, half precision"},
    {"wasm32",        "wasm32-unknown-unknown",       "generic",        "",                 caches(32, 256), "WebAssembly without vectors"},
    {"wasm32-simd",   "wasm32-unknown-unknown",       "generic",        "+simd128",         caches(32, 256), "WebAssembly with vectors of 128 bits"},
    {"wasm32-relaxed", "wasm32-unknown-unknown",      "generic",        "+simd128,+relaxed-simd", caches(32, 256), "WebAssembly with relaxed vectors of 128 bits: engines may round sums of products differently"},
    {"wasm32-threads", "wasm32-unknown-unknown",      "generic",        "+simd128,+atomics,+bulk-memory", caches(32, 256), "WebAssembly with vectors of 128 bits, and threads on shared memory"},
    {"wasm32-threads-relaxed", "wasm32-unknown-unknown", "generic",     "+simd128,+relaxed-simd,+atomics,+bulk-memory", caches(32, 256), "WebAssembly with relaxed vectors of 128 bits, and threads on shared memory"},
    {"riscv32imac",   "riscv32-unknown-none-elf",     "generic-rv32",   "+m,+a,+c",          caches(8, 8), "no floating-point unit"},
    {"riscv32imc",    "riscv32-unknown-none-elf",    "generic-rv32",  "+m,+c",            caches(8, 8), "no floating-point unit, no atomics: ESP32-C3"},
    {"riscv32imafc",  "riscv32-unknown-none-elf",    "generic-rv32",  "+m,+a,+f,+c",      caches(8, 8), "single precision"},
    {"riscv64imac",   "riscv64-unknown-none-elf",    "generic-rv64",  "+m,+a,+c",         caches(16, 16), "no floating-point unit"},
    {"xtensa",        "thumbv7m-unknown-none-eabihf", "cortex-m3",    "",                 caches(16, 16), "C alone, for the compilers of ESP32 and ESP32-S3", true},
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
  out.c_only = c_only;
  for (const ModelField& field : model_fields())
    if (!differs_by_cpu(field)) out.numbers.emplace_back(&field, field.get(model));
  return out;
}

bool Machine::says(std::string_view field) const {
  return std::any_of(numbers.begin(), numbers.end(), [&](const auto& said) { return said.first->name == field; });
}

MachineModel Machine::applied(MachineModel model) const {
  for (const auto& [field, value] : numbers) field->set(model, value);
  return model;
}

}  // namespace relaxc
