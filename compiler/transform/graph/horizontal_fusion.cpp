// horizontal_fusion.cpp: merges kernels side by side into one kernel with several results.
//
// fuse_ops makes a kernel for each value that several others read, and then one for each of those. Sine and cosine of
// the same angles read them twice; a residual sum is written, and read again by the norm after it; the gates of an LSTM
// are four kernels over parts of one product.
//
// The method: kernels of a block are looked at in order, and each joins a group that
//
//   - reads a tensor that it reads too, both of them all of it, over the same rows; or
//   - makes a tensor that it reads, row by row, and that others need as well; or
//   - is a product whose result it maps element by element, as one more epilogue.
//
// Rows are the leading dims on which all loops of both agree (analysis/rows.h): those of a whole tensor for maps, those
// before the summed dims for reductions. The nests follow each other; the schedule fuses them into one loop over rows
// (schedule/primitives/merge_rows.cpp), in which the row is still in the cache. Then cheap producers that only one
// group reads join it.
//
// The limits: a loop over too many tensors has more streams than a prefetcher follows and more addresses than
// registers hold (`horizontal_fusion.tensors`); rows must stay in the L2 cache; and a kernel moves past a few
// others at most, since its operands or results would take memory for that long. The merged kernel is placed after
// all its operands are computed and before any of its results is read; if there is no such place, kernels stay
// separate.
//
// Rejected: joining reductions of different rows, and products that read the same data (fuse_horizontal_matmuls does
// that).
#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/analysis/pattern.h"
#include "compiler/analysis/rows.h"
#include "compiler/transform/graph/fusion/fused_kernel.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;
using analysis::KernelShape;
using analysis::Pattern;
using tir::BufferRef;

constexpr size_t kNever = SIZE_MAX;

struct Kernel {
  Op* op = nullptr;
  const tir::PrimFunc* function = nullptr;
  KernelShape shape;
  std::vector<Value*> tensors;  ///< operands that are tensors
  std::vector<BufferRef> params;
  size_t group = 0;
  size_t number = 0;  ///< index among the kernels of the block

  std::vector<BufferRef> result() const { return {params[tensors.size()]}; }
  /// Returns the parameters that `value` is passed to.
  std::vector<BufferRef> reading(const Value* value) const {
    std::vector<BufferRef> found;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i] == value) found.push_back(params[i]);
    return found;
  }
  size_t rows_of(const Value* value) const { return analysis::common_rows(*function, reading(value), result()); }
  bool reads_in_full(const Value* value) const {
    std::vector<BufferRef> buffers = reading(value);
    return std::any_of(buffers.begin(), buffers.end(),
                       [&](BufferRef buffer) { return analysis::reads_in_full(*function, buffer); });
  }
};

struct Group {
  std::vector<size_t> members;  ///< indices of kernels, in order
  size_t place = 0;             ///< index of an op of the block, before which the kernel goes
  size_t rows = 0;              ///< number of leading dims that all members loop over
  bool product = false;         ///< members after the first are its epilogues
};

class Siblings {
 public:
  Siblings(Module& module, Block& block, const arith::Facts& facts, const PassContext& context)
      : module_(module),
        block_(block),
        facts_(facts),
        most_members_(static_cast<size_t>(context.option(kFuseMembers))),
        most_tensors_(static_cast<size_t>(context.option(kHorizontalFusionTensors))),
        most_bytes_(context.target.l2_bytes / 2) {}

  Changed run() {
    collect();
    for (size_t k = 0; k < kernels_.size(); ++k) {
      join_one(k);
      for (const Value* value : kernels_[k].tensors) last_reader_[value] = kernels_[k].group;
    }
    for (size_t k = kernels_.size(); k-- > 0;) give_to_reader(k);
    return build();
  }

