// identifier_test.cpp: C names from any names.
#include <catch2/catch.hpp>
#include <map>

#include "compiler/interface/object.h"

namespace relaxc::interface {
namespace {

TEST_CASE("plain names stay, others are escaped") {
  CHECK(identifier("image") == "image");
  CHECK(identifier("layer_1") == "layer_1");
  CHECK(identifier("a.b/c") == "a_x2E_b_x2F_c");
  CHECK(identifier("a__b") == "a__x5F_b");
  CHECK(identifier("1x") == "_x31_x");
  CHECK(identifier("int") == "_x69_nt");
  CHECK(identifier("class") == "_x63_lass");
  CHECK(identifier("a_x2E_b") == "a_x5F_x2E_b");
}

TEST_CASE("no two names of up to six bytes become one") {
  std::string_view alphabet = "_x2E.";
  std::map<std::string, std::string> seen;
  for (size_t length = 1; length <= 6; ++length) {
    std::vector<size_t> digits(length, 0);
    for (bool more = true; more;) {
      std::string name;
      for (size_t digit : digits) name += alphabet[digit];
      auto [it, fresh] = seen.emplace(identifier(name), name);
      INFO(name << " and " << it->second);
      if (!fresh) REQUIRE(it->second == name);
      more = false;
      for (size_t& digit : digits) {
        more = ++digit < alphabet.size();
        if (more) break;
        digit = 0;
      }
    }
  }
}

}  // namespace
}  // namespace relaxc::interface
