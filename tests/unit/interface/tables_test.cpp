// tables_test.cpp: the tables of an object say what the object is, and refer to what was defined before them.
#include "compiler/interface/tables.h"

#include <catch2/catch.hpp>

#include "compiler/interface/identifiers.h"
#include "rlx_internal.h"

namespace relaxc::interface {
namespace {

/// An object with one function of a symbol, a quantized input and a node.
struct Described {
  Described() {
    arith::Var n = context.var("n");
    auto memory = [&](const char* name) { return b.buffer(name, DType::u(8), {b.index(INT64_MAX)}); };
    tir::BufferRef x = b.buffer("x", DType::i(8), {n}), y = b.buffer("y", DType::f(32), {b.index(2)});
    body.name = "body";
    for (tir::BufferRef buffer : {x, y, memory("arena"), memory("weights")}) body.params.push_back({buffer, {}});
    body.params.push_back({b.buffer("out_dims", DType::index(), {b.index(1)}), {}});
    body.params.push_back({nullptr, n});
    body.body = b.seq({});
    object.name = "m", object.producer = "test";
    object.functions = {&body};
    object.weights = {8, 64, true, {}};
    object.hash[31] = 255;
    Entry& e = object.entries.emplace_back();
    e.name = "main", e.call = "body", e.nodes = {"a", "b"};
    e.arena_max = UINT64_MAX, e.arena_align = 16;
    e.symbols = {{"n", 2, 10, 2, 0, 0}};
    Tensor in, out;
    in.name = in.identifier = "x", in.dtype = DType::i(8), in.dims = {-1}, in.dim_text = {"n"};
    in.quant = Quantization{-1, {0.5F}, {-3}}, in.strided = true;
    out.name = out.identifier = "y", out.dtype = DType::f(32), out.dims = {2}, out.dim_text = {"2"};
    e.inputs = {in}, e.outputs = {out};
    assign_identifiers(object);
    EntryFunctions made(object);
    CodeFacts facts{"there", [](const std::string& name) { return name == "values"; }};
    tables = object_tables(object, made, facts);
  }

  const Definition& operator[](const std::string& name) const {
    for (const Definition& definition : tables)
      if (definition.name == name) return definition;
    FAIL("no definition " + name);
    return tables.front();
  }
  Constant field(const std::string& table, Record record, std::string_view name, size_t row = 0) const {
    const auto& records = std::get<Records>((*this)[table].what);
    CHECK(records.record == record);
    return records.rows.at(row).at(field_index(record, name));
  }
  int64_t number(const std::string& table, Record record, std::string_view name) const {
    return std::get<int64_t>(field(table, record, name));
  }
  const Definition& target(const std::string& table, Record record, std::string_view name) const {
    return tables.at(std::get<Address>(field(table, record, name)).definition);
  }

  arith::Context context;
  tir::Builder b{context};
  tir::PrimFunc body;
  Object object;
  std::vector<Definition> tables;
};

TEST_CASE("tables describe the object's functions, tensors and symbols", "[tables]") {
  const Described d;
  CHECK(d.number("model", Record::kModel, "abi_version") == RLX_ABI_VERSION);
  CHECK(d.number("model", Record::kModel, "num_functions") == 1);
  CHECK(d.number("model", Record::kModel, "weights_bytes") == 72);
  CHECK(std::get<Text>(d.target("model", Record::kModel, "target").what).text == "there");
  CHECK(std::get<SizeOf>(d.field("model", Record::kModel, "spec_size")).record == Record::kTensorSpec);
  CHECK(std::get<Numbers>(d.target("model", Record::kModel, "hash").what).values.back() == 255);
  CHECK(d.number("functions", Record::kFunction, "arena_max") == -1);
  CHECK(d.number("functions", Record::kFunction, "num_nodes") == 2);
  CHECK(std::holds_alternative<TableFunction>(d.target("functions", Record::kFunction, "run").what));
  CHECK(d.number("functions", Record::kFunction, "pools") == 0);
  CHECK(d.number("private", Record::kFunctionPrivate, "version") == RLX_PRIVATE_VERSION);
  CHECK(d.number("private", Record::kFunctionPrivate, "num_dims") == 2);
  CHECK(d.number("private", Record::kFunctionPrivate, "shapes") == 0);
  CHECK(d.number("private", Record::kFunctionPrivate, "weights_align") == 64);
  CHECK(d.target("private", Record::kFunctionPrivate, "weights_hash").name == "hash");
  CHECK(d.target("private", Record::kFunctionPrivate, "function").name == "functions");
  CHECK(d.number("inputs", Record::kTensorSpec, "flags") == RLX_FLAG_STRIDED);
  CHECK(std::get<Numbers>(d.target("inputs", Record::kTensorSpec, "dims").what).values == std::vector<int64_t>{-1});
  CHECK(std::get<Floats>(d.target("inputs.0.quant", Record::kQuant, "scale").what).values[0] == 0.5F);
  CHECK(std::get<Numbers>(d["inputs.0.zero_point"].what).values[0] == -3);
  CHECK(d.number("outputs", Record::kTensorSpec, "quant") == 0);
  CHECK(d.number("symbols", Record::kSymbol, "multiple_of") == 2);
  CHECK(d.number("sources", Record::kSymbolSource, "kind") == RLX_SOURCE_DIM);
}

TEST_CASE("every table but that of the functions refers to earlier ones alone, and the model is the last", "[tables]") {
  const Described d;
  for (size_t i = 0; i < d.tables.size(); ++i) {
    CAPTURE(d.tables[i].name);
    CHECK(d.tables[i].refers_beyond(i) == (d.tables[i].name == "functions"));
    if (const auto* made = std::get_if<TableFunction>(&d.tables[i].what))
      for (const auto& [name, at] : made->data) CHECK(at.definition < i);
  }
  CHECK(d.tables.back().name == "model");
}

}  // namespace
}  // namespace relaxc::interface
