// byte_tile_text.cpp: see byte_tile_text.h.
//
// Thumb: each byte's address is that of one unsigned byte plus a register, since only this form loads a signed byte in
// one instruction. `muls` overwrites a factor: for two rows by two columns, one factor is copied and each of the others
// is overwritten at its last use. Sums are in r8 to r11, which `add` can access but `muls` cannot. They are loaded from
// and stored to memory: as operands they would be in a register class that LLVM's allocator cannot spill.
//
// RISC-V: loads all of a row of the constant, then the other operand byte by byte. Two products are in flight at a
// time, for cores whose multiplication takes several cycles.
#include "compiler/codegen/llvm/lower/byte_tile_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::codegen_llvm {
namespace {

/// The iterations per turn of the unrolled loop: few, so that the code is short, and a divisor of their number.
int64_t unrolling(const TileLoop& loop) {
  constexpr int64_t kMostAtOnce = 8, kMostProducts = 32;
  const auto products = static_cast<int64_t>(loop.rows.size() * loop.columns.size());
  const int64_t most = loop.small ? 1 : std::clamp<int64_t>(kMostProducts / products, 1, kMostAtOnce);
  if (loop.count <= most) return loop.count;
  int64_t turns = std::min<int64_t>(most, 4);
  while (loop.count % turns != 0) --turns;
  return turns;
}

/// Collects the constraints of an assembly statement whose first operands are the sums.
class Operands {
 public:
  Operands(TileText& out, size_t sums, const char* sum_class) : out_(out), sums_(sums) {
    for (size_t i = 0; i < sums; ++i) give(sum_class);
  }

  /// Adds a register that is written, and returns its name in the text.
  std::string temporary(const char* register_class) { return give(register_class); }
  /// Adds a register that begins with an address and is written.
  std::string moving(const char* register_class, const TileText::Address& address) {
    inputs_ += fmt::format(",{}", out_.results);
    out_.takes.push_back(address);
    return give(register_class);
  }
  /// Adds a register with an address that stays, and returns its name; all written registers come before.
  std::string fixed(const char* register_class, const TileText::Address& address) {
    inputs_ += std::string(",") + register_class;
    out_.takes.push_back(address);
    return fmt::format("${}", out_.results + out_.takes.size() - 1);
  }
  void finish(const char* clobbers) {
    for (size_t i = 0; i < sums_; ++i) inputs_ += fmt::format(",{}", i);
    out_.constraints = outputs_ + inputs_ + clobbers;
  }

 private:
  std::string give(const char* register_class) {
    outputs_ += fmt::format("{}=&{}", outputs_.empty() ? "" : ",", register_class);
    return fmt::format("${}", out_.results++);
  }

  TileText& out_;
  const size_t sums_;
  std::string outputs_, inputs_;
};

class ThumbTile {
 public:
  explicit ThumbTile(const TileLoop& loop) : loop_(loop), columns_(loop.columns.size()) {}

  std::optional<TileText> run() {
    constexpr size_t kMostOffsets = 4, kMostSums = 4;
    const size_t sums = loop_.rows.size() * columns_;
    const bool square = loop_.rows.size() == 2 && columns_ == 2;
    if (sums > kMostSums || (!square && loop_.rows.size() != 1 && columns_ != 1)) return std::nullopt;
    if (!find_base() || loop_.bytes.size() > kMostOffsets + 1) return std::nullopt;
    Operands operands(out_, 0, "");
    const TileLoop::Bytes& base = loop_.bytes[base_];
    const int64_t turn = unrolling(loop_);
    const bool repeats = turn < loop_.count;
    registers_.resize(loop_.bytes.size());
    registers_[base_] = operands.moving("l", {.bytes = base_});
    temporaries_.push_back(operands.moving("l", {.bytes = loop_.bytes.size()}));
    temporaries_.push_back(repeats ? operands.moving("l", {.bytes = base_, .plus = base.step * loop_.count})
                                   : operands.temporary("l"));
    if (square) temporaries_.push_back(operands.temporary("l"));
    for (size_t i = 0; i < loop_.bytes.size(); ++i)
      if (i != base_) registers_[i] = operands.fixed("l", {.bytes = i, .from = base_});
    operands.finish(",~{r8},~{r9},~{r10},~{r11},~{r12},~{lr},~{cc},~{memory}");
    load_sums(sums, repeats);
    if (repeats) out_.text += "1:\n\t";
    for (int64_t i = 0; i < turn; ++i) {
      square ? sum_square() : sum_row();
      say("adds {}, #{}", registers_[base_], base.step);
    }
    if (repeats) say("cmp {}, {}", registers_[base_], kEnd), say("bne 1b");
    store_sums(sums);
    return std::move(out_);
  }

