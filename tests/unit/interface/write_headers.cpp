// write_headers.cpp: headers and Rust declarations of objects whose names are given, for tests that compile them.
//
// Usage: write_headers FOLDER NAMES-PER-OBJECT < names, each ended by a zero byte
//
// Object K, called mK, has every name of its share as input, output, dim, entry point, public prim func and parameter;
// {m} and {M} in a name stand for the object's, the second in capitals.
// FOLDER gets mK.h, mK.rs, mK_safe.rs (without pools), and mK.fields: the fields of mK_args, one a line.
#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "compiler/interface/header.h"
#include "compiler/interface/identifiers.h"
#include "compiler/interface/rust.h"
#include "compiler/interface/typed_call.h"
#include "compiler/tir/builder.h"

namespace relaxc::interface {
namespace {

class Written {
 public:
  Written(std::string name, const std::vector<std::string>& names) {
    object_.name = std::move(name);
    object_.arena_name = "fast";
    Entry main = entry("main", names);
    main.symbols.clear();
    for (const std::string& dim : names) main.symbols.push_back({dim, 0, 9, 1, 0, 0});
    object_.entries.push_back(main);
    for (const std::string& one : names) {
      if (one != "main") object_.entries.push_back(entry(one, {one}));
      add_public(one, names);
    }
    for (const tir::PrimFunc& function : functions_) object_.functions.push_back(&function);
    assign_identifiers(object_);
  }
  Object& object() { return object_; }

 private:
  Entry entry(const std::string& name, const std::vector<std::string>& names) {
    Entry made;
    made.name = name, made.arena = name + "_sizes", made.arena_max = 64;
    made.pools = {{"pool", 64}};
    for (const std::string& one : names) {
      made.inputs.push_back(tensor(one, false));
      made.outputs.push_back(tensor(one, names.size() > 1));
    }
    made.symbols.push_back({"bytes", 0, 9, 1, 0, 0});
    return made;
  }

  static Tensor tensor(const std::string& name, bool data_dependent) {
    Tensor made;
    made.name = name, made.dtype = DType::f(32), made.dims = {2, -1}, made.dim_text = {"2", name};
    made.data_dependent = data_dependent;
    return made;
  }

  void add_public(const std::string& name, const std::vector<std::string>& names) {
    tir::PrimFunc& made = functions_.emplace_back();
    made.name = name;
    for (const std::string& one : names)
      made.params.push_back({build_.buffer(one, DType::f(32), {build_.index(4)}), {}});
    for (const std::string& one : names) made.symbols.push_back(context_.var(one));
    object_.public_prim_funcs.push_back({name});
  }

  arith::Context context_;
  tir::Builder build_{context_};
  std::deque<tir::PrimFunc> functions_;
  Object object_;
};

void write(const std::string& path, Object& object) {
  const std::vector<uint64_t> generic(object.entries.size(), 3080), typed(object.entries.size(), 904);
  std::ofstream(path + ".h") << c_header(object, {.stack_max = generic, .run_stack_max = typed});
  std::ofstream(path + ".rs") << rust_module(object, false, typed);
  Object without_pools = object;
  for (Entry& entry : without_pools.entries) entry.pools.clear();
  std::ofstream(path + "_safe.rs") << rust_safe_module(without_pools);
  std::ofstream fields(path + ".fields");
  for (const CallField& field : call_fields(object.entries[0])) fields << field.name << "\n";
}

int run(const std::string& folder, size_t share) {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}}, name;
  std::vector<std::string> names;
  size_t count = 0;
  auto replace = [](std::string& name, const std::string& from, const std::string& to) {
    if (size_t at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  };
  auto flush = [&] {
    if (names.empty()) return;
    std::string number = std::to_string(count++), model = "m" + number;
    for (std::string& one : names) replace(one, "{m}", model), replace(one, "{M}", "M" + number);
    Written written(model, names);
    write(folder + "/" + model, written.object());
    names.clear();
  };
  for (char c : text) {
    if (c != 0) {
      name += c;
      continue;
    }
    names.push_back(std::exchange(name, {}));
    if (names.size() == share) flush();
  }
  flush();
  return 0;
}

}  // namespace
}  // namespace relaxc::interface

int main(int argc, char** argv) {
  return argc == 3 ? relaxc::interface::run(argv[1], std::stoul(argv[2])) : 2;
}
