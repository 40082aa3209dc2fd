// regex_test.cpp: patterns as automata: what matches as a whole, and what is no pattern.
#include <catch2/catch.hpp>

#include "frontends/onnx/regex.h"

using namespace relaxc::frontend;
using Catch::Contains;

namespace {

bool matches(const std::string& pattern, const std::string& text) {
  auto compiled = compile_regex(pattern);
  if (auto* fault = std::get_if<std::string>(&compiled)) FAIL(pattern << ": " << *fault);
  const Automaton& automaton = std::get<Automaton>(compiled);
  int32_t state = 0;
  for (char c : text) state = automaton.steps[static_cast<size_t>(state) * 256 + static_cast<unsigned char>(c)];
  return automaton.accepts[static_cast<size_t>(state)] != 0;
}

std::string fault(const std::string& pattern) {
  auto compiled = compile_regex(pattern);
  auto* text = std::get_if<std::string>(&compiled);
  return text == nullptr ? "" : *text;
}

struct Row {
  const char* pattern;
  std::vector<std::string> yes, no;
};

}  // namespace

TEST_CASE("a pattern matches whole strings") {
  const std::vector<Row> rows{
      {"", {""}, {"a"}},
      {"abc", {"abc"}, {"", "ab", "abcd", "xabc"}},
      {"a|bc|", {"a", "bc", ""}, {"b", "abc"}},
      {"a*b+c?", {"b", "aab", "abbc"}, {"", "a", "bcc"}},
      {"(?:ab){2}", {"abab"}, {"ab", "ababab"}},
      {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
      {"a{2,}?", {"aa", "aaaaa"}, {"a"}},
      {"a{,2}", {"a{,2}"}, {"", "a"}},
      {"(a*)*b", {"b", "aaab"}, {"a"}},
      {"[a-c]x[^a-c]", {"axd", "cx-", "bx\xC3\xA4"}, {"dxd", "axa"}},
      {"[]a]+[a-]", {"]a-", "aa"}, {"-", "b-"}},
      {"[[:alpha:]_][[:^digit:]]", {"a_", "_x"}, {"1a", "a1"}},
      {"\\d\\D\\s\\S\\w\\W", {"1a b_-"}, {"11 b_-", "1a b__"}},
      {"\\x41\\x{42}\\t\\.\\\\", {"AB\t.\\"}, {"ABt.\\"}},
      {".", {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}, {"", "\n", "ab", "\xC3", "\xFF"}},
      {"(?s).", {"\n"}, {""}},
      {"[\xC3\xA0-\xC3\xBC]{2}", {"\xC3\xA9\xC3\xA8"}, {"\xC3\xA9", "ee"}},
      {"(?i)aB(?-i:c)d", {"aBcd", "ABcD"}, {"abCd"}},
      {"a(?i)b|c", {"aB", "C"}, {"AB"}},
      {"^a$", {"a"}, {""}},
      {"a^b|a$b", {}, {"ab", "a^b"}},
      {"(^a|b)+", {"a", "ab", "bb"}, {"ba", "aa"}},
      {"a\\b.*\\bb", {"a b", "a-b"}, {"ab", "a_b"}},
      {"\\Ba\\B", {}, {"a"}},
      {"\\w+\\B", {}, {"a", "ab"}},
      {"-\\B-", {"--"}, {"-"}},
      {"\\Aab\\z", {"ab"}, {"b"}},
      {"(?P<name>x)(?<other>y)", {"xy"}, {"x"}},
      {"www\\.[\\w.-]+\\.\\bcom\\b", {"www.google.com"}, {"www.facebook.co.uk", "google.com"}},
      {"(\\W|^)[\\w.\\-]{0,25}@(yahoo|gmail)\\.com(\\W|$)",
       {"account@gmail.com", " @yahoo.com;"},
       {"account@hotmail.com", "abcdefghijklmnopqrstuvwxyz@gmail.com", "a@gmail.com.de"}},
  };
  for (const Row& row : rows) {
    for (const std::string& text : row.yes) {
      INFO(row.pattern << " against '" << text << "'");
      CHECK(matches(row.pattern, text));
    }
    for (const std::string& text : row.no) {
      INFO(row.pattern << " against '" << text << "'");
      CHECK_FALSE(matches(row.pattern, text));
    }
  }
}

TEST_CASE("an invalid pattern is reported with its position") {
  CHECK(fault("a)") == "there is a ')' without '(' at byte 1");
  CHECK(fault("(a") == "a '(' is not closed at byte 2");
  CHECK(fault("*a") == "there is nothing to repeat at byte 0");
  CHECK_THAT(fault("[a"), Contains("a '[' is not closed"));
  CHECK_THAT(fault("[b-a]"), Contains("backwards"));
  CHECK_THAT(fault("[[:nope:]]"), Contains("not known"));
  CHECK_THAT(fault("a\\"), Contains("ends too early"));
  CHECK_THAT(fault("(a)\\1"), Contains("back references"));
  CHECK_THAT(fault("(?=a)"), Contains("look-around"));
  CHECK_THAT(fault("(?<!a)"), Contains("look-around"));
  CHECK_THAT(fault("(?m)a"), Contains("flag 'm'"));
  CHECK_THAT(fault("\\pL"), Contains("escape \\p"));
  CHECK_THAT(fault("a{3,2}"), Contains("ascending"));
  CHECK_THAT(fault("\xFF"), Contains("not UTF-8"));
  CHECK_THAT(fault("\\x{110000}"), Contains("hexadecimal"));
  CHECK_THAT(fault("(.*a.{20})+"), Contains("states"));
  CHECK_THAT(fault(std::string(5000, '(')), Contains("deep"));
}
