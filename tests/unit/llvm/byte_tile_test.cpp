// byte_tile_test.cpp: the assembly of tiles of sums of products of bytes, run instruction by instruction, against sums
// that are computed one by one. Objects of it run in tests/embedded.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <sstream>

#include "compiler/codegen/llvm/lower/byte_tile_text.h"

namespace relaxc::codegen_llvm {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separators) {
  std::vector<std::string> parts;
  for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

/// A tile in memory: rows of unsigned bytes `stride` apart; columns of signed ones as a run each (Thumb), or side by
/// side (RISC-V).
struct Problem {
  ByteTileForm form;
  int64_t rows, columns, count, stride;
  bool small = false;

  bool has_runs() const { return form == ByteTileForm::kThumb; }
  int64_t row_at(int64_t row, int64_t i) const { return row * stride + i; }
  int64_t column_at(int64_t column, int64_t i) const {
    return rows * stride + count + (has_runs() ? column * count + i : i * columns + column);
  }
  TileLoop loop() const {
    TileLoop out{.bytes = {}, .rows = {}, .columns = {}, .count = count, .small = small};
    for (int64_t r = 0; r < rows; ++r) {
      out.rows.push_back(out.bytes.size());
      out.bytes.push_back({.is_signed = false, .step = 1, .memory = 0, .at = row_at(r, 0)});
    }
    for (int64_t c = 0; c < columns; ++c) {
      out.columns.push_back(out.bytes.size());
      const int64_t at = column_at(c, 0) - column_at(0, 0);
      out.bytes.push_back(
          {.is_signed = true, .step = has_runs() ? 1 : columns, .memory = static_cast<size_t>(rows), .at = at});
    }
    return out;
  }
  /// Of the first iteration's byte.
  int64_t address(size_t place) const {
    const auto at = static_cast<int64_t>(place);
    return at < rows ? row_at(at, 0) : column_at(at - rows, 0);
  }
};

class Processor {
 public:
  Processor(const Problem& problem, const TileText& text, const std::vector<int>& memory)
      : text_(text), memory_(memory) {
    const size_t sums = static_cast<size_t>(problem.rows * problem.columns);
    in_memory_ = problem.has_runs();
    for (size_t i = 0; i < sums; ++i)
      (in_memory_ ? words_[in_memory(i)] : registers_["$" + std::to_string(i)]) = static_cast<int64_t>(i);
    const std::vector<std::string> all = split(text.constraints, ",");
    for (size_t i = 0; i < text.takes.size(); ++i) {
      const TileText::Address& taken = text.takes[i];
      const bool of_sums = taken.bytes == static_cast<size_t>(problem.rows + problem.columns);
      int64_t value = of_sums ? in_memory(0) : problem.address(taken.bytes) + taken.plus;
      if (taken.from) value -= problem.address(*taken.from);
      const std::string& constraint = all.at(text.results + i);
      const bool tied = std::isdigit(constraint[0]) != 0;
      registers_["$" + (tied ? constraint : std::to_string(text.results + i))] = value;
    }
  }

  void run() {
    const std::vector<std::string> lines = split(text_.text, "\n\t");
    size_t first = 0;
    for (size_t at = 0; at < lines.size(); ++at) {
      if (lines[at] == "1:") {
        first = at;
      } else if (step(split(lines[at], " ,"))) {
        at = first;
      }
      REQUIRE(++steps_ < 1000000);
    }
  }
  int64_t sum(size_t i) { return in_memory_ ? words_.at(in_memory(i)) : registers_.at("$" + std::to_string(i)); }
  size_t steps() const { return steps_; }

 private:
  static int64_t in_memory(size_t sum) { return 1000000 + 4 * static_cast<int64_t>(sum); }
  int64_t value(const std::string& name) {
    const auto found = registers_.find(name);
    return found != registers_.end() ? found->second : std::stoll(name[0] == '#' ? name.substr(1) : name);
  }
  int64_t loaded(bool is_signed, int64_t address) {
    const int byte = memory_.at(static_cast<size_t>(address)) & 255;
    return is_signed && byte > 127 ? byte - 256 : byte;
  }
  /// Whether it jumps back.
  bool step(const std::vector<std::string>& w) {
    if (w[0].starts_with("ldr") || w[0] == "str") {
      int64_t address = 0;
      for (size_t i = 2; i < w.size(); ++i) address += value(split(w[i], "[]")[0]);
      if (w[0] == "str")
        words_[address] = value(w[1]);
      else
        registers_[w[1]] = w[0] == "ldr" ? words_.at(address) : loaded(w[0] == "ldrsb", address);
    } else if (w[0] == "lb" || w[0] == "lbu") {
      const std::vector<std::string> place = split(w[2], "()");
      registers_[w[1]] = loaded(w[0] == "lb", value(place[0]) + value(place[1]));
    } else if (w[0] == "mov") {
      registers_[w[1]] = value(w[2]);
    } else if (w[0] == "mul" || w[0] == "muls") {
      registers_[w[1]] = value(w[2]) * value(w[3]);
    } else if (w[0] == "add" || w[0] == "adds" || w[0] == "addi") {
      registers_[w[1]] = value(w[w.size() - 2]) + value(w.back());
    } else if (w[0] == "cmp") {
      equal_ = value(w[1]) == value(w[2]);
    } else {
      REQUIRE(w[0] == "bne");
      return w.size() == 2 ? !equal_ : value(w[1]) != value(w[2]);
    }
    return false;
  }

