// npz_test.cpp: files of NumPy, archives made by hand, and every way in which one can be wrong.
#include <zlib.h>

#include <catch2/catch.hpp>

#include "tests/unit/weights/bytes_file.h"

using namespace relaxc;
using namespace relaxc::frontend;

namespace {

template <typename T>
std::string le(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  std::string length = version == 1 ? le(static_cast<uint16_t>(dict.size())) : le(static_cast<uint32_t>(dict.size()));
  return std::string("\x93NUMPY", 6) + version + '\0' + length + dict + data;
}
std::string dict_of(const std::string& descr, const std::string& shape, const char* order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

struct ZipOptions {
  uint16_t flags = 0, method = 0;
  bool wide = false;  ///< sizes and places as 64-bit fields
  uint32_t crc_error = 0;
  std::string comment = {};
};

/// An archive of one stored member.
std::string zip(const std::string& name, const std::string& data, const ZipOptions& o = {}) {
  uint32_t crc =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size())) ^ o.crc_error;
  uint32_t size = static_cast<uint32_t>(data.size());
  uint16_t name_size = static_cast<uint16_t>(name.size());
  std::string times(4, '\0');
  std::string local = le(0x04034b50U) + le<uint16_t>(45) + le(o.flags) + le(o.method) + times + le(crc) + le(size) +
                      le(size) + le(name_size) + le<uint16_t>(0) + name + data;
  std::string extra = le<uint16_t>(0x7777) + le<uint16_t>(2) + "xx" + le<uint16_t>(1) + le<uint16_t>(24) +
                      le<uint64_t>(size) + le<uint64_t>(size) + le<uint64_t>(0);
  uint32_t field = o.wide ? 0xffffffffU : size, place = o.wide ? 0xffffffffU : 0;
  std::string entry = le(0x02014b50U) + le<uint16_t>(45) + le<uint16_t>(45) + le(o.flags) + le(o.method) + times +
                      le(crc) + le(field) + le(field) + le(name_size) +
                      le(static_cast<uint16_t>(o.wide ? extra.size() : 0)) + le<uint16_t>(0) + le<uint16_t>(0) +
                      le<uint16_t>(0) + le(0U) + le(place) + name + (o.wide ? extra : "");
  std::string end;
  if (o.wide) {
    end = le(0x06064b50U) + le<uint64_t>(44) + le<uint16_t>(45) + le<uint16_t>(45) + le(0U) + le(0U) + le<uint64_t>(1) +
          le<uint64_t>(1) + le<uint64_t>(entry.size()) + le<uint64_t>(local.size());
    end += le(0x07064b50U) + le(0U) + le<uint64_t>(local.size() + entry.size()) + le(1U);
  }
  uint16_t count = o.wide ? 0xffff : 1;
  end += le(0x06054b50U) + le<uint16_t>(0) + le<uint16_t>(0) + le(count) + le(count) +
         le(o.wide ? 0xffffffffU : static_cast<uint32_t>(entry.size())) +
         le(o.wide ? 0xffffffffU : static_cast<uint32_t>(local.size())) + le(static_cast<uint16_t>(o.comment.size())) +
         o.comment;
  return local + entry + end;
}

std::string fault_of_array(const std::string& array, const ZipOptions& options = {}) {
  return read_bytes(read_npz, zip("x.npy", array, options)).error;
}

const std::string kTwo(8, '\0');  // two float32

}  // namespace

TEST_CASE("stored arrays of NumPy, in any order of bytes and axes") {
  Outcome outcome = read_bytes(read_npz, file_bytes("stored.npz"));
  INFO(outcome.error);
  const NamedConstants& found = outcome.constants;
  REQUIRE(found.size() == 7);
  std::vector<float> wanted{0, 1, 2, 3, 4, 5};
  for (const char* name : {"w", "f", "be"}) {
    CHECK(found.at(name)->shape() == std::vector<int64_t>{2, 3});
    CHECK(elements<float>(found.at(name)) == wanted);
  }
  CHECK(elements<int64_t>(found.at("b")) == std::vector<int64_t>{1, -2});
  CHECK(elements<double>(found.at("s")) == std::vector<double>{2.5});
  CHECK(found.at("s")->shape().empty());
  CHECK(found.at("e")->shape() == std::vector<int64_t>{0, 3});
  CHECK(elements<uint8_t>(found.at("t")) == std::vector<uint8_t>{1, 0});
}

