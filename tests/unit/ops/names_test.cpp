// names_test.cpp: the list of operator names, which CMake reads from the text of the tables, is that of the tables.
// That a name which is not in the list does not compile is tested by ops:wrong_name, beside this file.
#include <algorithm>
#include <catch2/catch.hpp>

#include "compiler/ops/op_table.h"

using namespace relaxc;
using relax::OpName;

TEST_CASE("the list of names has the operators of the table, in byte order") {
  relax::OpTable table = ops::op_table();
  std::vector<std::string_view> listed(std::begin(relax::kOpNames), std::end(relax::kOpNames)), defined;
  for (const relax::OpDef* def : table.all()) defined.push_back(def->name.text());
  CHECK(listed == defined);
  CHECK(std::is_sorted(listed.begin(), listed.end()));
  CHECK(std::adjacent_find(listed.begin(), listed.end()) == listed.end());
}

TEST_CASE("text finds the operator that has this name") {
  CHECK(OpName::find("nn.conv") == OpName("nn.conv"));
  CHECK(OpName::find("nn.conv")->text() == "nn.conv");
  for (std::string_view text : {"", "nn", "nn.con", "nn.convolution", "a", "zzz"}) CHECK_FALSE(OpName::find(text));
}

TEST_CASE("a table that lacks an operator says so, by identity and by text") {
  relax::OpTable empty({});
  CHECK(empty.of("add") == nullptr);
  CHECK(empty.find("add") == nullptr);
  relax::OpTable all = ops::op_table();
  CHECK(all.of("add") == all.find("add"));
  CHECK(all.find("no_such_operator") == nullptr);
}