  const TileText& text_;
  const std::vector<int>& memory_;
  std::map<std::string, int64_t> registers_;
  std::map<int64_t, int64_t> words_;
  bool in_memory_ = false;  ///< the sums
  bool equal_ = false;
  size_t steps_ = 0;
};

/// Instructions for a product; 0: there is no such tile.
double run(const Problem& problem) {
  const std::optional<TileText> text = text_of(problem.loop(), problem.form);
  if (!text) return 0;
  std::mt19937 random(7);
  std::vector<int> memory(static_cast<size_t>(problem.column_at(problem.columns - 1, problem.count)) + 1);
  for (int& byte : memory) byte = static_cast<int>(random() & 255);
  Processor processor(problem, *text, memory);
  processor.run();
  for (int64_t r = 0; r < problem.rows; ++r)
    for (int64_t c = 0; c < problem.columns; ++c) {
      int64_t sum = r * problem.columns + c;  // what was in the register before
      for (int64_t i = 0; i < problem.count; ++i)
        sum += memory[static_cast<size_t>(problem.row_at(r, i))] *
               static_cast<int8_t>(memory[static_cast<size_t>(problem.column_at(c, i))]);
      CHECK(processor.sum(static_cast<size_t>(r * problem.columns + c)) == sum);
    }
  return static_cast<double>(processor.steps()) / static_cast<double>(problem.rows * problem.columns * problem.count);
}

/// Registers of a class, of those that the statement names.
size_t registers(const TileText& text, char of) {
  const std::vector<std::string> all = split(text.constraints, ",");
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](const std::string& one) {
    return one[0] != '~' && std::isdigit(one[0]) == 0 && one.back() == of;
  }));
}

constexpr ByteTileForm kThumb = ByteTileForm::kThumb, kRiscv = ByteTileForm::kRiscv;

TEST_CASE("tiles of sums of bytes are right in any shape and length", "[byte_tile]") {
  for (const bool small : {false, true})
    for (const int64_t count : {1, 3, 8, 9, 48, 64, 125})
      for (const int64_t stride : {64, 200, 1000, 5000}) {
        for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {1, 2}, {2, 1}, {1, 4}, {2, 2}, {3, 1}})
          CHECK(run({kThumb, rows, columns, count, stride, small}) > 0);
        for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {1, 4}, {4, 1}, {2, 4}, {3, 4}, {2, 2}})
          CHECK(run({kRiscv, rows, columns, count, stride, small}) > 0);
      }
  for (const int64_t stride : {64, 640, 1024, 1300}) CHECK(run({kRiscv, 4, 4, 576, stride}) > 0);
}

TEST_CASE("a product takes as few instructions as registers allow", "[byte_tile]") {
  CHECK(run({kThumb, 2, 2, 64, 64}) < 3.75);
  CHECK(run({kThumb, 1, 4, 640, 640}) < 3.7);
  CHECK(run({kRiscv, 4, 4, 64, 64}) < 2.7);
  CHECK(run({kRiscv, 1, 4, 640, 640}) < 3.6);
}

TEST_CASE("a tile leaves registers for what is around it", "[byte_tile]") {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 4}, {2, 2}}) {
    const auto text = text_of(Problem{kThumb, rows, columns, 64, 64}.loop(), kThumb);
    REQUIRE(text);
    CHECK(registers(*text, 'l') <= 7);
    CHECK(registers(*text, 'h') == 0);
  }
  const auto text = text_of(Problem{kRiscv, 4, 4, 64, 64}.loop(), kRiscv);
  REQUIRE(text);
  CHECK(registers(*text, 'r') <= 26);
  CHECK_FALSE(text_of(Problem{kThumb, 2, 3, 64, 64}.loop(), kThumb));
  CHECK_FALSE(text_of(Problem{kThumb, 1, 5, 64, 64}.loop(), kThumb));
  CHECK_FALSE(text_of(Problem{kRiscv, 5, 5, 64, 64}.loop(), kRiscv));
  CHECK_FALSE(text_of(Problem{kRiscv, 4, 4, 64, 5000}.loop(), kRiscv));
}

}  // namespace
}  // namespace relaxc::codegen_llvm