 private:
  static constexpr const char *kEnd = "r12", *kMemory = "lr";  ///< the base's end address; the sums' address
  static std::string sum_register(size_t i) { return fmt::format("r{}", 8 + i); }

  void load_sums(size_t count, bool repeats) {
    const std::string &memory = temporaries_[0], &end = temporaries_[1];
    if (repeats) say("mov {}, {}", kEnd, end);
    say("mov {}, {}", kMemory, memory);
    for (size_t i = 0; i < count; ++i) {
      say("ldr {}, [{}, #{}]", end, memory, 4 * i);
      say("mov {}, {}", sum_register(i), end);
    }
  }
  void store_sums(size_t count) {
    const std::string &memory = temporaries_[0], &sum = temporaries_[1];
    say("mov {}, {}", memory, kMemory);
    for (size_t i = 0; i < count; ++i) {
      say("mov {}, {}", sum, sum_register(i));
      say("str {}, [{}, #{}]", sum, memory, 4 * i);
    }
  }

  /// Selects an unsigned byte to whose address those of the others are relative; false unless all have the same step.
  bool find_base() {
    constexpr int64_t kMostStep = 255;
    const auto first = std::find_if(loop_.bytes.begin(), loop_.bytes.end(), [](const auto& b) { return !b.is_signed; });
    base_ = static_cast<size_t>(first - loop_.bytes.begin());
    return first != loop_.bytes.end() && first->step > 0 && first->step <= kMostStep &&
           std::all_of(loop_.bytes.begin(), loop_.bytes.end(), [&](const auto& b) { return b.step == first->step; });
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    out_.text += fmt::format(format, std::forward<Args>(args)...) + "\n\t";
  }
  void load(const std::string& into, size_t place) {
    if (place == base_) return say("ldrb {}, [{}]", into, registers_[base_]);
    say("{} {}, [{}, {}]", loop_.bytes[place].is_signed ? "ldrsb" : "ldrb", into, registers_[base_], registers_[place]);
  }
  /// Adds factor * by to the sum. The product overwrites `factor`.
  void add_product(const std::string& factor, const std::string& by, size_t sum) {
    say("muls {}, {}, {}", factor, by, factor);
    say("add {}, {}", sum_register(sum), factor);
  }

  void sum_square() {
    const std::string &a = temporaries_[0], &b = temporaries_[1], &c = temporaries_[2];
    load(a, loop_.columns[0]);
    load(b, loop_.rows[0]);
    say("mov {}, {}", c, b);
    add_product(c, a, 0);
    load(c, loop_.columns[1]);
    add_product(b, c, 1);
    load(b, loop_.rows[1]);
    add_product(a, b, 2);
    add_product(c, b, 3);
  }

  /// Loads the byte that all products have in common, then the others in turn.
  void sum_row() {
    const bool one_row = loop_.rows.size() == 1;
    const std::vector<size_t>& others = one_row ? loop_.columns : loop_.rows;
    load(temporaries_[0], one_row ? loop_.rows[0] : loop_.columns[0]);
    for (size_t i = 0; i < others.size(); ++i) {
      load(temporaries_[1], others[i]);
      add_product(temporaries_[1], temporaries_[0], i);
    }
  }

  const TileLoop& loop_;
  const size_t columns_;
  TileText out_;
  size_t base_ = 0;
  std::vector<std::string> registers_, temporaries_;
};

class RiscvTile {
 public:
  explicit RiscvTile(const TileLoop& loop) : loop_(loop), turn_(unrolling(loop)) {}

