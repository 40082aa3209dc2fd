// entry_functions.h: makes, as TIR, the functions between C and the prim funcs of an object.
//
// A program calls `name_run` with a struct of pointers; runtime-lite calls the functions of rlx_function_private with
// arrays. Prim funcs take each pointer and symbol as a parameter. The functions between are made here, once, and both
// backends print them like kernels.
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
  /// `object` must outlive this.
  explicit EntryFunctions(const Object& object) : object_(object) {}

  /// Returns `int32_t f(rlx_context* context, const name_args* args)`, the typed call. It checks what keeps accesses
  /// inside of the caller's memory (bounds of dims, the arena, the pools, separate weights), and refers to no table.
  tir::PrimFunc run(const Entry& entry);
  /// Returns `int32_t f(int64_t symbols…, uint64_t* bytes)`, which computes the arena's size. nullopt if that is
  /// constant, or if a symbol is read from data.
  std::optional<tir::PrimFunc> arena_bytes(const Entry& entry);
  /// Returns `int32_t f(rlx_context* context, parameters…, symbols…)` for a prim func of the program; the context may
  /// be null unless an external function is called or the function needs an arena.
  tir::PrimFunc public_function(const PublicPrimFunc& function);
  /// Returns `int32_t f(int64_t scalars…, int64_t symbols…, uint64_t* bytes)`, which computes the arena that a prim
  /// func needs. nullopt if it needs none, or its size is constant.
  std::optional<tir::PrimFunc> public_arena_bytes(const PublicPrimFunc& function);

  // The functions of rlx_function_private, which rlx_internal.h describes. nullopt where the record has a null pointer.
  std::optional<tir::PrimFunc> shapes(const Entry& entry);
  std::optional<tir::PrimFunc> arena(const Entry& entry);
  std::optional<tir::PrimFunc> values(const Entry& entry);
  tir::PrimFunc call(const Entry& entry);

  /// Returns the function of rlx_function for `callee` ("bind", "output_shape", "arena_bytes", "run"): it has scratch
  /// memory in its frame and calls runtime-lite with the entry's rlx_function_private, the data called "private".
  tir::PrimFunc generic(const Entry& entry, tir::RuntimeFunction callee);
  /// Returns `int32_t name_selftest(rlx_context* context)`, which uses the data called "model" and "selftest".
  tir::PrimFunc selftest();

 private:
  /// A struct of arguments as the header declares it.
  struct Arguments {
    std::string name;
    std::vector<CallField> fields;
    std::vector<tir::Field> layout;
    tir::Record record;
  };
  const Arguments& arguments(const Entry& entry);

  const Object& object_;
  tir::Context context_;  ///< owns all that is made
  std::deque<Arguments> arguments_;
};

}  // namespace relaxc::interface
