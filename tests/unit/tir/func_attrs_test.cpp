// Attributes of prim funcs: every field prints what it parses, and what does not fit is refused.
#include "compiler/tir/func_attrs.h"

#include <catch2/catch.hpp>

#include "compiler/tir/builder.h"
#include "compiler/tir/verify.h"

using namespace relaxc;
using namespace relaxc::tir;

TEST_CASE("every attribute prints as it is read") {
  const std::map<std::string, std::string> texts = {{"arena", "1"},
                                                    {"checked_index", "20"},
                                                    {"copies", "1"},
                                                    {"error_node", "3"},
                                                    {"frame_of", "body"},
                                                    {"in_place", "0 2"},
                                                    {"overlapping", "0 1"},
                                                    {"overlaps", "0:-64 1:+128"},
                                                    {"rounding", "float16"},
                                                    {"index_ranges", "1..12 0.. .. ..-3"},
                                                    {"scratch", "2"},
                                                    {"schedule", "parallel i0"},
                                                    {"schedule_remark", "it is too small"},
                                                    {"choices", ""}};
  PrimFunc f;
  for (const auto& [name, text] : texts) {
    const FuncAttr* row = find_func_attr(name);
    REQUIRE(row != nullptr);
    CHECK(!row->print(f).has_value());
    CHECK(row->parse(f, text));
    CHECK(row->print(f) == text);
  }
  CHECK(texts.size() == func_attrs().size());
  f.attrs["op_pattern"] = "2";
  CHECK(attribute_texts(f).size() == texts.size() + 1);
  CHECK(find_func_attr("op_pattern") == nullptr);
}

TEST_CASE("a text of another form is refused and changes nothing") {
  const std::pair<const char*, const char*> wrong[] = {
      {"arena", "-1"},          {"arena", "x"},        {"arena", ""},        {"checked_index", "0"},
      {"checked_index", "20 "}, {"copies", "yes"},     {"in_place", "0,2"},  {"index_ranges", "1.12"},
      {"rounding", "float17"},  {"scratch", "two"},    {"overlaps", "0:64"}, {"overlaps", "-64"},
      {"overlaps", "0:--64"},   {"overlapping", "0,1"}};
  for (const auto& [name, text] : wrong) {
    PrimFunc f;
    INFO(name << " " << text);
    CHECK(!find_func_attr(name)->parse(f, text));
    CHECK(attribute_texts(f).empty());
  }
}

TEST_CASE("attributes that name no parameter of their kind are ill-formed") {
  arith::Context context;
  Builder b(context);
  auto with = [&](const char* name, const char* text) {
    PrimFunc f;
    BufferRef x = b.buffer("x", DType::f(32), {b.index(4)});
    f.params = {{x, {}}, {nullptr, context.var("n")}};
    CHECK(find_func_attr(name)->parse(f, text));
    return first_fault(f);
  };
  CHECK(with("arena", "0").empty());
  CHECK(!with("arena", "1").empty());
  CHECK(!with("arena", "2").empty());
  CHECK(!with("in_place", "0 1").empty());
  CHECK(!with("scratch", "2").empty());
  CHECK(!with("copies", "1").empty());
  CHECK(!with("index_ranges", ".. ..").empty());
}
