// assign_identifiers.cpp: gives everything in an object its C name.
//
// A scope is what C separates: the global names of the header, and the fields of each struct of arguments. In a scope,
// names that are identifiers come first, so that they never change because of another name; then the others in their
// order, with a number if a name is taken. A field must differ from the header's macros (`digits_run` is one), and from
// all global names: C++ would find the field instead.
//
// The identifiers are kept in the object. Made anew for each entry that asks for its own, they took the square of the
// number of entries.
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

void assign_global_identifiers(Object& object) {
  std::set<std::string> taken = own_names(object);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < object.entries.size(); ++i) {
    Entry& entry = object.entries[i];
    auto take = [&object, &entry, &taken](const std::string& name) {
      entry.identifier = name;
      return take_all(names_of_entry(prefix_of(object, name), entry), taken);
    };
    if (entry.name == "main")
      take("");
    else
      candidates.push_back({entry.name, "function", i, take});
  }
  for (size_t i = 0; i < object.public_prim_funcs.size(); ++i) {
    PublicPrimFunc& function = object.public_prim_funcs[i];
    candidates.push_back({function.name, "function", i, [&object, &function, &taken](const std::string& name) {
                            function.identifier = name;
                            std::vector<std::string> own{object.name + "_" + name};
                            if (!function.arena.empty())
                              for (const char* more : {"_arena", "_arena_bytes"}) own.push_back(own.front() + more);
                            return take_all(own, taken);
                          }});
  }
  assign(candidates);
}

/// The names that the fields of one entry must not have: the global ones, and those of its other fields.
class FieldNames {
 public:
  explicit FieldNames(const std::set<std::string>& globals) : globals_(globals) {}

  bool take(const std::string& name) { return globals_.count(name) == 0 && own_.insert(name).second; }

 private:
  const std::set<std::string>& globals_;
  std::set<std::string> own_;
};

Candidate field(const std::string& name, const char* role, size_t index, std::string& identifier, FieldNames& taken) {
  return {name, role, index, [&identifier, &taken](const std::string& chosen) {
            identifier = chosen;
            return taken.take(chosen);
          }};
}

void assign_fields(Entry& entry, const std::set<std::string>& globals) {
  FieldNames taken(globals);
  std::vector<Candidate> tensors, sizes, symbols;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    tensors.push_back(field(entry.inputs[i].name, "input", i, entry.inputs[i].identifier, taken));
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    tensors.push_back(field(entry.outputs[i].name, "output", i, entry.outputs[i].identifier, taken));
  assign(tensors);
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (Tensor& output = entry.outputs[i]; output.data_dependent)
      sizes.push_back(field(output.identifier + "_dims", "dim", i, output.dims_identifier, taken));
  assign(sizes);
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    Symbol& symbol = entry.symbols[i];
    symbols.push_back(field(is_long_dim(symbol.name) ? "" : symbol.name, "dim", i, symbol.identifier, taken));
  }
  assign(symbols);
}

}  // namespace

std::set<std::string> global_names(const Object& object) {
  std::set<std::string> names = own_names(object);
  for (const Entry& entry : object.entries) {
    std::vector<std::string> own = names_of_entry(prefix_of(object, entry.identifier), entry);
    names.insert(own.begin(), own.end());
  }
  for (const PublicPrimFunc& function : object.public_prim_funcs) names.insert(object.name + "_" + function.identifier);
  return names;
}

void assign_identifiers(Object& object) {
  assign_global_identifiers(object);
  const std::set<std::string> globals = global_names(object);
  for (Entry& entry : object.entries) assign_fields(entry, globals);
}

bool is_long_dim(std::string_view name) {
  constexpr size_t kSignificant = 63;
  return name.size() > kSignificant;
}

}  // namespace relaxc::interface
