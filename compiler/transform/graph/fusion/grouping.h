// grouping.h: the state of fuse_ops, shared by its files.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/graph.h"
#include "compiler/relax/module.h"
#include "compiler/transform/pass.h"
#include "targets/target.h"

namespace relaxc {

/// Decides which calls of a block become one kernel; see fuse_ops.cpp for the method.
class Grouping {
 public:
  /// `most_members`: most operators of a group, which bounds register pressure and compile time of its kernel.
  Grouping(relax::Module& module, relax::Block& block, const arith::Facts& facts, size_t most_members,
           const Target& target)
      : module_(module), block_(block), facts_(facts), most_members_(most_members), target_(target) {}

  Changed run();

 private:
  static constexpr int32_t kExit = -1;

  struct Node {
    relax::Op* op = nullptr;
    const tir::PrimFunc* function = nullptr;
    analysis::KernelShape shape;
    int32_t post_dominator = kExit;
    int32_t depth = 0;
    int32_t jump = kExit;  ///< a farther post-dominator, to skip several (Myers 1983: skew-binary jumps)
    std::vector<int32_t> users;
    bool escapes = false;  ///< used by something that is not a node
  };

  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }
  void collect();

  /// Users come later in the block, so one backward walk suffices.
  void find_post_dominators();
  int32_t depth(int32_t i) const { return i == kExit ? 0 : nodes_[i].depth; }
  int32_t jump(int32_t i) const { return i == kExit ? kExit : nodes_[i].jump; }
  /// Returns the first common post-dominator, in O(log n) steps.
  int32_t meet(int32_t a, int32_t b) const;
  int32_t root(int32_t i);
  void try_fuse(int32_t from, bool epilogues);
  /// Whether `to` widens the bytes that the group of `from` ends in, only for a sum. It joins the sum instead, which
  /// then reads bytes, so that no wide tensor is stored.
  bool widens_for_sum(int32_t from, int32_t to);
  /// Whether node `i` ends a group whose reduction has wider elements. A reader of other elements must then not join:
  /// the wide sums would be stored as a whole. Only on targets without vectors and on Helium.
  bool narrows_sums(int32_t i);
  /// Returns the nodes on paths from `from` to its post-dominator, without both; stops when a group would be too large.
  std::vector<int32_t> between(int32_t from, int32_t to);
  /// Returns how many reductions the merged group would hold.
  int anchors(int32_t from, const std::vector<int32_t>& path, int32_t to);

  // ---- rows (grouping_rows.cpp)

  /// Joins a node with the nodes up to its post-dominator, if all of them are computed row by row.
  void try_rows(int32_t from);
  /// Joins a product with the sums over rows before it, and with the product that computes those rows (attention): a
  /// schedule then needs memory for a few rows of the intermediates, not for all
  /// (schedule/primitives/strip_mine_rows.h).
  void try_products(int32_t last);
  /// Whether the node is a product of two computed matrices. Constant weights are packed when compiling; blocks of rows
  /// would read them unpacked, and again for each block.
  bool multiplies_computed(int32_t i) const;
  /// Whether `from` ends a group of sums over rows that only `to` reads, row by row.
  bool is_own_group(int32_t from, int32_t to);
  bool reads_rows_of(const Node& node, relax::Value& value, size_t rows);
  /// Returns the last member of the group that ends in a product which only members of the group of `middle` read, row
  /// by row; nothing if there is no such group.
  std::optional<int32_t> product_before(int32_t middle);
  /// Whether the group of `last` is a product of matrices and ops on each of its elements.
  bool ends_product(int32_t last);
  /// Returns the node that computes the value; kExit if none does.
  int32_t producer(const relax::Value* value) const;
  /// Whether several nests would each compute whole rows of something expensive.
  bool computed_again(const relax::Value& value, size_t rows);

  // ---- windows (grouping_windows.cpp)

  /// Joins a pool with the convolution before it, if only the pool reads that map and it is larger than the L2 cache.
  void try_windows(int32_t pool);
  /// Whether the node reduces windows of its one operand, some rows of it for each row of the result.
  bool is_pool(const Node& node) const;
  /// Whether the pool's windows read each of the `elements` elements of its operand about once.
  bool reads_once(const Node& pool, int64_t elements) const;
  /// Whether the group of `last` is a product of few terms, by a filter or a matrix, and ops on each of its
  /// elements.
  bool ends_short_sum(int32_t last);

  void unite(int32_t a, int32_t b);

  /// Whether node `i` is element-wise, as large as `anchor`, and reads what the group computes at its own index.
  bool is_epilogue(int32_t i, const std::unordered_set<relax::Value*>& carried, const relax::Value& anchor);
  /// Whether spatial producers can be inlined into node `i`: it is spatial itself, or (if `last`) a reduction that
  /// reads each element once.
  bool joins(int32_t i, const std::unordered_set<relax::Value*>& carried, bool last);
  /// Whether `value` is only moved, and the product `node` reads it as fast from its old place, since its rows stay
  /// rows or few rows of the product read each. For 4 queries and 512 keys of 12 heads attention takes 60 instead of
  /// 220 microseconds (tests/passes/fuse_ops/transposed_operand.relax has the form), for 64 queries as long, and for
  /// 128 sums along rows of keys take 1.5 times as long as a transpose and sums of whole vectors. Other ops fused with
  /// the move would be recomputed for each tile.
  bool reads_through(const Node& node, tir::BufferRef buffer, const relax::Value& value);

  template <typename F>
  bool for_carried(const Node& node, const std::unordered_set<relax::Value*>& carried, F holds) {
    std::vector<tir::BufferRef> buffers = analysis::buffer_params(*node.function);
    size_t tensors = 0;
    for (relax::Value* operand : node.op->operands()) {
      if (operand == nullptr || operand->info->as<relax::TensorInfo>() == nullptr) continue;
      tir::BufferRef buffer = buffers[tensors++];
      if (carried.count(operand) != 0 && !holds(buffer, *operand)) return false;
    }
    return true;
  }

  bool same_shape(const relax::Value& a, const relax::Value& b) const;
  Changed build();

  relax::Module& module_;
  relax::Block& block_;
  const arith::Facts& facts_;
  const size_t most_members_;
  const Target& target_;
  std::vector<Node> nodes_;
  std::unordered_map<relax::Op*, int32_t> index_;
  std::vector<int32_t> group_;  ///< union-find; the root of a group is its last member
  std::vector<size_t> size_;
  std::vector<bool> anchor_;
  std::vector<std::optional<size_t>> rows_;  ///< leading dims that a group's reductions share; 0: none
};

}  // namespace relaxc
