// board.cpp: reads a machine that the user describes in a JSON file.
//
// Unknown fields are errors, since a misspelt one would be ignored silently.
#include <bit>
#include <nlohmann/json.hpp>

#include "compiler/support/input_file.h"
#include "targets/machine.h"

namespace relaxc {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  Reader(const std::string& path, Diagnostics& diag) : path_(path), diag(diag) {}

  Result<Machine> run(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return fault("a description of a machine is one JSON object");
    RELAXC_DO(take_base(json));
    for (const auto& [key, value] : json.items()) RELAXC_DO(take(key, value));
    return machine_;
  }

 private:
  template <typename... Args>
  Failure fault(fmt::format_string<Args...> format, Args&&... args) {
    return diag.error(nullptr, Kind::usage, "{}: {}", path_, fmt::format(format, std::forward<Args>(args)...));
  }

  Status take_base(const Json& json) {
    auto base = json.find("target");
    if (base == json.end() || !base->is_string() || base->get<std::string>().empty())
      return fault("\"target\" must name a known machine (--print-targets) or a triple");
    auto name = base->get<std::string>();
    if (const KnownMachine* known = find_machine(name))
      machine_ = known->machine();
    else
      machine_.triple = name;
    return Done{};
  }

  Status take(const std::string& key, const Json& value) {
    if (key == "target" || key == "about") return Done{};
    if (key == "cpu") return text(key, value, machine_.cpu);
    if (key == "features") return text(key, value, machine_.features);
    if (key == "float_abi") return text(key, value, machine_.float_abi);
    if (key == "task_slots") return number(key, value, 1024, machine_.task_slots);
    if (key == "vector_registers") return number(key, value, 32, machine_.vector_registers);
    if (key == "vector_bits") return vector_bits(value);
    if (const ModelField* field = find_model_field(key)) return number(*field, value);
    std::string names;
    for (const ModelField& field : model_fields()) names += std::string(field.name) + ", ";
    names.resize(names.size() - 2);
    return fault(
        "unknown field \"{}\"; there are target, cpu, features, float_abi, task_slots, vector_bits, vector_registers, "
        "{} and about",
        key, names);
  }

  /// Reads a field of the machine model.
  Status number(const ModelField& field, const Json& value) {
    const double found = value.is_number() ? value.get<double>() : 0;
    const bool fits = value.is_number() && found >= field.least && found <= field.most;
    if (field.is_whole() && (!fits || !value.is_number_integer()))
      return fault("\"{}\" must be a whole number from {:.0f} to {:.0f}", field.name, field.least, field.most);
    if (!fits) return fault("\"{}\" must be a number from {} to {}", field.name, field.least, field.most);
    if (field.power_of_two && !std::has_single_bit(static_cast<uint64_t>(found)))
      return fault("\"{}\" must be a power of two, which {} is not", field.name, static_cast<int64_t>(found));
    machine_.numbers.emplace_back(&field, found);
    return Done{};
  }

  Status vector_bits(const Json& value) {
    const int64_t bits = value.is_number_integer() ? value.get<int64_t>() : -1;
    if (bits != 0 && bits != 128 && bits != 256 && bits != 512)
      return fault("\"vector_bits\" must be 0 (no vectors), 128, 256 or 512");
    machine_.vector_bits = static_cast<int32_t>(bits);
    return Done{};
  }

  Status text(const std::string& key, const Json& value, std::string& out) {
    if (!value.is_string()) return fault("\"{}\" must be a string", key);
    out = value.get<std::string>();
    return Done{};
  }

  template <typename T>
  Status number(const std::string& key, const Json& value, int64_t most, std::optional<T>& out) {
    if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > most)
      return fault("\"{}\" must be a whole number from 1 to {}", key, most);
    out = static_cast<T>(value.get<int64_t>());
    return Done{};
  }

  const std::string& path_;
  Diagnostics& diag;
  Machine machine_;
};

}  // namespace

Result<Machine> parse_machine(const std::string& path, const std::string& text, Diagnostics& diag) {
  return Reader(path, diag).run(text);
}

Result<Machine> read_machine(const std::string& target, Diagnostics& diag) {
  Machine machine;
  if (target == "native") {
    machine.cpu = "native";
    return machine;
  }
  if (const KnownMachine* known = find_machine(target)) return known->machine();
  if (!target.ends_with(".json")) {
    machine.triple = target;
    return machine;
  }
  RELAXC_TRY(std::string text, read_settings(target, target, diag));
  return parse_machine(target, text, diag);
}

}  // namespace relaxc
