// cpus.cpp: numbers that differ between the CPUs of one architecture.
//
// A machine with a name says which sizes of caches to count with; what an instruction takes is a matter of the CPU, and
// a CPU may be named without a machine (--mcpu). So these numbers go by the names that LLVM has for CPUs. A row is for
// what a CPU does much worse or better than those with the same instructions: schedules of all others hold for it, too.
//
// A name for several CPUs, such as x86-64-v3, has the number that suits the worst of them, if the others lose little:
// parts of a vector are thought to take Haswell two or three cycles more than a store under a mask; a Zen 3 takes ten
// less.
#include <algorithm>
#include <iterator>
#include <variant>

#include "targets/machine.h"

namespace relaxc {
namespace {

struct CpuNumber {
  std::string_view cpu;
  std::variant<int64_t MachineModel::*, double MachineModel::*> member;
  double value;
};

using M = MachineModel;

// Stores under a mask are microcode where AMD has AVX without masks of AVX-512. Measured on a Zen 3 with four stores of
// vmaskmovps in a loop: 14 to 17 cycles for 256 bits, 7 to 8 for 128. The other rows have its number unmeasured; LLVM
// avoids these stores on Zen 1 to 3, and on x86-64-v3 for their sake (llvm/llvm-project, pull request 214187). x86-64
// and x86-64-v2 have AVX if --mattr says so.
constexpr CpuNumber kNumbers[] = {
    {"x86-64", &M::masked_store_cycles, 14},
    {"x86-64-v2", &M::masked_store_cycles, 14},
    {"x86-64-v3", &M::masked_store_cycles, 14},
    {"znver1", &M::masked_store_cycles, 14},
    {"znver2", &M::masked_store_cycles, 14},
    {"znver3", &M::masked_store_cycles, 14},
    {"bdver1", &M::masked_store_cycles, 14},
    {"bdver2", &M::masked_store_cycles, 14},
    {"bdver3", &M::masked_store_cycles, 14},
    {"bdver4", &M::masked_store_cycles, 14},
    {"btver2", &M::masked_store_cycles, 14},

    {"x86-64-v3", &M::prefetch_terms, 12},
    {"znver1", &M::prefetch_terms, 12},
    {"znver2", &M::prefetch_terms, 12},
    {"znver3", &M::prefetch_terms, 12},

    {"x86-64-v3", &M::sum_block_bytes, 34816},
    {"znver1", &M::sum_block_bytes, 34816},
    {"znver2", &M::sum_block_bytes, 34816},
    {"znver3", &M::sum_block_bytes, 34816},

    // sysfs, ways_of_associativity, of a Zen 3; Zen 1, 2 and 4 and Haswell: en.wikichip.org.
    {"haswell", &M::l1_ways, 8},
    {"znver1", &M::l1_ways, 8},
    {"znver2", &M::l1_ways, 8},
    {"znver3", &M::l1_ways, 8},
    {"znver4", &M::l1_ways, 8},
};

}  // namespace

MachineModel model_of_cpu(std::string_view cpu) {
  MachineModel model;
  for (const CpuNumber& row : kNumbers)
    if (row.cpu == cpu)
      std::visit([&](auto member) { model.*member = static_cast<std::decay_t<decltype(model.*member)>>(row.value); },
                 row.member);
  return model;
}

bool differs_by_cpu(const ModelField& field) {
  return std::any_of(std::begin(kNumbers), std::end(kNumbers),
                     [&](const CpuNumber& row) { return row.member == field.member; });
}

}  // namespace relaxc
