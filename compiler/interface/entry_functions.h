// entry_functions.h: the functions that are between C and the prim funcs of an object, as TIR.
//
// A program calls `name_run` with a struct of pointers; runtime-lite calls what rlx_function_private points to with
// arrays. Prim funcs take each pointer and symbol as a parameter. What is between is made here, once, and both
// backends print it as they print a kernel.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/interface/typed_call.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::interface {

class EntryFunctions {
 public:
  /// `object` outlives this.
  explicit EntryFunctions(const Object& object) : object_(object) {}

  /// `int32_t f(rlx_context* context, const name_args* args)`, the typed call: it checks what would otherwise reach
  /// outside of the caller's memory (bounds of dims, the arena, the pools, separate weights) and refers to no table.
  tir::PrimFunc run(const Entry& entry);
  /// `int32_t f(int64_t symbols…, uint64_t* bytes)`: the arena's size. Nothing where it is one number, or a symbol is
  /// read from data.
  std::optional<tir::PrimFunc> arena_bytes(const Entry& entry);
  /// `int32_t f(rlx_context* context, parameters…, symbols…)` of a prim func of the program; the context may be null
  /// unless an external function is called or the function needs an arena.
  tir::PrimFunc public_function(const PublicPrimFunc& function);
  /// `int32_t f(int64_t scalars…, int64_t symbols…, uint64_t* bytes)`: the arena that a prim func needs. Nothing where
  /// it needs none, or it is one number.
  std::optional<tir::PrimFunc> public_arena_bytes(const PublicPrimFunc& function);

  // The functions of rlx_function_private, which rlx_internal.h describes. Nothing where the record has a null pointer.
  std::optional<tir::PrimFunc> shapes(const Entry& entry);
  std::optional<tir::PrimFunc> arena(const Entry& entry);
  std::optional<tir::PrimFunc> values(const Entry& entry);
  tir::PrimFunc call(const Entry& entry);

  /// The function of rlx_function called `what` ("bind", "output_shape", "arena_bytes", "run"): scratch in its frame,
  /// and a call into runtime-lite with the entry's rlx_function_private, the data called "private".
  tir::PrimFunc generic(const Entry& entry, tir::RuntimeFunction callee);
  /// `int32_t name_selftest(rlx_context* context)`, on the data called "model" and "selftest".
  tir::PrimFunc selftest();

 private:
  /// A struct of arguments, as the header declares it.
  struct Arguments {
    std::string name;
    std::vector<CallField> fields;
    std::vector<tir::Field> layout;
    tir::Record record;
  };
  const Arguments& arguments(const Entry& entry);

  const Object& object_;
  tir::Context context_;  ///< of all that is made
  std::deque<Arguments> arguments_;
};

}  // namespace relaxc::interface
