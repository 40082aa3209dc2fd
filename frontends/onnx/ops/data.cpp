// data.cpp: operators that move elements by index: gathers, scatters, pads, masks, rearrangements of blocks.
#include "frontends/onnx/axes.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::data_family {
namespace {

Result<int64_t> axis_of(Node& node, Value* x, int64_t fallback) {
  return normal_axis(node, node.int_attr("axis", fallback), static_cast<int64_t>(x->shape().size()));
}

Status gather_elements(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * indices, node.input(1));
  RELAXC_TRY(int64_t axis, axis_of(node, x, 0));
  return node.set(0, node.call("gather_elements", {x, indices}, {{"axis", axis}}));
}

Status gather_nd(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * indices, node.input(1));
  return node.set(0, node.call("gather_nd", {x, indices}, {{"batch_dims", node.int_attr("batch_dims", 0)}}));
}

Result<std::string> reduction(Node& node) {
  std::string name = node.string_attr("reduction", "none");
  for (const char* known : {"none", "add", "mul", "max", "min"})
    if (name == known) return name;
  return node.error(Kind::invalid_attribute, "reduction '{}' is not one of none, add, mul, max, min", name);
}

Status scatter_elements(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  RELAXC_TRY(int64_t axis, axis_of(node, operands[0], 0));
  RELAXC_TRY(std::string combine, reduction(node));
  return node.set(0, node.call("scatter_elements", operands, {{"axis", axis}, {"reduction", combine}}));
}

Status scatter_nd(Node& node) {
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  RELAXC_TRY(std::string combine, reduction(node));
  return node.set(0, node.call("scatter_nd", operands, {{"reduction", combine}}));
}

Status tensor_scatter(Node& node) {
  RELAXC_TRY(Value * cache, node.input(0));
  RELAXC_TRY(Value * updates, node.input(1));
  RELAXC_TRY(Value * positions, node.optional_input(2));
  RELAXC_TRY(int64_t axis, axis_of(node, cache, -2));
  std::string mode = node.string_attr("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return node.error(Kind::invalid_attribute, "mode '{}' is not one of linear, circular", mode);
  if (positions == nullptr) {
    RELAXC_TRY(positions, node.call("zeros", {node.shape({cache->shape()[0]})}, {{"dtype", DType::i(64)}}));
  }
  return node.set(
      0, node.call("cache_update", {cache, updates, positions}, {{"axis", axis}, {"circular", mode == "circular"}}));
}

/// Returns pads of all axes, begins first. They are an attribute before opset 11 ("paddings" in opset 1), and an input
/// since; from opset 18 on, they may be given for some axes only.
Result<std::vector<Expr>> pads_of(Node& node, Value* x) {
  size_t rank = x->shape().size();
  std::vector<Expr> given, axes;
  if (node.has(3)) {
    RELAXC_TRY(axes, axis_exprs(node, 3, "axes", static_cast<int64_t>(rank)));
  } else {
    for (size_t i = 0; i < rank; ++i) axes.push_back(node.index(static_cast<int64_t>(i)));
  }
  if (node.opset < 11) {
    for (int64_t pad : node.ints_attr(node.opset < 2 ? "paddings" : "pads")) given.push_back(node.index(pad));
  } else {
    RELAXC_TRY(given, node.ints(1, 2 * static_cast<int64_t>(axes.size())));
  }
  if (given.size() != 2 * axes.size())
    return node.error(Kind::invalid_value, "there are {} pads for {} axes", given.size(), axes.size());
  std::vector<Expr> pads(2 * rank, node.index(0));
  for (size_t i = 0; i < rank; ++i)
    for (size_t k = 0; k < axes.size(); ++k) {
      Expr here = arith::eq(axes[k], node.index(static_cast<int64_t>(i)));
      pads[i] = node.simplify(arith::select(here, given[k], pads[i]));
      pads[i + rank] = node.simplify(arith::select(here, given[k + axes.size()], pads[i + rank]));
    }
  return pads;
}

Status pad(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(std::vector<Expr> pads, pads_of(node, x));
  Value* value = nullptr;
  if (node.opset >= 11) {
    RELAXC_TRY(value, node.optional_input(2));
  } else if (node.float_attr("value", 0) != 0) {
    value = node.scalar(x->dtype(), node.float_attr("value", 0));
  }
  return node.set(
      0, node.call("pad", {x, node.shape(std::move(pads)), value}, {{"mode", node.string_attr("mode", "constant")}}));
}

/// Converts NonZero. For a scalar, ONNX gives [0, count], but the relax operator and NumPy give [1, count].
Status non_zero(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * places, node.call("nonzero", {x}));
  if (!x->shape().empty()) return node.set(0, places);
  Value* none = node.shape({node.index(0)});
  return node.set(0, node.call("strided_slice", {places, none, none}, {{"axes", std::vector<int64_t>{0}}}));
}

