// tensor_rule.h: dtypes and dims of tensors as text: `float32[n, 2 * c]`.
//
// Users say with such rules which tensors a C function of theirs takes: those of a custom operator
// (docs/custom-operators.md), and those of a pattern that calls a library (docs/external-codegen.md). There is one
// grammar for both.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/struct_info.h"
#include "compiler/support/dtype.h"
#include "compiler/support/result.h"

namespace relaxc::relax {

/// A dim in a rule: a number, a name, an element of a list, or an operator over other dims.
struct RuleDim {
  enum Kind { kNumber, kName, kElement, kFound, kAdd, kSubtract, kMultiply, kFloorDivide, kFloorModulo, kMin, kMax };
  Kind kind = kNumber;
  int64_t number = 0;          ///< of kNumber; of kElement: which one of the list `name`
  std::string name;            ///< of kName and kElement, and of kFound: an extent that the function decides
  std::vector<RuleDim> parts;  ///< two, of an operator
};

/// `float32[n, 2 * c]`, `[n]`, `*` (any tensor), or of a result `like(0)` (the shape and dtype of that operand).
struct RuleTensor {
  std::optional<DType> dtype;
  bool any = false;
  int64_t like = -1;
  std::vector<RuleDim> dims;
};

/// Reads rules, and the words and signs between them, from left to right. Blanks and ends of lines may be anywhere.
class RuleReader {
 public:
  /// Reports that `what` was expected at byte `at` of the text.
  using Expected = std::function<Failure(size_t at, std::string_view what)>;
  static constexpr size_t kMostListed = 64;  ///< items of one list

  RuleReader(std::string_view text, Expected expected) : text_(text), expected_(std::move(expected)) {}

  /// Whether lists may be named with one of their places: `strides[0]`.
  bool has_elements = false;

  /// `float32[n]`, `[n]` or `*`.
  Result<RuleTensor> operand();
  /// `float32[n]`, `[?n]` or `like(0)`.
  Result<RuleTensor> result();
  /// A sum.
  Result<RuleDim> dim();
  Result<int64_t> number();
  /// A name of letters, digits and `_` that does not start with a digit; empty: there is none.
  std::string word();

  bool at(std::string_view token);
  bool take(std::string_view token);
  Failure expected(std::string_view what) const { return expected_(at_, what); }

  /// Items with commas between, each read by `item`, a function without arguments that gives a Result.
  template <typename T, typename Item>
  Status list(std::vector<T>& items, const Item& item) {
    do {
      if (items.size() == kMostListed) return expected("an end before that many");
      RELAXC_TRY(T next, item());
      items.push_back(std::move(next));
    } while (take(","));
    return Done{};
  }

  size_t position() const { return at_; }
  void move_to(size_t position) { at_ = position; }
  std::string_view text() const { return text_; }
  void skip_blanks();
  bool at_end() { return skip_blanks(), at_ == text_.size(); }

 private:
  Result<RuleTensor> shaped(bool result);
  Result<RuleDim> found_or_sum();
  Result<RuleDim> sum();
  Result<RuleDim> product();
  Result<RuleDim> chain(std::initializer_list<std::pair<std::string_view, RuleDim::Kind>> operators,
                        Result<RuleDim> (RuleReader::*part)());
  Result<RuleDim> primary();
  Result<RuleDim> inner();
  Result<RuleDim> extreme(RuleDim::Kind kind);
  bool binary(std::string_view sign) { return !at("->") && take(sign); }

  std::string_view text_;
  Expected expected_;
  size_t at_ = 0;
  int depth_ = 0;
  bool may_be_found_ = false;
};

/// What an operator over two dims gives; `simplify` is done by the caller. The divisor must not be 0.
Expr combined_dims(RuleDim::Kind kind, Expr a, Expr b);

/// Whether C can call a function so, and the runtime does not.
bool names_c_function(std::string_view name);

}  // namespace relaxc::relax
