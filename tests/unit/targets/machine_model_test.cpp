// The numbers of machines: whether tables are complete and plausible, and how descriptions give them.
#include "targets/machine_model.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "targets/machine.h"

namespace relaxc {
namespace {

std::string json_number(const ModelField& field, double value) {
  return field.is_whole() ? std::to_string(static_cast<int64_t>(value)) : std::to_string(value);
}

Result<Machine> described(std::string_view field, const std::string& value, Diagnostics& diag) {
  return parse_machine("board.json", R"({"target": "aarch64", ")" + std::string(field) + "\": " + value + "}", diag);
}

bool in_range(const ModelField& field, double value) {
  return value >= field.least && value <= field.most &&
         (!field.power_of_two || std::has_single_bit(static_cast<uint64_t>(value)));
}

TEST_CASE("the table has every member of a model once, with what it is and where it comes from") {
  STATIC_REQUIRE(sizeof(int64_t) == sizeof(double));
  CHECK(model_fields().size() * sizeof(double) == sizeof(MachineModel));
  std::set<std::string_view> names;
  std::set<double> places;
  MachineModel numbered;
  double number = 1000;
  for (const ModelField& field : model_fields()) field.set(numbered, number++);
  for (const ModelField& field : model_fields()) {
    INFO(field.name);
    CHECK(names.insert(field.name).second);
    CHECK(places.insert(field.get(numbered)).second);
    CHECK_FALSE(field.what.empty());
    CHECK_FALSE(field.source.empty());
    CHECK(find_model_field(field.name) == &field);
  }
  CHECK(find_model_field("l9_bytes") == nullptr);
}

TEST_CASE("the model of every machine that has a name is plausible") {
  for (const KnownMachine& machine : known_machines()) {
    INFO(machine.name);
    const MachineModel& model = machine.model;
    for (const ModelField& field : model_fields()) {
      INFO(field.name);
      CHECK(in_range(field, field.get(model)));
    }
    const bool has_system = machine.triple.find("-none-") == std::string_view::npos;
    CHECK((has_system ? model.l1_bytes < model.l2_bytes : model.l1_bytes <= model.l2_bytes));
    CHECK(model.line_bytes < model.l1_period_bytes);
    CHECK(model.line_bytes < model.page_bytes);
    CHECK(model.line_bytes < model.l1_bytes);
    CHECK(model.fma_latency > 0);
    CHECK(model.strided_load_steps < model.gather_steps);
    CHECK(model.scatter_cycles < model.scatter_reload_cycles);
    CHECK(model.l2_vector_cycles < model.far_vector_cycles);
    CHECK(model.memory_bytes_per_cycle < model.reread_bytes_per_cycle);
    CHECK(model.operation_nanoseconds < model.task_start_nanoseconds);
    CHECK(machine.machine().applied({}).l2_bytes == model.l2_bytes);
  }
}

TEST_CASE("a description gives any number of a model, and the others stay those of its machine") {
  for (const ModelField& field : model_fields()) {
    INFO(field.name);
    Diagnostics diag;
    const double value = field.least;
    Result<Machine> machine = described(field.name, json_number(field, value), diag);
    REQUIRE(machine);
    CHECK(machine->says(field.name));
    const MachineModel model = machine->applied({}), own = find_machine("aarch64")->model;
    for (const ModelField& other : model_fields())
      CHECK(other.get(model) == Approx(&other == &field ? value : other.get(own)));
  }
}

TEST_CASE("what differs by CPU follows the CPU that is named, and a description overrides it") {
  const ModelField& field = *find_model_field("masked_store_cycles");
  CHECK(differs_by_cpu(field));
  CHECK_FALSE(differs_by_cpu(*find_model_field("l1_bytes")));
  CHECK(model_of_cpu("x86-64-v3").masked_store_cycles == model_of_cpu("znver3").masked_store_cycles);
  CHECK(model_of_cpu("znver3").masked_store_cycles > 5 * model_of_cpu("haswell").masked_store_cycles);
  CHECK(model_of_cpu("haswell").masked_store_cycles == MachineModel{}.masked_store_cycles);

  const Machine named = find_machine("x86-64-v3")->machine();
  CHECK_FALSE(named.says(field.name));
  CHECK(named.applied(model_of_cpu("haswell")).masked_store_cycles == MachineModel{}.masked_store_cycles);
  Diagnostics diag;
  Result<Machine> described =
      parse_machine("a.json", R"({"target": "x86-64-v3", "cpu": "haswell", "masked_store_cycles": 9})", diag);
  REQUIRE(described);
  CHECK(described->applied(model_of_cpu("haswell")).masked_store_cycles == 9);
}

TEST_CASE("a description with a number that no machine has is refused") {
  for (const ModelField& field : model_fields()) {
    INFO(field.name);
    Diagnostics diag;
    CHECK_FALSE(described(field.name, json_number(field, field.most * 4), diag));
    CHECK_FALSE(described(field.name, "-1", diag));
    CHECK_FALSE(described(field.name, "\"4\"", diag));
    CHECK_FALSE(described(field.name, "null", diag));
    if (field.is_whole()) CHECK_FALSE(described(field.name, json_number(field, field.most) + ".5", diag));
    if (field.power_of_two) CHECK_FALSE(described(field.name, json_number(field, field.least * 3), diag));
  }
}

TEST_CASE("the documentation says of every number what it is and where it comes from") {
  std::ifstream in(RELAXC_DOCS "/machine-model.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  REQUIRE_FALSE(page.empty());
  for (const ModelField& field : model_fields()) {
    INFO(field.name);
    const size_t row = page.find("\n| `" + std::string(field.name) + "` | ");
    REQUIRE(row != std::string::npos);
    const std::string line = page.substr(row + 1, page.find('\n', row + 1) - row - 1);
    const std::string said = " | " + std::string(field.what) + (field.power_of_two ? " (a power of two)" : "") + " | " +
                             std::string(field.source) + " |";
    INFO(line << "\nends with\n" << said);
    CHECK(line.size() > said.size());
    CHECK(line.substr(line.size() - std::min(line.size(), said.size())) == said);
  }
}

}  // namespace
}  // namespace relaxc
