// identifier_test.cpp: C names from any names.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "compiler/interface/identifiers.h"
#include "compiler/interface/reserved_names.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::interface {
namespace {

TEST_CASE("an identifier that is not meant to be read escapes bytes") {
  CHECK(identifier("image") == "image");
  CHECK(identifier("layer_1") == "layer_1");
  CHECK(identifier("a.b/c") == "a_x2E_b_x2F_c");
  CHECK(identifier("a__b") == "a__x5F_b");
  CHECK(identifier("1x") == "_x31_x");
  CHECK(identifier("int") == "_x69_nt");
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

TEST_CASE("a readable identifier keeps what can be read") {
  struct Row {
    const char *name, *made;
  };
  constexpr Row kRows[] = {{"image", "image"},
                           {"_hidden", "_hidden"},
                           {"class", "class_"},
                           {"linux", "linux_"},
                           {"NULL", "NULL_"},
                           {"INT32_MAX", "INT32_MAX_"},
                           {"MAP_SHARED", "MAP_SHARED_"},
                           {"INPUT.0", "INPUT_0_"},
                           {"EPS_", "EPS_"},
                           {"int32_t", "int32_t_"},
                           {"_Bool", "Bool"},
                           {"__attribute__", "attribute"},
                           {"a.b", "a_b"},
                           {"input:0", "input_0"},
                           {"0", "input_0"},
                           {"1x", "input_1x"},
                           {"/conv1/Conv_output_0", "conv1_Conv_output_0"},
                           {"a__b", "a_b"},
                           {"rlx_context", "input_rlx_context"},
                           {"a*/b\\\n", "a_b"},
                           {"", "input_7"},
                           {"_", "input_7"},
                           {"\xE5\x85\xA5\xE5\x8A\x9B", "input_7"},
                           {"gr\xC3\xB6\xC3\x9F"
                            "e",
                            "gr_e"},
                           {"x\xE2\x80\xAEy", "x_y"}};
  for (const Row& row : kRows) {
    INFO(row.name);
    CHECK(readable_identifier(row.name, "input", 7) == row.made);
  }
}

TEST_CASE("an identifier made from a reserved word is not reserved") {
  for (const char* word :
       {"class", "typeof", "unix", "errno", "NULL", "PRIx64", "DBL_MAX", "size_t", "RLX_OK", "LC_ALL", "uint8_t",
        "UINT64_C", "I", "_Atomic", "__x", "SCNdMAX", "__rlx_", "_RLX_OK", "__class"}) {
    INFO(word);
    CHECK(is_reserved(word));
    CHECK_FALSE(is_identifier(word));
    CHECK(is_identifier(readable_identifier(word, "input", 0)));
  }
  for (const char* word : {"x", "input", "E", "Prior", "h_t", "H0", "linux_", "max", "N", "X_1", "W_ih", "EPS_"}) {
    INFO(word);
    CHECK(is_identifier(word));
  }
  for (const char* word : {"PRIOR", "INT", "SIGNAL", "EPS", "H_W", "X2Y", "O_RDONLY"}) {
    INFO(word);
    CHECK(is_function_name(word));
    CHECK_FALSE(is_identifier(word));
    CHECK(is_identifier(readable_identifier(word, "input", 0)));
  }
}

Tensor tensor(const char* name) {
  Tensor made;
  made.name = name;
  made.data_dependent = true;
  return made;
}

TEST_CASE("names that coincide get numbers, those that are identifiers first") {
  Object object;
  object.name = "m";
  Entry entry;
  entry.name = "main";
  for (const char* name : {"a.b", "a_b", "a:b", "class", "class_", "m_run", "m_args"})
    entry.inputs.push_back(tensor(name));
  for (const char* name : {"a_b", "y", "y_dims"}) entry.outputs.push_back(tensor(name));
  for (const char* name : {"y", "n", "bytes", "a.b"}) entry.symbols.push_back({name, 0, 9, 1, 0, 0});
  object.entries.push_back(entry);
  for (const char* name : {"a.b", "a_b", "run"}) {
    object.entries.push_back(Entry());
    object.entries.back().name = name;
  }
  object.public_prim_funcs = {{"run"}, {"model"}, {"a_b_run"}};
  assign_identifiers(object);
  std::vector<std::string> fields;
  for (const CallField& field : call_fields(object.entries[0])) fields.push_back(field.name);
  CHECK(fields == std::vector<std::string>{"a_b_2", "a_b", "a_b_3", "class__2", "class_", "m_run_3", "m_args_2",
                                           "a_b_4", "y", "y_dims", "a_b_4_dims", "dim_y_dims", "y_dims_dims", "dim_y",
                                           "n", "bytes", "dim_a_b"});
  CHECK(std::set<std::string>(fields.begin(), fields.end()).size() == fields.size());
  CHECK(entry_prefix(object, object.entries[0]) == "m_");
  CHECK(entry_prefix(object, object.entries[1]) == "m_a_b_2_");
  CHECK(entry_prefix(object, object.entries[2]) == "m_a_b_");
  CHECK(public_symbol(object, object.public_prim_funcs[0]) == "m_run_2");
  CHECK(public_symbol(object, object.public_prim_funcs[1]) == "m_model_2");
  CHECK(public_symbol(object, object.public_prim_funcs[2]) == "m_a_b_run_2");
}

}  // namespace
}  // namespace relaxc::interface
