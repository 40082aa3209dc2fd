// tensor_rule.h: parses dtypes and dims of tensors: `float32[n, 2 * c]`.
//
// Users write such rules for the tensors that a C function of theirs takes: that of a custom operator
// (docs/custom-operators.md), or of a pattern that calls a library (docs/external-codegen.md). Both have the same
// grammar.
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
  int64_t number = 0;          ///< of kNumber; of kElement: the index into the list `name`
  std::string name;            ///< of kName and kElement; of kFound: an extent that the function decides
  std::vector<RuleDim> parts;  ///< an operator's two operands
};

/// `float32[n, 2 * c]`, `[n]`, `*` (any tensor), or for a result `like(0)` (the shape and dtype of operand 0).
struct RuleTensor {
  std::optional<DType> dtype;
  bool any = false;
  int64_t like = -1;
  std::vector<RuleDim> dims;
};

/// Parses rules, and the words and signs between them, from left to right. Blanks and newlines may be anywhere.
class RuleReader {
 public:
  /// Reports that `what` was expected at byte `at` of the text.
  using Expected = std::function<Failure(size_t at, std::string_view what)>;
  static constexpr size_t kMostListed = 64;  ///< most items in a list

  RuleReader(std::string_view text, Expected expected) : text_(text), expected_(std::move(expected)) {}

  /// Whether a dim may be an element of a list: `strides[0]`.
  bool has_elements = false;

  /// Parses `float32[n]`, `[n]` or `*`.
  Result<RuleTensor> operand();
  /// Parses `float32[n]`, `[?n]` or `like(0)`.
  Result<RuleTensor> result();
  /// Parses a dim: sums, products and parentheses.
  Result<RuleDim> dim();
  Result<int64_t> number();
  /// Parses a name of letters, digits and `_` that does not start with a digit; empty if there is none.
  std::string word();

  bool at(std::string_view token);
  bool take(std::string_view token);
  Failure expected(std::string_view what) const { return expected_(at_, what); }

  /// Parses items separated by commas, each by `item`, a function without arguments that returns a Result.
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

/// Returns the operator applied to two dims, not simplified. The divisor must not be 0.
Expr combined_dims(RuleDim::Kind kind, Expr a, Expr b);

/// Returns whether `name` is a C identifier that does not begin with rlx_.
bool names_c_function(std::string_view name);

}  // namespace relaxc::relax
