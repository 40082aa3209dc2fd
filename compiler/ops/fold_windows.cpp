// fold_windows.cpp: sums overlapping blocks back into an image (torch.nn.Fold, ONNX Col2Im).
//
// It gathers: an element of the image sums over the positions in a block that it can have, and computes which block
// that is. So nothing is scattered, and every element is written once.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/window.h"

namespace relaxc::ops::fold_windows_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"image_shape"}, {"block_shape"}};
constexpr AttrDef kAttrs[] = {kStrides, kPadding, kDilations};

/// Returns the number of block positions along spatial dim `k`.
Expr block_count(Expr image, Expr block, const Windows& w, size_t k) {
  Expr span = (block - 1) * w.dilations[k] + 1;
  return arith::floordiv(image + (w.pad_begin[k] + w.pad_end[k]) - span, w.strides[k]) + 1;
}

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims image, c.shape_value(1));
  RELAXC_TRY(Dims block, c.shape_value(2));
  if (x->ndim != 3 || image.size() != block.size() || image.empty() || !is_number(*x->dtype))
    return c.error(Kind::shape_mismatch, "'fold_windows' of {} into an image of {} dims from blocks of {}",
                   to_string(c.op.operand(0)->info), image.size(), block.size());
  RELAXC_TRY(Windows w, read_windows(c, image.size(), {}));
  Expr places = product(c.context, block), blocks = c.context.index(1), least = c.context.index(1);
  for (size_t k = 0; k < image.size(); ++k) {
    RELAXC_DO(c.require(arith::le(least, block[k]), kDerivedDim, least, block[k],
                        {Finding::kAtLeast, fmt::format("dim {} of a block", k)}, "'fold_windows' of empty blocks"));
    blocks = blocks * block_count(image[k], block[k], w, k);
  }
  Expr channels = arith::floordiv((*x->shape)[1], places);
  RELAXC_DO(require_equal(c, channels * places, (*x->shape)[1], "channels times places of a block"));
  RELAXC_DO(require_equal(c, blocks, (*x->shape)[2], "blocks of the image"));
  Dims shape{(*x->shape)[0], channels};
  shape.insert(shape.end(), image.begin(), image.end());
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  const Dims &image = d.shape_value(1), &block = d.shape_value(2);
  size_t spatial = image.size();
  Windows w = windows_of(d.op, spatial, {});
  DType dtype = wide(x->dtype);
  BufferRef sum = dtype == y->dtype ? y : b.buffer("sum", dtype, y->shape);
  Stmt sums = b.reduce(sum, block, d.context().number(dtype, 0), [&](Expr acc, const Indices& i, const Indices& r) {
    Expr place = b.index(0), number = b.index(0), fits = d.context().boolean(true);
    for (size_t k = 0; k < spatial; ++k) {
      Expr count = block_count(image[k], block[k], w, k), from = i[k + 2] + w.pad_begin[k] - r[k] * w.dilations[k];
      Expr at = arith::floordiv(from, w.strides[k]), cut = arith::max(b.index(0), arith::min(at, count - 1));
      fits = arith::logical_and(fits, arith::logical_and(arith::eq(cut * w.strides[k], from), arith::eq(cut, at)));
      place = place * block[k] + r[k];
      number = number * count + cut;
    }
    Expr element = cast(dtype, b.load(x, {i[0], i[1] * product(d.context(), block) + place, number}));
    return acc + select(fits, element, d.context().number(dtype, 0));
  });
  if (sum == y) return sums;
  Stmt result = b.compute(y, [&](const Indices& i) { return cast(y->dtype, b.load(sum, i)); });
  return b.alloc(sum, b.seq({sums, result}));
}

constexpr OpDef kOps[] = {
    {.name = "fold_windows",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "blocks [N, C * places, blocks] summed into images [N, C, spatial…] (shape values of image and block)"},
};

}  // namespace
}  // namespace relaxc::ops::fold_windows_family

RELAXC_OPERATORS(fold_windows, kOps)
