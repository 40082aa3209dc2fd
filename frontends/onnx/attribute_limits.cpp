// attribute_limits.cpp: ranges of numbers and lists of words, by names of attributes.
//
// With few exceptions ONNX uses a name for one thing in all operators, so a row applies to every operator with an
// attribute of that name and type, now and later; a row with operators applies to those, before one without. Schemas
// have none of this: ranges follow from ONNX's text.
#include "frontends/onnx/attribute_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace relaxc::frontend {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Inclusive range of an int attribute, or of each element of an ints attribute.
struct IntLimit {
  std::string_view attribute;
  int64_t least = 0, most = 1;
  std::string_view operators = {};  ///< separated by spaces; empty: all operators
};

struct FloatLimit {
  std::string_view attribute;
  double least = -kNoLimit, most = kNoLimit;  ///< inclusive; NaN and infinities are never allowed
  std::string_view operators = {};
};

struct WordLimit {
  std::string_view attribute, words;  ///< the words are separated by spaces
  std::string_view operators = {};
};

constexpr IntLimit kInts[] = {
    {"group", 1, kMost},
    {"groups", 1, kMost},
    {"num_groups", 1, kMost},
    {"offset_group", 1, kMost},
    {"strides", 1, kMost},
    {"dilations", 1, kMost},
    {"dilation", 1, kMost},
    {"pads", -kMost, kMost},
    {"output_padding", 0, kMost},
    {"shape", 0, kMost, "RandomNormal RandomUniform"},
    {"kernel_shape", 1, kMost},
    {"pooled_shape", 1, kMost},
    {"output_height", 1, kMost},
    {"output_width", 1, kMost},
    {"hidden_size", 1, kMost},
    {"num_heads", 1, kMost},
    {"q_num_heads", 1, kMost},
    {"kv_num_heads", 1, kMost},
    {"blocksize", 1, kMost},
    {"block_size", 0, kMost, "QuantizeLinear DequantizeLinear"},
    {"block_size", 1, kMost},
    {"size", 1, kMost},
    {"K", 1, kMost},
    {"N", 1, kMost},
    {"bits", 1, 8},
    {"n_targets", 1, kMost},
    {"targets", 1, kMost},
    {"num_outputs", 1, kMost},
    {"num_scan_inputs", 1, kMost},
    {"sample_size", 1, kMost},
    {"min_gram_length", 1, kMost},
    {"max_gram_length", 1, kMost},
    {"max_skip_count", 0, kMost},
    {"ngram_size", 1, kMost},
    {"num_buckets", 1, kMost},
    {"max_distance", 1, kMost},
    {"sampling_ratio", 0, kMost},
    {"rotary_embedding_dim", 0, kMost},
    {"split", 0, std::numeric_limits<int64_t>::max()},
    {"k", 0, std::numeric_limits<int64_t>::max(), "TopK"},
    {"k", 1, kMost, "MoE QMoE"},
    {"p", 1, 2, "LpNormalization"},
    {"p", 1, kMost},
    {"inputdimensions", 1, kMost},
    {"scan_input_directions"},
    {"scan_output_directions"},
    {"directions"},
    {"keepdims"},
    {"select_last_index"},
    {"ceil_mode"},
    {"count_include_pad"},
    {"storage_order"},
    {"layout"},
    {"linear_before_reset"},
    {"input_forget"},
    {"exclusive"},
    {"reverse"},
    {"largest"},
    {"sorted"},
    {"allowzero"},
    {"noop_with_empty_axes"},
    {"upper"},
    {"inverse"},
    {"onesided"},
    {"periodic"},
    {"align_corners"},
    {"center_point_box"},
    {"fmod"},
    {"training_mode"},
    {"new_axis"},
    {"antialias"},
    {"exclude_outside"},
    {"detect_positive"},
    {"detect_negative"},
    {"is_causal"},
    {"saturate"},
    {"qk_matmul_output_mode", 0, 3},
    {"broadcast"},
};

