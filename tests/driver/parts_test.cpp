// parts_test.cpp: parts of the driver that the program cannot be made to show, or only with effort: what happens when
// relaxc itself is at fault, names near to a file's stem, paths as make reads them, names that carry a state.
#include <catch2/catch.hpp>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "compiler/api/output/depfile.h"
#include "compiler/api/output/plan.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/report/summary.h"
#include "compiler/support/check.h"

using namespace relaxc;
using namespace relaxc::driver;

TEST_CASE("the program's own exit code is passed on") {
  CHECK(run_guarded([] { return 0; }) == 0);
  CHECK(run_guarded([] { return 2; }) == 2);
}

TEST_CASE("a fault of relaxc ends with exit code 70") {
  CHECK(run_guarded([]() -> int { RELAXC_UNREACHABLE("for the test"); }) == 70);
  CHECK(run_guarded([]() -> int { throw std::logic_error("for the test"); }) == 70);
  CHECK(run_guarded([]() -> int { throw 5; }) == 70);
}

TEST_CASE("what the system refuses is not a fault of relaxc") {
  CHECK(run_guarded([]() -> int { throw std::bad_alloc(); }) == 1);
  CHECK(run_guarded([]() -> int { throw std::system_error(ENOSPC, std::generic_category()); }) == 1);
}

TEST_CASE("a failed check says where and what") {
  try {
    RELAXC_CHECK(1 + 1 == 3, "detail");
    FAIL("the check passed");
  } catch (const InternalError& error) {
    std::string text = error.what();
    CHECK_THAT(text, Catch::Contains("parts_test.cpp") && Catch::Contains("1 + 1 == 3") && Catch::Contains("detail"));
  }
}

TEST_CASE("usage errors give 2, others 1, warnings 1 only if they are errors") {
  Options plain, strict;
  strict.warnings_are_errors = true;
  Diagnostics none, warned, failed, misused;
  warned.warning(nullptr, Kind::unbounded, "w");
  failed.error(nullptr, Kind::io, "e");
  misused.error(nullptr, Kind::usage, "u");
  CHECK(exit_code(none, strict) == 0);
  CHECK(exit_code(warned, plain) == 0);
  CHECK(exit_code(warned, strict) == 1);
  CHECK(exit_code(failed, plain) == 1);
  CHECK(exit_code(misused, plain) == 2);
}

TEST_CASE("a suggested name is always one that is accepted") {
  for (const char* stem : {"", "mnist-8", "8", "rlx", "while", "int", "a b", "-", "_", "\xff", "model.v2"})
    CHECK(is_model_name(valid_model_name(stem)));
  CHECK(valid_model_name("mnist-8") == "mnist_8");
}

TEST_CASE("make gets back the path that was written") {
  auto make_escaped = [](const char* path) { return driver::make_escaped(path, RuleSide::kDependency); };
  CHECK(make_escaped("a b") == "a\\ b");
  CHECK(make_escaped("a#b$c") == "a\\#b$$c");
  CHECK(make_escaped("a\\ b") == "a\\\\\\ b");
  CHECK(make_escaped("a\\b") == "a\\b");
  Diagnostics diag;
  CHECK(*depfile_text("t.d", "t", {}, {"a", "b"}, true, diag) == "t: \\\n  a \\\n  b\n\nb:\n");
  CHECK(!depfile_text("t.d", "", {"t"}, {"a", "b\nc"}, true, diag));
}

TEST_CASE("both ends of a state have one stem") {
  for (auto [in, out] : {std::pair{"h0", "hn"},
                         {"h", "hn"},
                         {"state", "stateN"},
                         {"cache_in", "cache_out"},
                         {"past_key", "present_key"},
                         {"conv.cache", "conv.new_cache"},
                         {"input_h", "output_h"}})
    CHECK(state_stem(in) == state_stem(out));
  CHECK(state_stem("h0") != state_stem("cn"));
  CHECK(state_stem("h_1_in") != state_stem("h_2_out"));
  CHECK(state_stem("input_1").empty());
  CHECK(state_stem("input").empty());
  CHECK(state_stem("output").empty());
}

TEST_CASE("more than 1 GB of weights go to a file of their own, unless they are asked to stay") {
  constexpr uint64_t kGigabyte = uint64_t{1} << 30;
  Options options, embedding, naming;
  options.input = "m.onnx", options.output = "m.o";
  embedding = naming = options;
  embedding.embed_weights = true;
  naming.weights = "own.bin";
  auto place = [](const Options& asked, uint64_t bytes) {
    Diagnostics diag;
    Result<OutputPlan> plan = plan_outputs(asked, diag);
    REQUIRE(plan);
    REQUIRE(plan_weights(*plan, bytes, asked, diag));
    return plan->weights;
  };
  CHECK(place(options, kGigabyte).empty());
  CHECK(place(options, kGigabyte + 1) == "m.weights");
  CHECK(place(embedding, 4 * kGigabyte).empty());
  CHECK(place(naming, 1) == "own.bin");
}
