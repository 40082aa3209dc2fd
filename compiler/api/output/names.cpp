// names.cpp: replaces names of functions by numbers, and empties those in tables.
//
// A product need not reveal the structure of its network, and on a small board the names take
// flash. Functions are renamed in the list and in calls, so that the backends need not know of
// it.
#include "compiler/api/output/names.h"

#include <map>
#include <set>

#include "compiler/tir/visit.h"

namespace relaxc::api {
namespace {

class Renaming {
 public:
  explicit Renaming(RenamedFunctions& made) : made_(made) {}

  void run(interface::Object& object) {
    std::set<std::string> stays;
    for (const interface::PublicPrimFunc& function : object.public_prim_funcs)
      stays.insert({function.name, function.with_arena, function.arena});
    for (const tir::PrimFunc* function : object.functions) {
      std::string name = "f" + std::to_string(renamed_.size());
      while (stays.count(name) != 0) name += "_";
      renamed_[function->name] = stays.count(function->name) != 0 ? function->name : name;
    }
    for (const tir::PrimFunc*& function : object.functions) function = copy(*function);
    for (interface::Entry& entry : object.entries)
      for (std::string* name : {&entry.shapes, &entry.arena, &entry.values, &entry.call}) *name = now(*name);
  }

 private:
  std::string now(const std::string& name) const {
    auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  const tir::PrimFunc* copy(const tir::PrimFunc& function) {
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke == nullptr || invoke->external || renamed_.count(invoke->callee) == 0) return s;
      tir::Invoke call = *invoke;
      call.callee = now(invoke->callee);
      return tir::Stmt(made_.context.arena().make<tir::Invoke>(std::move(call)));
    };
    tir::PrimFunc& made = made_.functions.emplace_back(function);
    made.name = now(function.name);
    made.body = tir::rewrite(made_.context, function.body, rewriter);
    return &made;
  }

  RenamedFunctions& made_;
  std::map<std::string, std::string> renamed_;
};

}  // namespace

interface::Object with_names(const interface::Object& object, Names names, RenamedFunctions& renamed) {
  interface::Object out = object;
  if (names == Names::kFull) return out;
  Renaming(renamed).run(out);
  for (interface::Entry& entry : out.entries) {
    entry.nodes.clear();
    if (names == Names::kIo) continue;
    for (auto* tensors : {&entry.inputs, &entry.outputs})
      for (interface::Tensor& tensor : *tensors) tensor.name.clear();
    for (interface::Symbol& symbol : entry.symbols) symbol.name.clear();
  }
  return out;
}

}  // namespace relaxc::api
