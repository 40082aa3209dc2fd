// tvm_layout.cpp: handles layouts as permutations, and as blocks of dims.
#include "frontends/relax/tvm/tvm_layout.h"

namespace relaxc::frontend {

namespace {

/// One dim of a layout: 'C' in "NCHW16c", or the blocks of a dim, such as 16 of 'c'.
struct LayoutDim {
  char name;
  int64_t block = 0;  ///< size of the blocks; 0 for a whole dim
};

/// Returns the dims of a layout; empty if the text is no layout.
std::vector<LayoutDim> layout_dims(const std::string& written) {
  std::vector<LayoutDim> dims;
  int64_t block = 0;
  for (char c : written) {
    if (c >= '0' && c <= '9') {
      block = block * 10 + (c - '0');
      if (block > 65536) return {};
      continue;
    }
    bool lower = c >= 'a' && c <= 'z';
    if (lower != (block > 0)) return {};
    dims.push_back({lower ? static_cast<char>(c - 'a' + 'A') : c, block});
    block = 0;
  }
  return block == 0 ? dims : std::vector<LayoutDim>();
}

std::string without_blocks(const std::string& written) {
  std::string whole;
  for (const LayoutDim& dim : layout_dims(written))
    if (dim.block == 0) whole += dim.name;
  return whole;
}

/// Computes the order in which each whole dim is followed by its blocks, and the number of dims in each such group.
void block_order(const std::vector<LayoutDim>& dims, TvmCall::Ints& order, std::vector<size_t>& counts) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].block != 0) continue;
    size_t before = order.size();
    order.push_back(static_cast<int64_t>(i));
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k].block != 0 && dims[k].name == dims[i].name) order.push_back(static_cast<int64_t>(k));
    counts.push_back(order.size() - before);
  }
}

}  // namespace

size_t spatial_dims(const std::string& name) {
  for (char digit : name)
    if (digit >= '1' && digit <= '3') return static_cast<size_t>(digit - '0');
  return 2;
}

Result<TvmCall::Ints> layout(TvmCall& c, std::string_view param, std::string_view lead, const std::string& fallback) {
  RELAXC_TRY(std::string written, c.text(param, fallback));
  if (written.empty()) written = fallback;
  if (std::string whole = without_blocks(written); !whole.empty()) written = whole;
  std::string wanted = std::string(lead) + std::string("DHW").substr(3 - spatial_dims(c.name));
  TvmCall::Ints axes;
  for (char dim : wanted) {
    size_t at = written.find(dim);
    if (at == std::string::npos || written.size() != wanted.size())
      return c.error(param, Kind::unsupported, "the layout \"{}\" is not an order of {}", written, wanted);
    axes.push_back(static_cast<int64_t>(at));
  }
  return axes;
}

Result<relax::Value*> join_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written) {
  std::vector<LayoutDim> dims = layout_dims(written);
  TvmCall::Ints order;
  std::vector<size_t> counts;
  block_order(dims, order, counts);
  if (counts.size() == dims.size()) return x;
  if (order.size() != dims.size() || x->shape().size() != dims.size())
    return c.error(param, Kind::rank_mismatch, "\"{}\" is not a layout of {}", written, relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, order));
  std::vector<arith::Expr> joined;
  size_t at = 0;
  for (size_t count : counts) {
    arith::Expr extent = x->shape()[at++];
    for (size_t k = 1; k < count; ++k) extent = extent * x->shape()[at++];
    joined.push_back(extent);
  }
  return c.reshape(x, std::move(joined));
}

Result<relax::Value*> split_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written) {
  std::vector<LayoutDim> dims = layout_dims(written);
  TvmCall::Ints order;
  std::vector<size_t> counts;
  block_order(dims, order, counts);
  if (counts.size() == dims.size()) return x;
  if (order.size() != dims.size() || x->shape().size() != counts.size())
    return c.error(param, Kind::rank_mismatch, "\"{}\" is not a layout for {}", written, relax::to_string(x->info));
  std::vector<arith::Expr> parts;
  size_t at = 0;
  for (size_t axis = 0; axis < counts.size(); ++axis) {
    int64_t block = 1;
    size_t whole = parts.size();
    parts.emplace_back();
    for (++at; parts.size() < whole + counts[axis]; ++at) {
      int64_t one = dims[static_cast<size_t>(order[at])].block;
      block *= one;
      parts.push_back(c.context().index(one));
    }
    arith::Expr extent = x->shape()[axis];
    if (!arith::prove_equal(arith::floormod(extent, block), c.context().index(0)))
      return c.error(param, Kind::shape_mismatch, "blocks of {} do not divide {} of \"{}\"", block,
                     arith::to_string(extent), written);
    parts[whole] = arith::simplify(arith::floordiv(extent, block));
  }
  RELAXC_TRY(x, c.reshape(x, std::move(parts)));
  return c.permute(x, inverse(order));
}

TvmCall::Ints inverse(const TvmCall::Ints& axes) {
  TvmCall::Ints back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return back;
}

std::string channels_first(const TvmCall& c) {
  return "NC" + std::string("DHW").substr(3 - spatial_dims(c.name));
}

}  // namespace relaxc::frontend