TEST_CASE("compressed arrays of NumPy") {
  NamedConstants found = read_bytes(read_npz, file_bytes("deflated.npz")).constants;
  REQUIRE(found.size() == 4);
  CHECK(elements<float>(found.at("w")) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(elements<float>(found.at("f")) == elements<float>(found.at("w")));
  CHECK(elements<uint16_t>(found.at("h"))[1] == 0x3c00);
  CHECK(elements<float>(found.at("c")) == std::vector<float>{1, 2});
}

TEST_CASE("archives with 64-bit sizes and with a comment") {
  std::string array = npy(dict_of("<f4", "(2,)"), kTwo);
  CHECK(fault_of_array(array).empty());
  CHECK(fault_of_array(array, {.wide = true}).empty());
  CHECK(fault_of_array(array, {.comment = "a comment"}).empty());
  CHECK(fault_of_array(npy(dict_of("<f4", "(2,)"), kTwo, 3)).empty());
}

TEST_CASE("an invalid archive is refused with the reason") {
  using Catch::Contains;
  std::string array = npy(dict_of("<f4", "(2,)"), kTwo);
  CHECK_THAT(fault_of_array(array, {.flags = 1}), Contains("'x.npy' is encrypted"));
  CHECK_THAT(fault_of_array(array, {.method = 12}), Contains("method 12"));
  CHECK_THAT(fault_of_array(array, {.method = 8}), Contains("cannot be inflated"));
  CHECK_THAT(fault_of_array(array, {.crc_error = 1}), Contains("checksum of 'x' is wrong"));
  CHECK_THAT(read_bytes(read_npz, zip("x.txt", array)).error, Contains("'x.txt' is not an array"));
  CHECK_THAT(read_bytes(read_npz, "").error, Contains("too short"));
  CHECK_THAT(read_bytes(read_npz, std::string(100, 'x')).error, Contains("no directory at its end"));
}

TEST_CASE("an invalid array is refused with the reason") {
  using Catch::Contains;
  CHECK_THAT(fault_of_array("abc"), Contains("does not begin as an .npy file does"));
  CHECK_THAT(fault_of_array(npy(dict_of("<f4", "(2,)"), kTwo, 4)), Contains("version 4"));
  CHECK_THAT(fault_of_array(npy(dict_of("<f4", "(3,)"), kTwo)), Contains("has 8 bytes for [3] of float32"));
  CHECK_THAT(fault_of_array(npy(dict_of("<f4", "(4611686018427387904, 4)"), kTwo)), Contains("8 bytes for"));
  CHECK_THAT(fault_of_array(npy(dict_of("<f4", "(-1,)"), kTwo)), Contains("an invalid head"));
  CHECK_THAT(fault_of_array(npy("{'descr': '<f4'}", kTwo)), Contains("an invalid head"));
  CHECK_THAT(fault_of_array(npy("import os", kTwo)), Contains("an invalid head"));
  CHECK_THAT(fault_of_array(npy(dict_of("|O", "(2,)"), kTwo)), Contains("dtype"));
  CHECK_THAT(fault_of_array(npy(dict_of("<U4", "(2,)"), kTwo)),
             Contains("'<U4'") && Contains("safetensors has bfloat16"));
  CHECK_THAT(fault_of_array(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", kTwo)),
             Contains("of a record"));
}

TEST_CASE("an archive that is cut anywhere is refused") {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::string whole = file_bytes(name);
    for (size_t length = 0; length < whole.size(); ++length)
      CHECK_FALSE(read_bytes(read_npz, whole.substr(0, length)).error.empty());
  }
}

TEST_CASE("an archive with any byte changed is read or refused") {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    std::string whole = file_bytes(name);
    for (size_t at = 0; at < whole.size(); ++at)
      for (char with : {'\0', '\x7f', '\xff'}) {
        std::string changed = whole;
        changed[at] = with;
        read_bytes(read_npz, changed);
      }
  }
  SUCCEED();
}