 private:
  void collect() {
    for (size_t at = 0; at < block_.ops.size(); ++at) {
      Op* op = block_.ops[at];
      note_place(*op, at);
      if (op->kind != OpKind::kCallTir || op->results.size() != 1 || !op->binds.empty()) continue;
      Kernel kernel;
      kernel.op = op;
      kernel.function = module_.find_prim_func(op->callee);
      kernel.shape = analysis::classify(*kernel.function);
      kernel.params = analysis::buffer_params(*kernel.function);
      for (Value* operand : op->operands())
        if (operand->info->as<TensorInfo>() != nullptr) kernel.tensors.push_back(operand);
      kernel.group = kernel.number = kernels_.size();
      size_t rows = analysis::common_rows(*kernel.function, {}, kernel.result());
      bool product = !analysis::reduces_within_rows(*kernel.function, kernel.result(), rows);
      kernel_of_[op] = kernels_.size();
      groups_.push_back({{kernel.number}, at, rows, product});
      kernels_.push_back(std::move(kernel));
    }
  }

  /// Records the index of an op in the block; ops in regions have that of the op around them.
  void note_place(const Op& op, size_t at) {
    place_[&op] = at;
    for (const Region* region : op.regions) {
      place_[region->yield] = at;
      for (const Op* inner : ops_of(*region)) note_place(*inner, at);
    }
  }

  const Kernel* maker(const Value* value) const {
    auto found = value->op == nullptr ? kernel_of_.end() : kernel_of_.find(value->op);
    return found == kernel_of_.end() ? nullptr : &kernels_[found->second];
  }

  size_t place_of(const Op& op) const {
    auto kernel = kernel_of_.find(&op);
    if (kernel != kernel_of_.end()) return groups_[kernels_[kernel->second].group].place;
    auto found = place_.find(&op);
    return found == place_.end() ? kNever : found->second;  // a region's yield is at its end
  }

  void join_one(size_t k) {
    std::vector<size_t> candidates;
    for (const Value* value : kernels_[k].tensors) {
      if (const Kernel* made = maker(value)) candidates.push_back(made->group);
      if (auto read = last_reader_.find(value); read != last_reader_.end()) candidates.push_back(read->second);
    }
    std::sort(candidates.rbegin(), candidates.rend());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (size_t g : candidates)
      if (join(kernels_[k], groups_[g], g)) return;
  }

  bool join(Kernel& kernel, Group& group, size_t number) {
    if (group.members.size() >= most_members_ || kernel.number - group.members.back() > kNear) return false;
    std::optional<size_t> rows = group.product ? rows_as_epilogue(kernel, group) : rows_together(kernel, group);
    if (!rows) return false;
    Group joined = group;
    joined.members.push_back(kernel.number);
    joined.rows = *rows;
    std::optional<size_t> place = place_for(joined, {groups_[kernel.group].place, group.place});
    if (!place || !within_limits(joined) || results_of(joined) < 2) return false;
    joined.place = *place;
    groups_[kernel.group].members.clear();
    group = std::move(joined);
    kernel.group = number;
    return true;
  }

  static constexpr size_t kNear = 8;  ///< kernels that a kernel may be moved past

  /// Returns the group's rows if the kernel maps the product's result element by element.
  std::optional<size_t> rows_as_epilogue(const Kernel& kernel, const Group& group) const {
    const Kernel& product = kernels_[group.members[0]];
    if (!kernel.shape.spatial() || product.shape.pattern != Pattern::kReduction || !same_dims(kernel, product, kNever))
      return std::nullopt;
    if (analysis::reductions(product.shape) != 1) return std::nullopt;  // a product by row blocks has its own schedule
    bool reads = false;
    for (const Value* value : kernel.tensors) {
      if (!is_made_by(group, value)) continue;
      reads = true;
      for (BufferRef buffer : kernel.reading(value))
        if (!analysis::reads_at_own_index(kernel.shape.nest, buffer)) return std::nullopt;
    }
    return reads ? std::optional(group.rows) : std::nullopt;
  }

