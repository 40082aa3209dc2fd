// assign_identifiers.cpp: gives everything in an object its C name.
//
// A scope is what C separates: the global names of the header, and the fields of each struct of arguments. In a scope,
// names that are identifiers come first, so that they never change because of another name; then the others in their
// order, with a number if a name is taken. A field must differ from the header's macros (`digits_run` is one), and from
// all global names: C++ would find the field instead.
#include <algorithm>
#include <functional>

#include "compiler/interface/identifiers.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::interface {
namespace {

/// Something that needs an identifier, with its name in the model.
struct Candidate {
  std::string name;
  const char* role;
  size_t index;
  std::function<bool(const std::string&)> take;  ///< assigns an identifier; false if it is taken
};

void assign(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> waiting;
  for (const Candidate& one : candidates)
    if (!is_identifier(one.name) || !one.take(one.name)) waiting.push_back(&one);
  for (const Candidate* one : waiting) {
    std::string made = readable_identifier(one->name, one->role, one->index);
    if (one->take(made)) continue;
    bool done = std::string(one->role) == "dim" && one->take("dim_" + made);  // dims often have the name of a tensor
    for (int i = 2; !done; ++i) done = one->take(made + "_" + std::to_string(i));
  }
}

/// Adds all of `names` to `taken`; adds none and returns false if one of them is taken.
bool take_all(const std::vector<std::string>& names, std::set<std::string>& taken) {
  if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return taken.count(name) != 0; }))
    return false;
  taken.insert(names.begin(), names.end());
  return true;
}

std::string prefix_of(const Object& object, const std::string& identifier) {
  return object.name + "_" + identifier + (identifier.empty() ? "" : "_");
}

std::vector<std::string> names_of_entry(const std::string& prefix, const Entry& entry) {
  std::vector<std::string> names{prefix + "args", prefix + "arena", prefix + "run", prefix + "arena_bytes"};
  for (const Pool& pool : entry.pools) names.push_back(prefix + "pool_" + pool.name);
  return names;
}

/// Returns the names that every object defines itself: its tables, its self-test and its weights.
std::set<std::string> own_names(const Object& object) {
  std::set<std::string> names;
  for (const char* own : {"_model", "_selftest", "_weights", "_weights_bytes"}) names.insert(object.name + own);
  return names;
}

Candidate field(const std::string& name, const char* role, size_t index, std::string& identifier,
                std::set<std::string>& taken) {
  return {name, role, index, [&identifier, &taken](const std::string& chosen) {
            identifier = chosen;
            return taken.insert(chosen).second;
          }};
}

}  // namespace

GlobalIdentifiers global_identifiers(const Object& object) {
  GlobalIdentifiers made{std::vector<std::string>(object.entries.size()),
                         std::vector<std::string>(object.public_prim_funcs.size())};
  std::set<std::string> taken = own_names(object);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < object.entries.size(); ++i) {
    const Entry& entry = object.entries[i];
    auto take = [&made, &object, &entry, &taken, i](const std::string& name) {
      made.entries[i] = name;
      return take_all(names_of_entry(prefix_of(object, name), entry), taken);
    };
    if (entry.name == "main")
      take("");
    else
      candidates.push_back({entry.name, "function", i, take});
  }
  for (size_t i = 0; i < object.public_prim_funcs.size(); ++i)
    candidates.push_back(
        {object.public_prim_funcs[i].name, "function", i, [&made, &object, &taken, i](const auto& name) {
           made.public_prim_funcs[i] = name;
           std::vector<std::string> own{object.name + "_" + name};
           if (!object.public_prim_funcs[i].arena.empty())
             for (const char* more : {"_arena", "_arena_bytes"}) own.push_back(own.front() + more);
           return take_all(own, taken);
         }});
  assign(candidates);
  return made;
}

std::set<std::string> global_names(const Object& object) {
  std::set<std::string> names = own_names(object);
  GlobalIdentifiers identifiers = global_identifiers(object);
  for (size_t i = 0; i < object.entries.size(); ++i) {
    std::vector<std::string> own = names_of_entry(prefix_of(object, identifiers.entries[i]), object.entries[i]);
    names.insert(own.begin(), own.end());
  }
  for (const std::string& function : identifiers.public_prim_funcs) names.insert(object.name + "_" + function);
  return names;
}

void assign_identifiers(Object& object) {
  const std::set<std::string> globals = global_names(object);
  for (Entry& entry : object.entries) {
    std::set<std::string> taken = globals;
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      candidates.push_back(field(entry.inputs[i].name, "input", i, entry.inputs[i].identifier, taken));
    for (size_t i = 0; i < entry.outputs.size(); ++i)
      candidates.push_back(field(entry.outputs[i].name, "output", i, entry.outputs[i].identifier, taken));
    assign(candidates);
  }
}

bool is_long_dim(std::string_view name) {
  constexpr size_t kSignificant = 63;
  return name.size() > kSignificant;
}

DimIdentifiers dim_identifiers(const Object& object, const Entry& entry) {
  DimIdentifiers made{std::vector<std::string>(entry.symbols.size()), std::vector<std::string>(entry.outputs.size())};
  std::set<std::string> taken = global_names(object);
  for (const auto* tensors : {&entry.inputs, &entry.outputs})
    for (const Tensor& tensor : *tensors) taken.insert(tensor.identifier);
  std::vector<Candidate> sizes, symbols;
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].data_dependent)
      sizes.push_back(field(entry.outputs[i].identifier + "_dims", "dim", i, made.outputs[i], taken));
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    const std::string& name = entry.symbols[i].name;
    symbols.push_back(field(is_long_dim(name) ? "" : name, "dim", i, made.symbols[i], taken));
  }
  assign(sizes);
  assign(symbols);
  return made;
}

}  // namespace relaxc::interface
