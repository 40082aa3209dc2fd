// explicit_memory.h: tensors of memory that the text allocates, as TVM prints modules after CallTIRRewrite.
//
// There, `y = R.builtin.alloc_tensor(…)` is memory, and the call `cls.f(x, y)` of a prim func writes it. Values of the
// graph do not change, so the call becomes a call_tir, whose results take the place of the memory under all of its
// names. Memory is planned anew: which storage a tensor was given does not matter.
#pragma once

#include <map>
#include <vector>

#include "frontends/relax/function/term.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

struct FunctionParts;

class ExplicitMemory {
 public:
  ExplicitMemory() = default;
  ExplicitMemory(const ExplicitMemory&) = delete;

  void allocate(relax::Value* value, const relax::Region& region, Place place) {
    allocated_.push_back({value, &region, place});
  }
  /// Whether it is memory that no call has written, allocated in this region or outside of it.
  bool is_unwritten(const relax::Value* value) const;
  /// Whether the memory was allocated in `region` itself, where a call can write it.
  bool is_of(const relax::Value* value, const relax::Region& region) const;
  void write(const relax::Value* memory, relax::Value* result) { written_[memory] = result; }
  /// Returns what a call has written into the memory; any other value is returned itself.
  relax::Value* current(relax::Value* value) const;
  /// Reports memory that something reads although no call had written it.
  Status check(FunctionParts& fn) const;

 private:
  struct Allocation {
    relax::Value* value = nullptr;
    const relax::Region* region = nullptr;
    Place place;
  };
  const Allocation* find(const relax::Value* value) const;

  std::vector<Allocation> allocated_;
  std::map<const relax::Value*, relax::Value*> written_;
};

/// Reads R.builtin.alloc_tensor(shape, dtype, …).
Result<Term> alloc_tensor(FunctionParts& fn, const ast::Expr& e);
/// Reads R.memory.alloc_tensor(storage, offset, shape, dtype), and that of R.vm.
Result<Term> alloc_tensor_of_storage(FunctionParts& fn, const ast::Expr& e);
/// Whether an argument from `first` on names unwritten memory, so that the call writes it.
bool writes_memory(FunctionParts& fn, const ast::Expr& call, size_t first);
/// Reads cls.f(x, y) where y, and what follows it, is unwritten memory.
Result<Term> call_on_memory(FunctionParts& fn, const std::string& name, const ast::Expr& call);
/// Reads R.call_packed("f", x, y), where it is.
Result<Term> call_packed_on_memory(FunctionParts& fn, const std::string& name, const ast::Expr& call);

}  // namespace relaxc::frontend