  std::optional<TileText> run() {
    constexpr size_t kMostRegisters = 26, kMostKept = 4, kTemporaries = 2;
    if (!find_pointers()) return std::nullopt;
    const std::vector<size_t>& kept = keeps_columns() ? loop_.columns : loop_.rows;
    const size_t sums = loop_.rows.size() * loop_.columns.size();
    if (kept.size() > kMostKept || sums + pointers_.size() + kept.size() + kTemporaries + 2 > kMostRegisters)
      return std::nullopt;
    Operands operands(out_, sums, "r");
    for (Pointer& pointer : pointers_) pointer.name = operands.moving("r", {pointer.bytes, pointer.plus});
    for (size_t i = 0; i < kept.size(); ++i) kept_.push_back(operands.temporary("r"));
    const std::string byte = operands.temporary("r");
    for (size_t i = 0; i < kTemporaries; ++i) products_.push_back(operands.temporary("r"));
    const Pointer& first = pointers_[0];
    std::string end;
    if (turn_ < loop_.count)
      end = operands.fixed("r", {first.bytes, first.plus + loop_.count * loop_.bytes[first.bytes].step});
    operands.finish(",~{memory}");
    if (!end.empty()) out_.text = "1:\n\t";
    for (int64_t i = 0; i < turn_; ++i) sum(kept, byte, i);
    if (end.empty()) return std::move(out_);
    for (const Pointer& p : pointers_) say("addi {}, {}, {}", p.name, p.name, turn_ * loop_.bytes[p.bytes].step);
    say("bne {}, {}, 1b", first.name, end);
    return std::move(out_);
  }

 private:
  static constexpr int64_t kReach = 2048;  ///< offsets of loads are from -kReach to kReach - 1

  /// A register with an address to which the loads of several bytes are relative.
  struct Pointer {
    size_t bytes = 0;
    int64_t plus = 0;  ///< the register's offset from the address of these bytes
    std::string name;
  };

  /// Columns or rows, whichever are fewer, stay in registers while the others are loaded one by one.
  bool keeps_columns() const { return loop_.columns.size() <= loop_.rows.size(); }

  bool find_pointers() {
    std::vector<size_t> order(loop_.bytes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](size_t i) {
      const TileLoop::Bytes& b = loop_.bytes[i];
      return std::tuple(b.memory, b.step, b.at);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    pointer_of_.resize(order.size());
    for (size_t place : order) {
      const TileLoop::Bytes& one = loop_.bytes[place];
      const int64_t along = one.step * (turn_ - 1);
      if (one.step < 0 || one.step * turn_ >= kReach) return false;
      const TileLoop::Bytes* base = pointers_.empty() ? nullptr : &loop_.bytes[pointers_.back().bytes];
      const bool near = base != nullptr && base->memory == one.memory && base->step == one.step &&
                        one.at - base->at + along < 2 * kReach;
      if (!near) pointers_.push_back({.bytes = place, .plus = 0, .name = {}}), base = &one;
      if (one.at - base->at + along >= kReach) pointers_.back().plus = kReach;
      pointer_of_[place] = pointers_.size() - 1;
    }
    return true;
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    out_.text += fmt::format(format, std::forward<Args>(args)...) + "\n\t";
  }
  void load(const std::string& into, size_t place, int64_t iteration) {
    const TileLoop::Bytes& one = loop_.bytes[place];
    const Pointer& pointer = pointers_[pointer_of_[place]];
    const int64_t at = one.at - loop_.bytes[pointer.bytes].at - pointer.plus + iteration * one.step;
    say("{} {}, {}({})", one.is_signed ? "lb" : "lbu", into, at, pointer.name);
  }

  void sum(const std::vector<size_t>& kept, const std::string& byte, int64_t iteration) {
    const std::vector<size_t>& others = keeps_columns() ? loop_.rows : loop_.columns;
    for (size_t i = 0; i < kept.size(); ++i) load(kept_[i], kept[i], iteration);
    for (size_t i = 0; i < others.size(); ++i) {
      load(byte, others[i], iteration);
      for (size_t j = 0; j < kept.size(); j += products_.size()) {
        const size_t end = std::min(kept.size(), j + products_.size());
        for (size_t k = j; k < end; ++k) say("mul {}, {}, {}", products_[k - j], byte, kept_[k]);
        for (size_t k = j; k < end; ++k) {
          const size_t number = keeps_columns() ? i * kept.size() + k : k * others.size() + i;
          say("add ${}, ${}, {}", number, number, products_[k - j]);
        }
      }
    }
  }

  const TileLoop& loop_;
  const int64_t turn_;
  TileText out_;
  std::vector<Pointer> pointers_;
  std::vector<size_t> pointer_of_;
  std::vector<std::string> kept_, products_;
};

}  // namespace

std::optional<TileText> text_of(const TileLoop& loop, ByteTileForm form) {
  switch (form) {
    case ByteTileForm::kThumb:
      return ThumbTile(loop).run();
    case ByteTileForm::kRiscv:
      return RiscvTile(loop).run();
    case ByteTileForm::kNone:
    case ByteTileForm::kHalves:
      break;
  }
  return std::nullopt;
}

}  // namespace relaxc::codegen_llvm