  /// Returns the rows that the kernel and the group share, if what links them is worth a common loop.
  std::optional<size_t> rows_together(const Kernel& kernel, const Group& group) const {
    const Group& own = groups_[kernel.group];
    if (own.product) return std::nullopt;
    size_t rows = std::min(own.rows, group.rows);
    bool linked = false;
    for (const Value* value : kernel.tensors) {
      if (is_made_by(group, value)) {
        rows = std::min(rows, kernel.rows_of(value));
        linked |= kernel.reads_in_full(value);
      } else if (const Kernel* other = reader_in(group, value); other != nullptr && kernel.reads_in_full(value)) {
        bool maps = kernel.shape.spatial() && other->shape.spatial() && same_dims(kernel, *other, kNever);
        linked |= maps || (kernel.rows_of(value) > 0 && other->rows_of(value) > 0);
      }
    }
    if (!linked || rows == 0 || !same_dims(kernel, kernels_[group.members[0]], rows)) return std::nullopt;
    bool within = analysis::reduces_within_rows(*kernel.function, kernel.result(), rows);
    for (size_t member : group.members)
      within &= analysis::reduces_within_rows(*kernels_[member].function, kernels_[member].result(), rows);
    return within ? std::optional(rows) : std::nullopt;
  }

  bool is_made_by(const Group& group, const Value* value) const {
    const Kernel* made = maker(value);
    return made != nullptr && &groups_[made->group] == &group;
  }

  /// Returns a member that reads all of `value`; null if there is none, and for constants.
  const Kernel* reader_in(const Group& group, const Value* value) const {
    if (value->op != nullptr && value->op->kind == OpKind::kConstant) return nullptr;
    for (size_t member : group.members)
      if (kernels_[member].reads_in_full(value)) return &kernels_[member];
    return nullptr;
  }

  /// Returns whether the first `most` dims of both results are the same; all of them for kNever.
  bool same_dims(const Kernel& a, const Kernel& b, size_t most) const {
    const auto &p = a.op->result()->shape(), &q = b.op->result()->shape();
    if (most == kNever ? p.size() != q.size() : std::min(p.size(), q.size()) < most) return false;
    for (size_t i = 0; i < std::min(p.size(), most); ++i)
      if (!arith::prove_equal(p[i], q[i], facts_)) return false;
    return true;
  }

  /// Returns the first of `places` after all that the members read and before all other uses of their results.
  std::optional<size_t> place_for(const Group& group, std::initializer_list<size_t> places) const {
    auto inside = [&](const Op* op) {
      auto found = kernel_of_.find(op);
      return found != kernel_of_.end() && holds(group, kernels_[found->second]);
    };
    size_t ready = 0, asked = kNever, last = 0;
    for (size_t member : group.members) {
      const Op& op = *kernels_[member].op;
      last = std::max(last, place_.at(&op));
      for (const Value* operand : kernels_[member].tensors)
        if (operand->op != nullptr && operand->op->block == &block_ && !inside(operand->op))
          ready = std::max(ready, place_of(*operand->op) + 1);
      for (const Use& use : op.result()->uses())
        if (!inside(use.user)) asked = std::min(asked, place_of(*use.user));
    }
    for (size_t place : places)
      if (place >= ready && place < asked && (place >= last || !binds_symbols(place, last))) return place;
    return std::nullopt;
  }

  /// Returns whether an op between the two places binds symbols, on which sizes after them may depend.
  bool binds_symbols(size_t from, size_t to) const {
    return std::any_of(block_.ops.begin() + static_cast<std::ptrdiff_t>(from),
                       block_.ops.begin() + static_cast<std::ptrdiff_t>(to),
                       [](const Op* op) { return !op->binds.empty(); });
  }

  static bool holds(const Group& group, const Kernel& kernel) {
    return std::find(group.members.begin(), group.members.end(), kernel.number) != group.members.end();
  }

