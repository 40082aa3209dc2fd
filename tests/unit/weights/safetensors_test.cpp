// safetensors_test.cpp: files of the safetensors package, files made by hand, and every way in which one can be wrong.
#include <catch2/catch.hpp>

#include "tests/unit/weights/bytes_file.h"

using namespace relaxc;
using namespace relaxc::frontend;

namespace {

/// A file of this header and `data` bytes: 0, 1, 2, …
std::string file_of(const std::string& header, size_t data) {
  uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  bytes += header;
  for (size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string fault_of_header(const std::string& header, size_t data = 4) {
  return read_bytes(read_safetensors, file_of(header, data)).error;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& place) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + place + "}";
}

}  // namespace

TEST_CASE("a file of the safetensors package gives its tensors") {
  NamedConstants found = read_bytes(read_safetensors, file_bytes("written.safetensors")).constants;
  REQUIRE(found.size() == 4);
  CHECK(found.at("w")->shape() == std::vector<int64_t>{2, 3});
  CHECK(elements<float>(found.at("w")) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(elements<int64_t>(found.at("b")) == std::vector<int64_t>{1, -2});
  CHECK(found.at("t")->dtype() == DType::boolean());
  CHECK(found.at("h")->dtype() == DType::bf16());
  CHECK(elements<uint16_t>(found.at("h"))[1] == 0x3f80);
}

TEST_CASE("every dtype has its size") {
  struct Row {
    const char* name;
    DType dtype;
  };
  for (const Row& row : {Row{"BOOL", DType::boolean()},
                         {"U8", DType::u(8)},
                         {"I8", DType::i(8)},
                         {"F8_E4M3", {TypeCode::kFloat8E4M3FN, 8}},
                         {"F8_E5M2", {TypeCode::kFloat8E5M2, 8}},
                         {"I16", DType::i(16)},
                         {"U16", DType::u(16)},
                         {"F16", DType::f(16)},
                         {"BF16", DType::bf16()},
                         {"I32", DType::i(32)},
                         {"U32", DType::u(32)},
                         {"F32", DType::f(32)},
                         {"F64", DType::f(64)},
                         {"I64", DType::i(64)},
                         {"U64", DType::u(64)},
                         {"C64", {TypeCode::kComplex, 64}}}) {
    size_t bytes = static_cast<size_t>(row.dtype.bytes());
    std::string header = R"({"x":)" + entry(row.name, "[1]", "[0," + std::to_string(bytes) + "]") + "}";
    Outcome outcome = read_bytes(read_safetensors, file_of(header, bytes));
    INFO(row.name << ": " << outcome.error);
    REQUIRE(outcome.constants.count("x") == 1);
    CHECK(outcome.constants.at("x")->dtype() == row.dtype);
  }
}

TEST_CASE("metadata, scalars and tensors without elements are fine, and so is no tensor at all") {
  std::string header = R"({"__metadata__":{"format":"pt"},"e":)" + entry("F32", "[0,3]", "[4,4]") + R"(,"s":)" +
                       entry("F32", "[]", "[0,4]") + "}  ";
  NamedConstants found = read_bytes(read_safetensors, file_of(header, 4)).constants;
  CHECK(found.at("e")->elements() == 0);
  CHECK(found.at("s")->shape().empty());
  CHECK(fault_of_header("{}", 0).empty());
}

TEST_CASE("a head that is wrong says in what") {
  using Catch::Contains;
  CHECK_THAT(fault_of_header("[]", 0), Contains("not a JSON object"));
  CHECK_THAT(fault_of_header("{", 0), Contains("not JSON"));
  CHECK_THAT(fault_of_header(R"({"x":1})", 0), Contains("'x' has no dtype, shape and data_offsets"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F4", "[4]", "[0,4]") + "}"), Contains("dtype F4, which is not known"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[-1]", "[0,4]") + "}"), Contains("shape"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[2]", "[0,4]") + "}"),
             Contains("its shape and dtype have 8 bytes"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[1]", "[4,0]") + "}"), Contains("bytes 4 to 0"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[4611686018427387904,4]", "[0,4]") + "}"),
             Contains("too many"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[2]", "[0,8]") + "}"), Contains("it is cut: 'x' ends at byte"));
  CHECK_THAT(fault_of_header(R"({"x":)" + entry("F32", "[1]", "[0,4]") + "}", 5),
             Contains("1 bytes at its end belong to no"));
  std::string one = entry("U8", "[2]", "[0,2]"), over = entry("U8", "[3]", "[1,4]");
  CHECK_THAT(fault_of_header(R"({"x":)" + one + R"(,"y":)" + over + "}"),
             Contains("'y' begins at 1 of the data, where 2"));
  CHECK_THAT(fault_of_header(R"({"x":)" + one + R"(,"x":)" + one + "}", 2), Contains("holds 'x' twice"));
  CHECK_THAT(fault_of_header(R"({"x":)" + over + "}"), Contains("begins at 1 of the data, where 0"));
}

TEST_CASE("a header of absurd length is refused before it is looked for") {
  std::string bytes(16, '\xff');
  CHECK_THAT(read_bytes(read_safetensors, bytes).error, Catch::Contains("100000000 is the most"));
}

TEST_CASE("deep nesting in a header is refused") {
  std::string deep(100000, '[');
  CHECK_THAT(fault_of_header(R"({"x":)" + deep, 0), Catch::Contains("nests deeper than 3 levels"));
  CHECK_THAT(fault_of_header(R"({"x":)" + deep + std::string(100000, ']') + "}", 0),
             Catch::Contains("nests deeper than 3 levels"));
}

TEST_CASE("a safetensors file that is cut anywhere is refused") {
  std::string whole = file_bytes("written.safetensors");
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(read_bytes(read_safetensors, whole.substr(0, length)).error.empty());
}

TEST_CASE("a safetensors file with any byte changed is read or refused") {
  std::string whole = file_bytes("written.safetensors");
  for (size_t at = 0; at < whole.size(); ++at)
    for (char with : {'\0', '"', '9', '\xff'}) {
      std::string changed = whole;
      changed[at] = with;
      read_bytes(read_safetensors, changed);
    }
  SUCCEED();
}

TEST_CASE("what is written as safetensors is read again") {
  auto ints = relax::ConstantData::inline_bytes(DType::i(8), {3}, {std::byte{1}, std::byte{2}, std::byte{3}});
  auto half = relax::ConstantData::inline_bytes(DType::bf16(), {1, 1}, {std::byte{0x80}, std::byte{0x3f}});
  std::string bytes = safetensors_head({{"a \"name\"", ints}, {"b", half}}) + "\x01\x02\x03\x80\x3f";
  NamedConstants found = read_bytes(read_safetensors, bytes).constants;
  REQUIRE(found.size() == 2);
  CHECK(found.at("a \"name\"")->to_vector() == ints->to_vector());
  CHECK(found.at("b")->shape() == std::vector<int64_t>{1, 1});
}
