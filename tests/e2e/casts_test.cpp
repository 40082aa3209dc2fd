// casts_test.cpp: match_cast from each weaker form of a type to each stronger one, as a guard that is checked: what
// fits passes, and what does not is refused by the interpreter and by both backends, with the code for what was found.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "tests/e2e/counting_allocator.h"

namespace relaxc::e2e {
namespace {

using Inputs = std::vector<HostTensor>;

struct Cast {
  const char* entry;
  Inputs fits;  ///< empty: nothing does
  struct Wrong {
    Inputs inputs;
    const char* status;
    const char* interpreted = status;  ///< where compiled code says DATA_BOUND, because something was written before
  };
  std::vector<Wrong> wrong;
};

HostTensor int64_scalar(double value) {
  return tensor(DType::i(64), {}, {value});
}
HostTensor of_int32(std::vector<int64_t> shape) {
  HostTensor zeros{DType::i(32), std::move(shape), {}};
  zeros.bytes.resize(static_cast<size_t>(zeros.elements()) * 4);
  return zeros;
}

std::vector<Cast> table() {
  return {
      {"any_tensor", {floats({2, 3})}, {{{of_int32({2, 3})}, "DTYPE"}, {{floats({6})}, "RANK"}}},
      {"any_rank", {floats({2, 3})}, {{{floats({3})}, "RANK"}, {{floats({2, 4})}, "STATIC_DIM"}}},
      {"any_dtype", {floats({2, 3})}, {{{of_int32({2, 3})}, "DTYPE"}, {{floats({3, 2})}, "STATIC_DIM"}}},
      {"rank_alone", {floats({3, 3})}, {{{of_int32({3, 3})}, "DTYPE"}, {{floats({3, 2})}, "SYMBOL_EQUALITY"}}},
      {"any_dims", {floats({3, 4})}, {{{floats({3, 3})}, "DERIVED_DIM"}, {{floats({3})}, "RANK"}}},
      {"other_symbols", {floats({3, 3})}, {{{floats({3, 4})}, "SYMBOL_EQUALITY"}}},
      {"symbol_to_number", {floats({4})}, {{{floats({5})}, "STATIC_DIM"}}},
      {"any_shape", {ints({3, 6})}, {{{ints({3, 5})}, "DERIVED_DIM"}, {{ints({3})}, "STATIC_DIM"}}},
      {"shape_of_rank", {ints({5, 3})}, {{{ints({5, 4})}, "STATIC_DIM"}, {{ints({5, 3, 1})}, "STATIC_DIM"}}},
      {"shape_to_shape", {ints({5, 6})}, {{{ints({5, 5})}, "DERIVED_DIM"}}},
      {"prim_value", {floats({3}), int64_scalar(6)}, {{{floats({3}), int64_scalar(5)}, "DERIVED_DIM"}}},
      {"fields",
       {floats({3}), ints({3}), int64_scalar(3)},
       {{{floats({3, 1}), ints({3}), int64_scalar(3)}, "RANK"},
        {{floats({3}), ints({4}), int64_scalar(3)}, "SYMBOL_EQUALITY"},
        {{floats({3}), ints({3}), int64_scalar(2)}, "SYMBOL_EQUALITY"}}},
      {"nested_fields",
       {floats({3}), floats({3, 2}), of_int32({3})},
       {{{of_int32({3}), floats({3, 2}), of_int32({3})}, "DTYPE"},
        {{floats({3}), floats({3}), of_int32({3})}, "RANK"},
        {{floats({3}), floats({4, 2}), of_int32({3})}, "SYMBOL_EQUALITY"},
        {{floats({3}), floats({3, 2}), floats({3})}, "DTYPE"}}},
      {"object_to_tensor", {floats({3})}, {{{floats({4})}, "DATA_BOUND", "STATIC_DIM"}}},
      {"object_of_other_rank", {}, {{{floats({3})}, "RANK"}}},
      {"object_of_other_dtype", {}, {{{floats({3})}, "DTYPE"}}},
      {"object_to_shape", {}, {{{floats({3})}, "OBJECT_KIND"}}},
      {"object_to_prim", {}, {{{floats({3})}, "OBJECT_KIND"}}},
      {"of_data", {floats({3}, 1)}, {{{floats({4}, 1)}, "DATA_BOUND", "STATIC_DIM"}}},
  };
}

TEST_CASE("a match_cast to each stronger form passes what fits and refuses what does not, with its code") {
  CompiledProgram program("tests/e2e/programs/match_casts.relax");
  CountingAllocator allocator(program);  // for the maker of objects
  std::vector<Cast> casts = table();
  REQUIRE(program.llvm().model().num_functions == casts.size());
  for (uint32_t entry = 0; entry < casts.size(); ++entry) {
    const Cast& cast = casts[entry];
    INFO(cast.entry);
    REQUIRE(std::strcmp(program.function(entry).name, cast.entry) == 0);
    if (!cast.fits.empty()) program.run(cast.fits, entry);
    for (const Cast::Wrong& wrong : cast.wrong) {
      INFO(wrong.status);
      CHECK_THAT(program.refusal(wrong.inputs, entry), Catch::Contains(wrong.status));
      CHECK(program.fault(wrong.inputs, entry) == wrong.interpreted);
    }
  }
}

HostTensor nonzeros(int64_t count, int64_t size) {
  std::vector<double> values(static_cast<size_t>(size));
  std::fill_n(values.begin(), count, 1);
  return tensor(DType::f(32), {size}, values);
}

/// Calls an entry with an output of `capacity` elements in a larger piece of memory; what is behind must stay.
int32_t run_into(const rlx_function& function, std::vector<HostTensor> inputs, DType dtype,
                 std::vector<int64_t> capacity) {
  std::vector<rlx_tensor> tensors;
  for (HostTensor& input : inputs) {
    rlx_tensor& one = tensors.emplace_back();
    one.data = input.bytes.data(), one.device_type = RLX_DEVICE_CPU,
    one.ndim = static_cast<int32_t>(input.shape.size());
    one.dtype_code = input.dtype == DType::f(32) ? 2 : input.dtype == DType::boolean() ? 6 : 0;
    one.dtype_bits = static_cast<uint8_t>(8 * input.dtype.bytes()), one.dtype_lanes = 1, one.shape = input.shape.data();
  }
  constexpr std::byte kUntouched{0x5a};
  int64_t elements = 1;
  for (int64_t dim : capacity) elements *= dim;
  const auto end = static_cast<ptrdiff_t>(elements * dtype.bytes());
  std::vector<std::byte> memory(static_cast<size_t>(end) + 256, kUntouched), arena(1 << 16);
  rlx_tensor output = tensors.front();
  output.data = memory.data(), output.ndim = static_cast<int32_t>(capacity.size()), output.shape = capacity.data();
  output.dtype_code = dtype == DType::f(32) ? 2 : 0, output.dtype_bits = static_cast<uint8_t>(8 * dtype.bytes());
  void* aligned = arena.data();
  size_t room = arena.size();
  REQUIRE(std::align(64, 1 << 15, aligned, room) != nullptr);
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = aligned, context.arena_bytes = room;
  int32_t status = function.run(&context, tensors.data(), static_cast<uint32_t>(tensors.size()), &output, 1);
  CHECK(std::all_of(memory.begin() + end, memory.end(), [](std::byte one) { return one == kUntouched; }));
  return status;
}

TEST_CASE("no kernel writes beyond an output or a part of one before sizes are compared") {
  CompiledProgram program("tests/e2e/programs/late_sizes.relax");
  const HostTensor x = tensor(DType::i(64), {4}, {1, 2, 3, 4}), yes = tensor(DType::boolean(), {}, {1});
  struct Entry {
    const char* name;
    DType dtype;
    std::vector<int64_t> capacity;
    std::vector<HostTensor> fits, longer;
    int32_t refusal = RLX_DATA_BOUND;
  };
  const std::vector<Entry> entries = {
      {"shorter_output", DType::f(32), {3}, {nonzeros(3, 9), floats({3})}, {nonzeros(3, 9), floats({9})}},
      {"fixed_output", DType::i(64), {1, 4}, {nonzeros(4, 9)}, {nonzeros(9, 9)}},
      {"fixed_part", DType::i(64), {8}, {nonzeros(4, 9), x}, {nonzeros(9, 9), x}},
      {"reshaped_part", DType::i(64), {8}, {nonzeros(4, 9), x}, {nonzeros(9, 9), x}},
      {"branch", DType::i(64), {4}, {nonzeros(4, 9), x, yes}, {nonzeros(9, 9), x, yes}},
      {"copying_branch", DType::i(64), {1, 4}, {nonzeros(4, 9), yes}, {nonzeros(9, 9), yes}, RLX_DATA_CAPACITY},
  };
  REQUIRE(program.llvm().model().num_functions == entries.size());
  for (uint32_t at = 0; at < entries.size(); ++at) {
    const Entry& entry = entries[at];
    INFO(entry.name);
    program.run(entry.fits, at);
    for (const LoadedModel* model : {&program.llvm(), &program.c()}) {
      const rlx_function& function = model->function(at);
      REQUIRE(function.name == std::string(entry.name));
      CHECK(run_into(function, entry.fits, entry.dtype, entry.capacity) == RLX_OK);
      CHECK(run_into(function, entry.longer, entry.dtype, entry.capacity) == entry.refusal);
    }
  }
}

}  // namespace
}  // namespace relaxc::e2e