  /// Returns how many members' results others read. With one result, fuse_ops would have made the kernel if it paid.
  size_t results_of(const Group& group) const {
    auto is_seen = [&](size_t member) {
      const auto& uses = kernels_[member].op->result()->uses();
      return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
        auto user = kernel_of_.find(use.user);
        return user == kernel_of_.end() || !holds(group, kernels_[user->second]);
      });
    };
    return static_cast<size_t>(std::count_if(group.members.begin(), group.members.end(), is_seen));
  }

  bool within_limits(const Group& group) const {
    std::vector<const Value*> tensors;
    for (size_t member : group.members) {
      tensors.insert(tensors.end(), kernels_[member].tensors.begin(), kernels_[member].tensors.end());
      tensors.push_back(kernels_[member].op->result());
    }
    std::sort(tensors.begin(), tensors.end());
    tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
    if (tensors.size() > most_tensors_) return false;
    int64_t bytes = 0;
    for (const Value* value : tensors) bytes += row_bytes(*value, group.rows);
    return group.product || bytes <= most_bytes_;
  }

  /// Returns the bytes of `value` after its first `rows` dims; 0 if they are not known.
  static int64_t row_bytes(const Value& value, size_t rows) {
    int64_t bytes = value.dtype().bytes();
    for (size_t i = rows; i < value.shape().size(); ++i) {
      const int64_t* dim = value.shape()[i].constant();
      if (dim == nullptr || __builtin_mul_overflow(bytes, *dim, &bytes)) return 0;
    }
    return bytes;
  }

  /// Moves a cheap map into the group whose members are its only readers.
  void give_to_reader(size_t k) {
    Kernel& kernel = kernels_[k];
    if (!kernel.shape.spatial() || groups_[kernel.group].members.size() != 1 ||
        !analysis::cheap(kernel.shape.nest.store->value))
      return;
    std::optional<size_t> reader;
    for (const Use& use : kernel.op->result()->uses()) {
      auto found = kernel_of_.find(use.user);
      if (found == kernel_of_.end()) return;
      const Kernel& user = kernels_[found->second];
      if (reader.value_or(user.group) != user.group || user.shape.pattern == Pattern::kOpaque) return;
      reader = user.group;
    }
    if (!reader) return;
    Group& group = groups_[*reader];
    if (group.members.size() < 2 || group.members.size() >= most_members_ || group.product) return;
    for (size_t member : group.members)
      if (kernels_[member].rows_of(kernel.op->result()) < group.rows) return;
    if (groups_[kernel.group].rows < group.rows || !same_dims(kernel, kernels_[group.members[0]], group.rows)) return;
    Group joined = group;
    joined.members.push_back(k);
    if (!within_limits(joined)) return;
    groups_[kernel.group].members.clear();
    group = std::move(joined);
    kernel.group = *reader;
  }

  Changed build() {
    const std::vector<Op*> ops = block_.ops;
    std::map<size_t, std::vector<Op*>> by_place;
    for (const Group& group : groups_) {
      if (group.members.size() < 2) continue;
      std::vector<size_t> members = group.members;
      std::sort(members.begin(), members.end());
      for (size_t member : members) by_place[group.place].push_back(kernels_[member].op);
    }
    for (auto& [place, members] : by_place) fuse_group(module_, members, *ops.at(place));
    return by_place.empty() ? Changed::kNo : Changed::kYes;
  }

  Module& module_;
  Block& block_;
  const arith::Facts& facts_;
  const size_t most_members_, most_tensors_;
  const int64_t most_bytes_;
  std::vector<Kernel> kernels_;
  std::vector<Group> groups_;
  std::unordered_map<const Op*, size_t> kernel_of_, place_;
  std::unordered_map<const Value*, size_t> last_reader_;  ///< the group of the last kernel that reads the value
};

Changed fuse_region(Module& module, Region& region, const arith::Facts& facts, const PassContext& context) {
  Changed changed = Changed::kNo;
  for (Block* block : region.blocks) {
    changed |= Siblings(module, *block, facts, context).run();
    for (Op* op : block->ops)
      for (Region* inner : op->regions) changed |= fuse_region(module, *inner, facts, context);
  }
  return changed;
}

}  // namespace

Result<Changed> horizontal_fusion(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    changed |= fuse_region(module, function->body(), function->facts, context);
  return changed;
}

}  // namespace relaxc
