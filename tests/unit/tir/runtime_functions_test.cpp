// The names that emitted code calls are those of runtime-lite.
#include "compiler/tir/runtime_functions.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace relaxc::tir;

namespace {

/// The text of a header of runtime-lite.
std::string header(const std::string& name) {
  std::ifstream file(std::string(RELAXC_SOURCE_DIR) + "/runtime-lite/include/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

}  // namespace

TEST_CASE("each function of the table is declared by a header of runtime-lite") {
  std::string declared = header("rlx_internal.h") + header("relax_rt.h") + header("rlx_libc.h");
  std::set<std::string_view> names;
  for (const RuntimeRow& row : runtime_functions()) {
    INFO(row.name);
    std::regex prototype("(int32_t|void|double|float) " + std::string(row.name) + "[(]");
    CHECK(std::regex_search(declared, prototype));
    CHECK(names.insert(row.name).second);
    CHECK(find_runtime_function(row.name) == &row);
    CHECK(runtime_name(row.function) == row.name);
    CHECK("rlx_" + unprefixed_name(row.function) == row.name);
  }
  CHECK(find_runtime_function("rlx_heap") == nullptr);
}
