// fold_padding.cpp: moves zeros that a pad adds before a convolution into the convolution's own padding.
//
// Exporters of frameworks without asymmetric padding write a separate pad, which costs a copy of the whole tensor. A
// convolution reads zeros in its padding without storing them, so the result has the same bits. Only spatial axes and
// pads that are known when compiling can move; an average pool that counts its padding is treated alike. A pad makes an
// empty image non-empty, while a window refuses it, so extents must be known not to be 0.
#include <algorithm>
#include <cmath>

#include "compiler/arith/simplify.h"
#include "compiler/transform/graph/products/window_attrs.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

bool is_zero(const Value* value) {
  if (value == nullptr) return true;
  std::optional<double> number = uniform_value(value);
  return number && *number == 0 && !std::signbit(*number);
}

/// Returns the begins and ends of a pad of zeros around spatial axes; nothing for any other pad.
std::optional<std::vector<int64_t>> spatial_zeros(const Op& pad) {
  if (pad.attrs.string("mode") != "constant" || !is_zero(pad.operand(2))) return std::nullopt;
  const auto* shape = pad.operand(1)->info->as<ShapeInfo>();
  auto all = shape != nullptr && shape->dims ? numbers_of(*shape->dims) : std::nullopt;
  if (!all) return std::nullopt;
  size_t rank = all->size() / 2;
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < all->size(); ++i) {
    if ((*all)[i] < 0 || (i % rank < 2 && (*all)[i] != 0)) return std::nullopt;
    if (i % rank >= 2) spatial.push_back((*all)[i]);
  }
  return spatial;
}

bool holds_pixels(const Site& s, const Value& image) {
  const auto& shape = image.shape();
  return std::all_of(shape.begin() + 2, shape.end(),
                     [&](arith::Expr dim) { return arith::prove_le(dim.context().index(1), dim, s.facts); });
}

Value* pad_into_window(const Site& s) {
  bool counts = s.op.is("nn.avg_pool") && s.op.attrs.flag("count_include_pad") && !s.op.attrs.flag("ceil_mode");
  Op* pad = s.op.is("nn.conv") || counts ? s.producer(0, "pad") : nullptr;
  auto zeros = pad == nullptr ? std::nullopt : spatial_zeros(*pad);
  if (!zeros || !holds_pixels(s, *pad->operand(0))) return nullptr;
  Attrs attrs = s.op.attrs;
  std::vector<int64_t> padding = both_sides(attrs.ints("padding"), zeros->size() / 2);
  for (size_t i = 0; i < padding.size(); ++i) {
    if ((*zeros)[i] > kMostOfWindow - padding[i]) return nullptr;
    padding[i] += (*zeros)[i];
  }
  attrs.set("padding", padding);
  std::vector<Value*> operands = s.op.operands();
  operands[0] = pad->operand(0);
  return s.make(s.op.def->name, std::move(operands), std::move(attrs));
}

constexpr Rule kPaddingRules[] = {pad_into_window};

}  // namespace

Result<Changed> fold_padding(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kPaddingRules);
  return changed;
}

}  // namespace relaxc