/// Converts OneHot: depth is a scalar, values are [off, on], and indices may have any numeric dtype.
Status one_hot(Node& node) {
  RELAXC_TRY(Value * indices, node.input(0));
  RELAXC_TRY(Value * values, node.input(2));
  RELAXC_TRY(indices, astype(node, indices, DType::i(64)));
  RELAXC_TRY(Expr depth, number_in(node, 1));
  RELAXC_TRY(values, reshape(node, values, {node.index(2)}));
  RELAXC_TRY(std::vector<Value*> parts,
             node.call_many("split", {values}, {{"axis", int64_t{0}}, {"sections", int64_t{2}}}));
  Value* size = node.shape({depth});
  return node.set(0, node.call("one_hot", {indices, parts[1], parts[0], size}, {{"axis", node.int_attr("axis", -1)}}));
}

Status trilu(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  Value* k = nullptr;
  if (node.has(1)) {
    RELAXC_TRY(std::vector<Expr> diagonal, node.ints(1, 1));
    k = node.shape(std::move(diagonal));
  }
  return node.set(0, node.call("trilu", {x, k}, {{"upper", node.int_attr("upper", 1) != 0}}));
}

Status eye_like(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* like, node.info(0));
  std::vector<Expr> dims = *like->shape;
  DType dtype = *like->dtype;
  if (node.has_attr("dtype")) {
    RELAXC_TRY(dtype, dtype_of(static_cast<int32_t>(node.int_attr("dtype", 0)), node.location, diag));
  }
  return node.set(0, node.call("eye", {node.shape(std::move(dims))}, {{"k", node.int_attr("k", 0)}, {"dtype", dtype}}));
}

/// The input [N, C, H, W], its dims, and the block size.
struct Blocks {
  Value* x;
  Expr n, c, h, w;
  int64_t size;
};
Result<Blocks> blocks_of(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  const std::vector<Expr>& d = x->shape();
  int64_t size = node.int_attr("blocksize", 0);
  if (d.size() != 4) return node.error(Kind::rank_mismatch, "the input must be [N, C, H, W]");
  if (size < 1 || size > INT32_MAX) return node.error(Kind::invalid_attribute, "blocksize {} must be positive", size);
  return Blocks{x, d[0], d[1], d[2], d[3], size};
}

/// Moves channels into blocks of pixels; the position in a block is the channel's outer part (DCR) or inner part (CRD).
Status depth_to_space(Node& node) {
  RELAXC_TRY(Blocks b, blocks_of(node));
  bool crd = node.string_attr("mode", "DCR") == "CRD";
  Expr size = node.index(b.size), c = node.simplify(arith::floordiv(b.c, b.size * b.size));
  std::vector<Expr> apart =
      crd ? std::vector<Expr>{b.n, c, size, size, b.h, b.w} : std::vector<Expr>{b.n, size, size, c, b.h, b.w};
  std::vector<int64_t> order = crd ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  RELAXC_TRY(Value * split, reshape(node, b.x, std::move(apart)));
  RELAXC_TRY(Value * moved, node.call("permute_dims", {split}, {{"axes", order}}));
  return node.set(0, reshape(node, moved, {b.n, c, node.simplify(b.h * b.size), node.simplify(b.w * b.size)}));
}

Status space_to_depth(Node& node) {
  RELAXC_TRY(Blocks b, blocks_of(node));
  Expr size = node.index(b.size), h = node.simplify(arith::floordiv(b.h, b.size)),
       w = node.simplify(arith::floordiv(b.w, b.size));
  RELAXC_TRY(Value * split, reshape(node, b.x, {b.n, b.c, h, size, w, size}));
  RELAXC_TRY(Value * moved, node.call("permute_dims", {split}, {{"axes", std::vector<int64_t>{0, 3, 5, 1, 2, 4}}}));
  return node.set(0, reshape(node, moved, {b.n, node.simplify(b.c * (b.size * b.size)), h, w}));
}

/// Returns the rank of each string in sorted order, in the same shape.
Result<Value*> ranks_of(Node& node, const Strings& x) {
  Expr count = node.index(1);
  for (Expr extent : x.dims()) count = node.simplify(count * extent);
  RELAXC_TRY(Value * list, reshape(node, x.spans, {count, node.index(2)}));
  RELAXC_TRY(Value * ranks, node.call("strings.rank", {list, x.bytes}));
  return reshape(node, ranks, x.dims());
}

