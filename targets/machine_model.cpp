// machine_model.cpp: the fields of the machine model, with ranges, meanings and sources.
//
// Most values were constants of the rules before they were fields. "Kept" marks those without a recorded measurement:
// they were tuned together, on the machine of docs/performance.md (Zen 5), and `bench/` measures the result as a whole.
// A value that holds only for some machines says so; it is the default until a named machine or a description gives
// another. HC24: "Next Generation Zen 5 Core", Hot Chips 2024, slides 4 and 5.
#include "targets/machine_model.h"

namespace relaxc {
namespace {

constexpr double kMostBytes = 1099511627776.0;  // 2^40
constexpr double kMostCycles = 1e6;

using M = MachineModel;

// clang-format off
constexpr ModelField kFields[] = {
    {"l1_bytes", &M::l1_bytes, 1, kMostBytes, false,
     "bytes of a core's first level of data cache",
     "Zen 1 to 4 (en.wikichip.org, HC24); machines with names have their own"},
    {"l2_bytes", &M::l2_bytes, 1, kMostBytes, false,
     "bytes of a core's second level of cache",
     "Zen 1 to 3 (en.wikichip.org). Zen 5 has 1 MB (HC24), with which BERT-base took 10 to 18% longer there"},
    {"l1_ways", &M::l1_ways, 1, 1024, false,
     "lines that one set of the first level holds",
     "Zen 5 (HC24; sysfs, ways_of_associativity). Haswell and Zen 1 to 4 have 8 (targets/cpus.cpp), Cortex-A76 has 4 (TRM "
     "100798, A6.4)"},
    {"l1_period_bytes", &M::l1_period_bytes, 64, kMostBytes, true,
     "bytes after which addresses fall into the same set of the first level",
     "Zen 5: 64 sets of 64 bytes (sysfs, number_of_sets). Cortex-A76, 64 KB in 4 ways, has 16384"},
    {"line_bytes", &M::line_bytes, 8, 4096, true,
     "bytes of a line of cache",
     "Zen 5 (sysfs, coherency_line_size), Cortex-A76 (TRM 100798, A6.1.2)"},
    {"page_bytes", &M::page_bytes, 256, kMostBytes, true,
     "bytes of a page of memory",
     "getconf PAGESIZE on x86-64 Linux"},
    {"tlb_pages", &M::tlb_pages, 1, 1048576, false,
     "pages whose addresses the first level of a core's TLB keeps",
     "kept: 64. Zen 5 has 96 (HC24)"},
    {"fma_latency", &M::fma_latency, 1, 16, false,
     "cycles from a fused multiply-add to one that needs its result",
     "Intel Intrinsics Guide, _mm512_fmadd_ps, Skylake"},
    {"fma_per_cycle", &M::fma_per_cycle, 0.01, 16, false,
     "vectors that a cycle multiplies and adds",
     "the same page: 0.5 cycles an instruction"},
    {"loads_per_cycle", &M::loads_per_cycle, 0.01, 16, false,
     "vectors that a cycle loads from the first level",
     "kept"},
    {"load_overhead", &M::load_overhead, 0, 64, false,
     "cycles of a load that nothing hides",
     "kept"},
    {"pair_dot_operations", &M::pair_dot_operations, 0, 64, false,
     "operations that make two vectors of 16-bit numbers of one of bytes, for dot products by pairs",
     "kept"},
    {"lane_sum_cycles", &M::lane_sum_cycles, 0, kMostCycles, false,
     "cycles of an instruction that adds the products of all lanes to a register, with a quarter of a tile's loads",
     "Cortex-M55: two a vector instruction, in tiles of one row by four columns; kept"},
    {"byte_run_cycles", &M::byte_run_cycles, 0, kMostCycles, false,
     "cycles of copying a run of bytes, in addition to its bytes",
     "kept"},
    {"byte_copy_cycles", &M::byte_copy_cycles, 0, kMostCycles, false,
     "cycles of copying one byte of a run",
     "kept"},
    {"byte_widen_cycles", &M::byte_widen_cycles, 0, kMostCycles, false,
     "cycles of widening a byte to 16 bits in a copy: its load, its store, and a share of the loop",
     "counted in the code of the Cortex-M4"},
    {"narrow_product_cycles", &M::narrow_product_cycles, 0, kMostCycles, false,
     "cycles of a product of bytes in tiles of two rows by two columns that widen their operands themselves",
     "counted in the code of the Cortex-M4 (SMLAD)"},
    {"strided_load_steps", &M::strided_load_steps, 0, 1000, false,
     "loads of whole vectors that take as long as one of every second to fourth element",
     "kept"},
    {"gather_steps", &M::gather_steps, 0.01, 1000, false,
     "loads of whole vectors that take as long as one of elements anywhere",
     "kept"},
    {"split_line_steps", &M::split_line_steps, 0, 1000, false,
     "what a vector across two lines of cache adds to a step of a sum, as a share of it",
     "tuned with 1x1 convolutions at 14x14 and 7x7 (docs/performance.md, results of long sums stored lane by lane)"},
    {"scatter_cycles", &M::scatter_cycles, 0, kMostCycles, false,
     "cycles to store each lane of a vector to another place",
     "16 lanes, one a cycle; kept for narrower vectors, too"},
    {"scatter_reload_cycles", &M::scatter_reload_cycles, 0, kMostCycles, false,
     "the same where whole vectors of it are loaded next",
     "kept"},
    {"interleave_cycles", &M::interleave_cycles, 0, kMostCycles, false,
     "cycles to split or join two lines by their even and odd elements",
     "tuned with 3x3 convolutions of 64 channels at 56 (docs/performance.md)"},
    {"masked_store_cycles", &M::masked_store_cycles, 0, kMostCycles, false,
     "cycles of a store under a mask of a vector of 32-bit or 64-bit elements",
     "assumed for Haswell and Skylake, not measured. CPUs of which it is microcode have their own (targets/cpus.cpp)"},
    {"winograd_data_cycles", &M::winograd_data_cycles, 0, kMostCycles, false,
     "cycles of a vector of data that Winograd's algorithm (the strategy winograd) makes for a point",
     "kept"},
    {"winograd_sum_cycles", &M::winograd_sum_cycles, 0, kMostCycles, false,
     "cycles of a vector of sums at a point that Winograd's algorithm reads for its results",
     "kept"},
    {"winograd_result_cycles", &M::winograd_result_cycles, 0, kMostCycles, false,
     "cycles of a vector of results that Winograd's algorithm writes",
     "kept"},
    {"l2_vector_cycles", &M::l2_vector_cycles, 0, kMostCycles, false,
     "cycles of a vector from the second level of cache",
     "kept"},
    {"far_vector_cycles", &M::far_vector_cycles, 0, kMostCycles, false,
     "cycles of a vector from beyond the second level",
     "tuned with 49x4608 by 4608x512 (docs/performance.md)"},
    {"far_stall_cycles", &M::far_stall_cycles, 0, kMostCycles, false,
     "cycles of a vector from beyond the first level that no other work hides",
     "tuned with MiniLM of open dims (docs/performance.md)"},
    {"memory_bytes_per_cycle", &M::memory_bytes_per_cycle, 0.001, 4096, false,
     "bytes a cycle that one core reads from beyond the second level",
     "kept; `relaxc bench --profile` measures memory"},
    {"reread_bytes_per_cycle", &M::reread_bytes_per_cycle, 0.001, 4096, false,
     "the same for data that was read shortly before",
     "kept"},
    {"memory_store_cycles", &M::memory_store_cycles, 0, kMostCycles, false,
     "cycles of a vector of results on its way to memory",
     "kept"},
    {"memory_trip_cycles", &M::memory_trip_cycles, 0, kMostCycles, false,
     "cycles of a vector that is written beyond the second level and read back",
     "kept"},
    {"prefetch_bytes", &M::prefetch_bytes, 64, 1048576, false,
     "most bytes ahead of a load at which a line is prefetched; fewer where many maps are read side by side",
     "measured with 1x1 convolutions at 256x448 (docs/performance.md, maps larger than the second level)"},
    {"prefetch_terms", &M::prefetch_terms, 0, 4096, false,
     "terms of a sum ahead of which lines of its operands are prefetched that are not in the first level; 0: none",
     "measured on a Zen 3 with 1x1 convolutions at 7x7 and 14x14; other CPUs were not (targets/cpus.cpp has the rows)"},
    {"sum_block_bytes", &M::sum_block_bytes, 0, 1073741824, false,
     "most bytes that the tiles of a panel read for a block of terms of their sums; 0: sums have no blocks",
     "measured on a Zen 3 with 1x1 convolutions at 7x7 (docs/performance.md); other CPUs were not (targets/cpus.cpp "
     "has the rows)"},
    {"memory_run_elements", &M::memory_run_elements, 1, 1048576, false,
     "consecutive elements that memory reads fast",
     "kept"},
    {"access_nanoseconds", &M::access_nanoseconds, 0.001, kMostCycles, false,
     "nanoseconds of an access to memory, on average",
     "kept: a core of 2.5 GHz whose data is in the second level"},
    {"operation_nanoseconds", &M::operation_nanoseconds, 0.001, kMostCycles, false,
     "nanoseconds of an operation on a scalar or a vector",
     "two a cycle at 2.5 GHz"},
    {"call_nanoseconds", &M::call_nanoseconds, 0.001, kMostCycles, false,
     "nanoseconds of an intrinsic such as exp",
     "kept"},
    {"row_wait_nanoseconds", &M::row_wait_nanoseconds, 0, kMostCycles, false,
     "nanoseconds that the readers of a row's maximum or sum wait for its end",
     "kept"},
    {"task_start_nanoseconds", &M::task_start_nanoseconds, 1, 1e9, false,
     "nanoseconds to hand a task to a waiting worker and to wait for its end",
     "kept: half a microsecond and a little more"},
};
// clang-format on

}  // namespace

double ModelField::get(const MachineModel& model) const {
  return std::visit([&](auto at) { return static_cast<double>(model.*at); }, member);
}

void ModelField::set(MachineModel& model, double value) const {
  if (const auto* whole = std::get_if<int64_t MachineModel::*>(&member)) model.** whole = static_cast<int64_t>(value);
  if (const auto* real = std::get_if<double MachineModel::*>(&member)) model.** real = value;
}

std::span<const ModelField> model_fields() {
  return kFields;
}

const ModelField* find_model_field(std::string_view name) {
  for (const ModelField& field : kFields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace relaxc
