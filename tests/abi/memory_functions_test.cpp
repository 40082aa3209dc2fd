// memory_functions_test.cpp: the memory functions for programs without a C library, against the C library's own. They
// are compiled here under other names (renamed_memcpy …), and with the ARM forms, which are plain C on any machine.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
void* renamed_memcpy(void* to, const void* from, size_t bytes);
void* renamed_memmove(void* to, const void* from, size_t bytes);
void* renamed_memset(void* to, int value, size_t bytes);
void __aeabi_memcpy8(void* to, const void* from, size_t bytes);
void __aeabi_memmove4(void* to, const void* from, size_t bytes);
void __aeabi_memset(void* to, size_t bytes, int value);
void __aeabi_memclr4(void* to, size_t bytes);
}

namespace {

std::string letters() {
  return "abcdefghijklmnopqrstuvwxyz0123456789";
}

}  // namespace

TEST_CASE("memcpy and memset give what the C library gives, for every small size and offset") {
  for (size_t offset = 0; offset < 9; ++offset)
    for (size_t bytes = 0; bytes < 20; ++bytes) {
      std::string mine = letters(), theirs = letters();
      const std::string from = "THE QUICK BROWN FOX JUMPS";
      CHECK(renamed_memcpy(&mine[offset], from.data(), bytes) == &mine[offset]);
      std::memcpy(&theirs[offset], from.data(), bytes);
      REQUIRE(mine == theirs);
      CHECK(renamed_memset(&mine[offset], 0x1fe, bytes) == &mine[offset]);
      std::memset(&theirs[offset], 0x1fe, bytes);
      REQUIRE(mine == theirs);
    }
}

TEST_CASE("memmove copes with overlap in both directions") {
  for (size_t to = 0; to < 16; ++to)
    for (size_t from = 0; from < 16; ++from)
      for (size_t bytes : {0, 1, 7, 20}) {
        std::string mine = letters(), theirs = letters();
        CHECK(renamed_memmove(&mine[to], &mine[from], bytes) == &mine[to]);
        std::memmove(&theirs[to], &theirs[from], bytes);
        REQUIRE(mine == theirs);
      }
}

TEST_CASE("the ARM forms do the same, memset with its arguments the other way round") {
  std::string text = letters();
  __aeabi_memcpy8(&text[0], "ABCD", 4);
  CHECK(text == "ABCDefghijklmnopqrstuvwxyz0123456789");
  __aeabi_memmove4(&text[2], &text[0], 6);
  CHECK(text == "ABABCDefijklmnopqrstuvwxyz0123456789");
  __aeabi_memset(&text[8], 3, '!');
  CHECK(text == "ABABCDef!!!lmnopqrstuvwxyz0123456789");
  __aeabi_memclr4(&text[0], 2);
  CHECK(text.substr(0, 4) == std::string("\0\0AB", 4));
}
