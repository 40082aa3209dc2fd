// softmax_roles.h: the nests of a softmax, and what becomes of each where keys are taken by blocks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// What becomes of a nest.
enum class Role : uint8_t {
  kBefore,     ///< not of the keys: once, before the blocks
  kFill,       ///< fills in the neutral element of a reduction over keys, which begins with it anyway
  kColumns,    ///< one element a key: for a block of keys at a time
  kRowMax,     ///< the maximum that exps are relative to
  kSum,        ///< a sum of exps, or of products with them: corrected where the maximum grows
  kReduce,     ///< another reduction over keys
  kNormalize,  ///< exps times what their row has in common: done to the sums instead
  kAfter,      ///< needs what reductions over all keys give
};

/// Which nests of a block of rows are of keys, and how their results depend on the maximum.
class SoftmaxRoles {
 public:
  /// \param parts  the statements of a block of rows
  explicit SoftmaxRoles(const std::vector<Stmt>& parts) {
    for (Stmt part : parts) nests_.push_back(analysis::as_nest(part));
  }
  /// Finds the roles; false: they are not those of a softmax. All other questions are asked after it.
  bool fits() { return are_nests() && find_exps() && find_columns() && give_roles(); }
  const std::vector<analysis::Nest>& nests() const { return nests_; }
  Role role(size_t i) const { return roles_[i]; }
  BufferRef row_max() const { return row_max_; }
  Expr keys() const { return keys_; }
  bool is_column(BufferRef buffer) const { return columns_.count(buffer) != 0; }
  bool is_exps(const analysis::Nest& nest) const { return nest.block == exps_->block; }
  /// The variable that runs over keys in a nest of them.
  Var key_of(const analysis::Nest& nest) const;
  /// Whether sums of this nest lack what their exps were to be multiplied by.
  bool has_normalizer(const analysis::Nest& nest) const;
  /// What `sum`, of row `row`, is with that.
  Expr finished(const analysis::Nest& nest, Expr row, Expr sum) const;

 private:
  /// What exps of a row are multiplied by, unless the row is empty, which makes them 0.
  struct Normalizer {
    Expr value, empty;  ///< null: there is no such thing
    Var row;
  };

  bool are_nests() const;
  const analysis::Nest* maker_of(BufferRef buffer, const analysis::Nest* before) const;
  /// exp(x - row_max) behind a maximum of the same x.
  bool find_exps();
  bool is_maximum(const analysis::Nest& nest, Expr element, const analysis::Nest& exps);
  static bool max_is_neutral(const analysis::Nest& nest);
  bool is_made(BufferRef buffer) const;
  /// What has an element a key: what the maximum is of, what that is made of, and what is made of it.
  bool find_columns();
  /// Whether columns are read in the row of the nest and at `key` alone; `any`: whether they are at all.
  bool reads_in_order(const analysis::Nest& nest, Var key, bool& any) const;
  bool reads_any(Expr e, const std::set<BufferRef>& buffers) const;
  bool give_roles();
  std::optional<Role> role_of(size_t i);
  bool reduces_keys(const analysis::Nest& nest) const;
  std::optional<Role> role_of_columns(const analysis::Nest& nest);
  /// exps[row, key] * normalizer(row), or 0 in rows for which a condition holds; in place.
  std::optional<Role> role_of_normalizing(const analysis::Nest& nest, const std::set<BufferRef>& relative);
  std::optional<Role> role_of_reduction(const analysis::Nest& nest);
  /// The one buffer of `relative` that is a factor of the product, if no other factor reads one.
  BufferRef one_factor(Expr product, const std::set<BufferRef>& relative) const;

  std::vector<analysis::Nest> nests_;
  std::vector<Role> roles_;
  const analysis::Nest *exps_ = nullptr, *maximum_ = nullptr;
  BufferRef row_max_ = nullptr;
  Expr keys_;
  std::set<BufferRef> columns_, totals_;         ///< asked for membership only
  std::map<BufferRef, Normalizer> relative_;     ///< columns relative to the maximum, and what their row has in common
  std::map<BufferRef, Normalizer> normalizers_;  ///< of sums; looked up only
};

}  // namespace relaxc::schedule
