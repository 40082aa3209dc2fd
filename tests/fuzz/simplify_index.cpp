// simplify_index.cpp: whatever index expression there is, simplify() gives one of the same value, bounds() and
// congruence() hold it, and what is decided is so.
//
// The bytes are a program for a stack: numbers, variables, operators. The values of four variables follow, within
// bounds of which the prover knows. Values are computed in 128 bits (tests/unit/arith/oracle.h). Unlike the generator
// of the unit tests, which makes each expression for one purpose, this finds its way by what code it reaches.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/support/check.h"
#include "tests/unit/arith/oracle.h"

namespace {

using namespace relaxc;
using namespace relaxc::arith;
using test::Oracle;
using test::Wide;

/// Reads bytes; zeros behind the end.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  int64_t small() { return static_cast<int8_t>(next()); }

 private:
  const uint8_t* data_;
  size_t size_;
};

class Program {
 public:
  Program(Context& context, Bytes& bytes) : context_(context), bytes_(bytes) {
    for (const char* name : {"a", "b", "c", "d"}) {
      Var var = context.var(name);
      const int64_t lower = bytes.small(), extent = bytes.next() % 32;
      facts_.bound(var, {lower, lower + extent});
      vars_.push_back(var), lower_.push_back(lower), extent_.push_back(extent);
    }
  }

  /// Returns what is on top of the stack at the end.
  Expr run() {
    constexpr int kMostSteps = 48;
    stack_ = {vars_[0]};
    for (int i = 0; i < kMostSteps && !bytes_.empty(); ++i) step(bytes_.next());
    return stack_.back();
  }

  /// Calls `check` at points within the bounds: both ends, and some between them.
  template <typename Check>
  void points(Check check) const {
    for (int64_t point = 0; point < 24; ++point) {
      std::vector<int64_t> values;
      for (size_t v = 0; v < vars_.size(); ++v) {
        const int64_t steps = point * static_cast<int64_t>(2 * v + 1) + point / 5;
        values.push_back(lower_[v] + (point == 0 ? 0 : point == 1 ? extent_[v] : steps % (extent_[v] + 1)));
      }
      check(vars_, values);
    }
  }
  const Facts& facts() const { return facts_; }

 private:
  void step(uint8_t code) {
    const uint8_t kind = code % 16;
    if (kind < 3) return stack_.push_back(vars_[code / 16 % 4]);
    if (kind < 5) return stack_.push_back(context_.index(kind == 3 ? bytes_.small() : bytes_.small() * 4096));
    Expr b = pop(), a = pop();
    stack_.push_back(made(kind, a, b));
  }
  Expr pop() {
    if (stack_.empty()) return vars_[1];
    Expr top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Expr made(uint8_t kind, Expr a, Expr b) {
    const int64_t divisor = 1 + bytes_.next() % 16;
    switch (kind) {
      case 5:
      case 6:
        return a + b;
      case 7:
        return a - b;
      case 8:
        return a * b;
      case 9:
        return floordiv(a, divisor) + b;
      case 10:
        return floormod(a, divisor) - b;
      case 11:
        return floordiv(a, max(b, context_.index(divisor)));
      case 12:
        return min(a, b);
      case 13:
        return max(a, b);
      case 14:
        return select(lt(a, b), pop(), a + divisor);
      default:
        return select(eq(floormod(a, divisor), context_.index(0)), b, a);
    }
  }

  Context& context_;
  Bytes& bytes_;
  Facts facts_;
  std::vector<Var> vars_;
  std::vector<int64_t> lower_, extent_;
  std::vector<Expr> stack_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Context context;
  Bytes bytes(data, size);
  Program program(context, bytes);
  const Expr e = program.run(), less = lt(e, context.index(bytes.small()));
  const Expr simple = simplify(e, program.facts());
  const Range range = bounds(e, program.facts());
  const Congruence residue = congruence(e, program.facts());
  const Truth truth = decide(less, program.facts());
  Oracle whole(e), other(simple), condition(less);
  program.points([&](const std::vector<Var>& vars, const std::vector<int64_t>& values) {
    const std::optional<Wide> value = whole.at(vars, values);
    if (!value || !whole.stayed_in_64_bits()) return;
    RELAXC_CHECK(other.at(vars, values) == value, to_string(e) + " became " + to_string(simple));
    RELAXC_CHECK(*value >= range.lower && *value <= range.upper, "out of its bounds: " + to_string(e));
    const Wide rest = *value - residue.remainder;
    RELAXC_CHECK(residue.modulus == 0 ? rest == 0 : rest % residue.modulus == 0, "not congruent: " + to_string(e));
    RELAXC_CHECK(truth == Truth::kUnknown || condition.at(vars, values) == Wide(truth == Truth::kTrue),
                 "decided wrongly: " + to_string(less));
  });
  return 0;
}
