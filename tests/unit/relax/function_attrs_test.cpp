// Attributes of Relax functions: every field prints what it parses, and what does not fit is refused.
#include "compiler/relax/function_attrs.h"

#include <catch2/catch.hpp>

using namespace relaxc;
using namespace relaxc::relax;

TEST_CASE("every attribute of a Relax function prints as it is read") {
  using Texts = std::vector<std::string>;
  const std::map<std::string, AttrValue> values = {
      {"gradient", Texts{"w"}},
      {"gradient_target", int64_t{1}},
      {"num_input", int64_t{2}},
      {"output_names", Texts{"y", "z"}},
      {"quantized", Texts{"input 0: scale 0.5 zero 3", "output 1: axis 1 scale 0.5, 0.25 zero 0, -7"}},
      {"rounding", std::string("float16")},
      {"state", Texts{"h:h_next"}}};
  arith::Context context;
  Function f(context, "main");
  for (const auto& [name, value] : values) {
    INFO(name);
    const FunctionAttr* row = find_function_attr(name);
    REQUIRE(row != nullptr);
    CHECK(!row->print(f).has_value());
    CHECK(set_attribute(f, name, value));
    CHECK(row->print(f) == value);
  }
  CHECK(f.attrs.empty());
  CHECK(values.size() == function_attrs().size());
  CHECK(attribute_values(f) == values);
}

TEST_CASE("attributes of other compilers are kept as they are") {
  arith::Context context;
  Function f(context, "main");
  CHECK(set_attribute(f, "Primitive", true));
  CHECK(attribute_values(f) == std::map<std::string, AttrValue>{{"Primitive", true}});
}

TEST_CASE("a value of another form is refused and changes nothing") {
  arith::Context context;
  const std::pair<const char*, AttrValue> wrong[] = {
      {"gradient", std::string("w")},
      {"gradient_target", std::string("1")},
      {"num_input", std::string("2")},
      {"output_names", std::string("y")},
      {"quantized", int64_t{1}},
      {"quantized", std::vector<std::string>{"input 0: scale one zero 0"}},
      {"quantized", std::vector<std::string>{"input 0: axis 1 scale 1, 2 zero 0"}},
      {"quantized", std::vector<std::string>{"input 0: scale 1 zero 0", "input 0: scale 1 zero 0"}},
      {"state", std::vector<std::string>{"h"}},
      {"state", std::vector<std::string>{":h"}},
      {"rounding", std::string("float17")},
      {"rounding", int64_t{1}},
      {"state", std::vector<int64_t>{1}}};
  for (const auto& [name, value] : wrong) {
    Function f(context, "main");
    INFO(name);
    CHECK(!set_attribute(f, name, value));
    CHECK(attribute_values(f).empty());
  }
}
