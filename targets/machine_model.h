// machine_model.h: the numbers of a machine that schedules compute costs with.
//
// The problem: a tile, a copy or a task pays on one machine and not on another, depending on a few dozen numbers. If
// these are written into the rules, a second machine needs a second set of rules.
//
// The method: one struct, and one table of its fields. The reader of description files, its messages, the
// documentation and the tests all use the table, so a new number takes only a member and a row. Heuristics that
// are not properties of a machine (how often an element must be read for a copy to pay) stay with their
// strategy.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace relaxc {

/// The numbers of a machine that its instruction set does not imply, with defaults for an unknown machine.
/// model_fields() has the meaning, the unit and the source of each.
struct MachineModel {
  int64_t l1_bytes = 32 * 1024, l2_bytes = 512 * 1024;
  int64_t l1_ways = 12, l1_period_bytes = 4096;
  int64_t line_bytes = 64;
  int64_t page_bytes = 4096, tlb_pages = 64;

  double fma_latency = 4, fma_per_cycle = 2;
  double loads_per_cycle = 2, load_overhead = 0.1;
  double pair_dot_operations = 3;
  double lane_sum_cycles = 2.25;
  double byte_run_cycles = 4, byte_copy_cycles = 0.5;
  double byte_widen_cycles = 2.75, narrow_product_cycles = 1.25;
  double strided_load_steps = 3, gather_steps = 10;
  double split_line_steps = 0.06;
  double scatter_cycles = 16, scatter_reload_cycles = 80;
  double interleave_cycles = 5;
  double masked_store_cycles = 1.5;
  double winograd_data_cycles = 4, winograd_sum_cycles = 3, winograd_result_cycles = 2;

  double l2_vector_cycles = 1.3, far_vector_cycles = 3, far_stall_cycles = 0.13;
  double memory_bytes_per_cycle = 8, reread_bytes_per_cycle = 16;
  double memory_store_cycles = 24, memory_trip_cycles = 4;
  int64_t prefetch_bytes = 1024, prefetch_terms = 0, memory_run_elements = 512;
  int64_t sum_block_bytes = 0;

  double access_nanoseconds = 0.5, operation_nanoseconds = 0.2, call_nanoseconds = 3;
  double row_wait_nanoseconds = 40;
  double task_start_nanoseconds = 600;
};

/// A member of MachineModel, as description files name it.
struct ModelField {
  std::string_view name;
  std::variant<int64_t MachineModel::*, double MachineModel::*> member;
  double least, most;       ///< range of values in a description
  bool power_of_two;        ///< whether other numbers are errors
  std::string_view what;    ///< meaning and unit
  std::string_view source;  ///< source of the default value

  bool is_whole() const { return member.index() == 0; }
  double get(const MachineModel& model) const;
  void set(MachineModel& model, double value) const;
};

/// Returns all fields, in the order of the table.
std::span<const ModelField> model_fields();
/// Returns null if there is no field of this name.
const ModelField* find_model_field(std::string_view name);

}  // namespace relaxc