constexpr FloatLimit kFloats[] = {
    {"epsilon", 0},       {"qk_norm_epsilon", 0}, {"ratio", 0, 1},    {"momentum"},      {"clip", 0},
    {"spatial_scale", 0}, {"height_scale", 0},    {"width_scale", 0}, {"cubic_coeff_a"}, {"softcap", 0},
};

constexpr WordLimit kWords[] = {
    {"auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"direction", "LEFT RIGHT", "BitShift"},
    {"direction", "forward reverse bidirectional"},
    {"approximate", "none tanh"},
    {"reduction", "none add mul max min", "ScatterElements ScatterND"},
    {"reduction", "none mean sum"},
    {"norm", "MAX L1 L2"},
    {"post_transform", "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"},
    {"aggregate_function", "SUM AVERAGE MIN MAX"},
    {"kernel_type", "LINEAR POLY RBF SIGMOID"},
    {"case_change_action", "LOWER UPPER NONE"},
    {"cast_to", "TO_FLOAT TO_STRING TO_INT64"},
    {"map_form", "DENSE SPARSE"},
    {"round_mode", "up down nearest"},
    {"coordinate_transformation_mode", "half_pixel output_half_pixel", "RoiAlign"},
    {"coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn "
     "tf_crop_and_resize"},
    {"nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil simple"},
    {"keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"padding_mode", "zeros border reflection"},
    {"mode", "bilinear nearest bicubic linear cubic", "GridSample"},
    {"mode", "nearest linear cubic bilinear", "Resize Upsample"},
    {"mode", "constant reflect edge wrap", "Pad"},
    {"mode", "DCR CRD", "DepthToSpace SpaceToDepth"},
    {"mode", "avg max", "RoiAlign"},
    {"mode", "linear circular", "TensorScatter"},
    {"mode", "bilinear nearest", "CropAndResize"},
    {"mode", "TF IDF TFIDF", "TfIdfVectorizer"},
};

bool has_word(std::string_view words, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;
  for (size_t at = 0; (at = words.find(word, at)) != std::string_view::npos; ++at) {
    size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

/// Returns the first row for the attribute that applies to the operator; null if there is none.
template <typename Row, size_t N>
const Row* row_for(const Row (&rows)[N], std::string_view attribute, std::string_view op) {
  for (const Row& row : rows)
    if (row.attribute == attribute && (row.operators.empty() || has_word(row.operators, op))) return &row;
  return nullptr;
}

std::string int_fault(const IntLimit& limit, int64_t value) {
  if (value >= limit.least && value <= limit.most) return {};
  if (limit.most >= kMost && value < limit.least)
    return fmt::format("must be {} or more, found {}", limit.least, value);
  return fmt::format("must be within {}..{}, found {}", limit.least, limit.most, value);
}

std::string float_fault(const FloatLimit& limit, double value) {
  if (value >= limit.least && value <= limit.most && std::isfinite(value)) return {};
  if (limit.least == -kNoLimit) return fmt::format("must be a finite number, found {}", value);
  if (limit.most == kNoLimit) return fmt::format("must be {} or more, found {}", limit.least, value);
  return fmt::format("must be within {}..{}, found {}", limit.least, limit.most, value);
}

}  // namespace

std::string limit_fault(const Node& node, const onnx::AttributeProto& given, const AttributeFormal& formal) {
  const std::string& op = node.proto.op_type();
  std::string fault;
  if (formal.type == "int" || formal.type == "ints") {
    const IntLimit* limit = row_for(kInts, formal.name, op);
    if (limit == nullptr) return {};
    if (formal.type == "int") return int_fault(*limit, given.i());
    for (int64_t value : given.ints())
      if (fault.empty()) fault = int_fault(*limit, value);
  } else if (formal.type == "float") {
    if (const FloatLimit* limit = row_for(kFloats, formal.name, op))
      fault = float_fault(*limit, static_cast<double>(given.f()));
  } else if (formal.type == "string") {
    const WordLimit* limit = row_for(kWords, formal.name, op);
    if (limit != nullptr && !has_word(limit->words, given.s()))
      fault = fmt::format("is '{}', which is not one of: {}", given.s(), limit->words);
  }
  return fault;
}

}  // namespace relaxc::frontend
