// casts_test.cpp: match_cast from each weaker form of a type to each stronger one, as a guard that is checked: what
// fits passes, and what does not is refused by the interpreter and by both backends, with the code for what was found.
#include <catch2/catch.hpp>
#include <cstring>

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

HostTensor ints(const std::vector<double>& values, DType dtype = DType::i(64)) {
  return tensor(dtype, {static_cast<int64_t>(values.size())}, values);
}
HostTensor scalar(double value) {
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
      {"prim_value", {floats({3}), scalar(6)}, {{{floats({3}), scalar(5)}, "DERIVED_DIM"}}},
      {"fields",
       {floats({3}), ints({3}), scalar(3)},
       {{{floats({3, 1}), ints({3}), scalar(3)}, "RANK"},
        {{floats({3}), ints({4}), scalar(3)}, "SYMBOL_EQUALITY"},
        {{floats({3}), ints({3}), scalar(2)}, "SYMBOL_EQUALITY"}}},
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

}  // namespace
}  // namespace relaxc::e2e
