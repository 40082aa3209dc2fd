// softmax_roles.h: the role that each nest of a softmax has when its keys are processed in blocks (online softmax).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

enum class Role : uint8_t {
  kBefore,     ///< does not run over keys; runs once, before the blocks
  kFill,       ///< initializes a reduction over keys; dropped, since each block's reduction begins so
  kColumns,    ///< computes one element a key; runs for a block of keys at a time
  kRowMax,     ///< the maximum that is subtracted in the exponents
  kSum,        ///< a sum of exps, or of products with exps; rescaled whenever the maximum grows
  kReduce,     ///< another reduction over keys
  kNormalize,  ///< multiplies exps by a factor of their row; the sums are multiplied instead
  kAfter,      ///< reads a reduction over all keys; runs after the last block
};

/// Assigns a role to each nest of a block of rows, and knows by which factor sums are to be multiplied at the end.
class SoftmaxRoles {
 public:
  /// \param parts  the statements of a block of rows
  explicit SoftmaxRoles(const std::vector<Stmt>& parts) {
    for (Stmt part : parts) nests_.push_back(analysis::as_nest(part));
  }
  /// Assigns the roles; false if the nests are not a softmax. The other functions may be called after it returned true.
  bool fits() { return are_nests() && find_exps() && find_columns() && give_roles(); }
  const std::vector<analysis::Nest>& nests() const { return nests_; }
  Role role(size_t i) const { return roles_[i]; }
  BufferRef row_max() const { return row_max_; }
  Expr keys() const { return keys_; }
  bool is_column(BufferRef buffer) const { return columns_.count(buffer) != 0; }
  bool is_exps(const analysis::Nest& nest) const { return nest.block == exps_->block; }
  /// The loop variable over keys of a nest that has one.
  Var key_of(const analysis::Nest& nest) const;
  /// Whether the sums of this nest are of exps that a nest of role kNormalize multiplied.
  bool has_normalizer(const analysis::Nest& nest) const;
  /// `sum`, of row `row`, multiplied by that factor.
  Expr finished(const analysis::Nest& nest, Expr row, Expr sum) const;

 private:
  /// The factor `value` of a row's exps, which are 0 instead where `empty` holds.
  struct Normalizer {
    Expr value, empty;  ///< null: no factor, no such condition
    Var row;
  };

  bool are_nests() const;
  const analysis::Nest* maker_of(BufferRef buffer, const analysis::Nest* before) const;
  /// Finds exp(x - row_max) after a maximum of the same x.
  bool find_exps();
  bool is_maximum(const analysis::Nest& nest, Expr element, const analysis::Nest& exps);
  static bool max_is_neutral(const analysis::Nest& nest);
  bool is_made(BufferRef buffer) const;
  /// Finds the buffers with one element a key: what the maximum is taken of, its operands, and what depends on it.
  bool find_columns();
  /// Whether the nest reads columns in its own row at `key` alone; sets `any` if it reads one.
  bool reads_in_order(const analysis::Nest& nest, Var key, bool& any) const;
  bool reads_any(Expr e, const std::set<BufferRef>& buffers) const;
  bool give_roles();
  std::optional<Role> role_of(size_t i);
  bool reduces_keys(const analysis::Nest& nest) const;
  std::optional<Role> role_of_columns(const analysis::Nest& nest);
  /// kNormalize if the nest computes exps[row, key] * factor(row) in place, or 0 in rows that a condition selects.
  std::optional<Role> role_of_normalizing(const analysis::Nest& nest, const std::set<BufferRef>& relative);
  std::optional<Role> role_of_reduction(const analysis::Nest& nest);
  /// The buffer of `relative` that is a factor of the product, if no other factor reads one of them; else null.
  BufferRef one_factor(Expr product, const std::set<BufferRef>& relative) const;

  std::vector<analysis::Nest> nests_;
  std::vector<Role> roles_;
  const analysis::Nest *exps_ = nullptr, *maximum_ = nullptr;
  BufferRef row_max_ = nullptr;
  Expr keys_;
  std::set<BufferRef> columns_, totals_;         ///< never iterated, so that the order of pointers decides nothing
  std::map<BufferRef, Normalizer> relative_;     ///< columns that depend on the maximum, with their factor
  std::map<BufferRef, Normalizer> normalizers_;  ///< of sums; never iterated
};

}  // namespace relaxc::schedule