/// Sets output 0 to the distinct strings, which are at the positions `first`, where each rank occurs first.
Status set_unique_strings(Node& node, const Strings& x, Value* first) {
  Value* spans = x.spans;
  int64_t axis = 0;
  if (node.has_attr("axis")) {
    RELAXC_TRY(axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x.dims().size())));
  } else {
    Expr count = node.index(1);
    for (Expr extent : x.dims()) count = node.simplify(count * extent);
    RELAXC_TRY(spans, reshape(node, spans, {count, node.index(2)}));
  }
  RELAXC_TRY(spans, node.call("take", {spans, first}, {{"axis", axis}}));
  set_strings(node, 0, {spans, x.bytes});
  return Done{};
}

/// Converts Unique: gives distinct elements, or distinct slices along an axis; the first position of each; which of
/// them each element or slice is; and how often each occurs.
Status unique(Node& node) {
  std::optional<Strings> strings;
  Value* x = nullptr;
  if (is_strings(node, 0)) {
    RELAXC_TRY(strings, strings_input(node, 0));
    RELAXC_TRY(x, ranks_of(node, *strings));
  } else {
    RELAXC_TRY(x, node.input(0));
  }
  Attrs attrs{{"sorted", node.int_attr("sorted", 1) != 0}};
  if (node.has_attr("axis")) {
    RELAXC_TRY(int64_t axis, axis_of(node, x, 0));
    attrs.set("axis", std::vector<int64_t>{axis});
  }
  static constexpr const char* kMore[] = {"return_index", "return_inverse", "return_counts"};
  auto made = [&](size_t i) { return i == 0 || node.wants(i) || (i == 1 && strings); };
  for (size_t i = 1; i < 4; ++i) attrs.set(kMore[i - 1], made(i));
  RELAXC_TRY(std::vector<Value*> results, node.call_many("unique", {x}, std::move(attrs)));
  for (size_t i = 0, next = 0; i < 4; ++i)
    if (made(i)) {
      Value* result = results[next++];
      if (node.wants(i) && !(i == 0 && strings)) RELAXC_DO(node.set(i, result));
    }
  return strings ? set_unique_strings(node, *strings, results[1]) : Status(Done{});
}

/// Gathers the elements of `data` where `condition` holds.
Status compress(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * condition, node.input(1));
  int64_t axis = 0;
  if (node.has_attr("axis")) {
    RELAXC_TRY(axis, axis_of(node, x, 0));
  } else {
    Expr total = node.index(1);
    for (Expr extent : x->shape()) total = total * extent;
    RELAXC_TRY(x, reshape(node, x, {node.simplify(total)}));
  }
  RELAXC_TRY(Value * places, node.call("nonzero", {condition}));
  RELAXC_TRY(places, node.call("squeeze", {places}, {{"axis", std::vector<int64_t>{0}}}));
  return node.set(0, node.call("take", {x, places}, {{"axis", axis}}));
}

constexpr Converter kRows[] = {
    {.name = "GatherElements", .convert = gather_elements, .strings = Converter::Strings::kMoved},
    {.name = "GatherND", .convert = gather_nd, .strings = Converter::Strings::kMoved},
    {.name = "Scatter", .convert = scatter_elements, .strings = Converter::Strings::kMoved},
    {.name = "ScatterElements", .convert = scatter_elements, .strings = Converter::Strings::kMoved},
    {.name = "TensorScatter", .convert = tensor_scatter},
    {.name = "ScatterND", .convert = scatter_nd, .strings = Converter::Strings::kMoved},
    {.name = "Pad", .convert = pad, .strings = Converter::Strings::kMoved},
    {.name = "NonZero", .convert = non_zero},
    {.name = "OneHot", .convert = one_hot, .strings = Converter::Strings::kMoved},
    {.name = "Trilu", .convert = trilu},
    {.name = "EyeLike", .convert = eye_like},
    {.name = "DepthToSpace", .convert = depth_to_space, .strings = Converter::Strings::kMoved},
    {.name = "SpaceToDepth", .convert = space_to_depth, .strings = Converter::Strings::kMoved},
    {.name = "Compress", .convert = compress, .strings = Converter::Strings::kMoved},
    {.name = "Unique", .convert = unique},
};

}  // namespace
}  // namespace relaxc::frontend::data_family

RELAXC_CONVERTERS(data, kRows)
