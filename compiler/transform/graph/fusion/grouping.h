// grouping.h: the state of fuse_ops, which its parts share.
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

/// Which calls of a block are to be one kernel; see fuse_ops.cpp for the method.
class Grouping {
 public:
  /// At most `most_members` operators a group: register pressure and compile time of one kernel stay bounded.
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
    int32_t jump = kExit;  ///< a post-dominator further on, for long ways (Myers 1983: skew-binary jumps)
    std::vector<int32_t> users;
    bool escapes = false;  ///< used by something that is not a node
  };

  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }
  void collect();

  /// Users come later in the block, so one backward walk suffices.
  void find_post_dominators();
  int32_t depth(int32_t i) const { return i == kExit ? 0 : nodes_[i].depth; }
  int32_t jump(int32_t i) const { return i == kExit ? kExit : nodes_[i].jump; }
  /// The first common post-dominator, in O(log n) steps.
  int32_t meet(int32_t a, int32_t b) const;
  int32_t root(int32_t i);
  void try_fuse(int32_t from, bool epilogues);
  /// Whether `to` widens bytes that the group of `from` ends in, for a sum alone: the sum reads bytes then, and no wide
  /// tensor is in between.
  bool widens_for_sum(int32_t from, int32_t to);
  /// Whether node `i` ends a group whose reduction has wider elements. What reads them at other places would not be
  /// computed with the sums, which would be in memory as a whole. Asked for targets without vectors and for Helium.
  bool narrows_sums(int32_t i);
  /// The nodes on paths from `from` to its post-dominator, both left out; no more of them than make a group too large.
  std::vector<int32_t> between(int32_t from, int32_t to);
  /// How many reductions the merged group would hold.
  int anchors(int32_t from, const std::vector<int32_t>& path, int32_t to);

  // ---- rows (grouping_rows.cpp)

  /// Joins a node with what its post-dominator needs of it, if all of that is computed row by row.
  void try_rows(int32_t from);
  /// Joins a product with the sums over rows in front of it, and with the product that computes those rows (attention):
  /// a schedule then needs room for a few rows of what is between and not for all
  /// (schedule/primitives/strip_mine_rows.h).
  void try_products(int32_t last);
  /// A product of matrices that are both computed. Weights are packed when compiling, and blocks of rows would read
  /// them as they are, and anew for each block.
  bool multiplies_computed(int32_t i) const;
  /// Whether `from` ends a group of sums over rows, which only `to` reads, and by the same rows.
  bool is_own_group(int32_t from, int32_t to);
  bool reads_rows_of(const Node& node, relax::Value& value, size_t rows);
  /// The group, by its last member, that ends in a product whose rows all members of the group of `middle` reduce that
  /// read it; nothing if there is none, or somebody else reads it.
  std::optional<int32_t> product_before(int32_t middle);
  /// Whether the group of `last` is a product of matrices and what is done with each of its elements.
  bool ends_product(int32_t last);
  /// The node that makes the value; kExit: none does.
  int32_t producer(const relax::Value* value) const;
  /// Whether whole rows of something expensive would be computed by several nests.
  bool computed_again(const relax::Value& value, size_t rows);

  // ---- windows (grouping_windows.cpp)

  /// Joins a pool with the convolution before it, if only the pool reads that map and it is larger than the cache.
  void try_windows(int32_t pool);
  /// Whether the node reduces windows of its one operand, some rows of it to each row of the result.
  bool is_pool(const Node& node) const;
  /// Whether the windows of the pool hold each of `elements` elements of its operand about once.
  bool reads_once(const Node& pool, int64_t elements) const;
  /// Whether the group of `last` is a product of few terms, by a filter or a matrix, and what is done with its
  /// elements.
  bool ends_short_sum(int32_t last);

  void unite(int32_t a, int32_t b);

  /// An element-wise operation of the size of `anchor` that reads what the group computes at its own index.
  bool is_epilogue(int32_t i, const std::unordered_set<relax::Value*>& carried, const relax::Value& anchor);
  /// A consumer into which spatial producers can be written: spatial itself, or (at the end) a reduction that reads
  /// each element once.
  bool joins(int32_t i, const std::unordered_set<relax::Value*>& carried, bool last);
  /// Whether `value` is only moved, and the product `node` reads it as easily where it was, since its rows stay rows,
  /// or since few rows of the product read each: for 4 queries and 512 keys of 12 heads attention takes 60 microseconds
  /// in place of 220 (tests/passes/fuse_ops/transposed_operand.relax has the form), for 64 as long, and for 128 sums
  /// along rows of keys take half as long again as a transpose of the keys and sums of whole vectors. What else was
  /// fused with the move would be computed for every tile anew.
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
  std::vector<std::optional<size_t>> rows_;  ///< of the reductions of a group; 0: they have none in common
};

}  // namespace relaxc
