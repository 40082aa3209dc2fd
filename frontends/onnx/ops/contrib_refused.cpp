// contrib_refused.cpp: operators of ONNX Runtime that stay out, each with the reason and what to do instead.
//
// A search runs a decoder again and again, with sampling and stopping that belong to the caller; other operators hold
// weights in the layout of one library or device, which no document describes.
#include "frontends/onnx/converter.h"

namespace relaxc::frontend {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr std::string_view kSearch =
    "a search around a decoder belongs to the caller; export the decoder by itself and call it for each token";
constexpr std::string_view kPrivate =
    "its weights are packed for one library in a layout of its own; export the model with MatMulNBits";
constexpr std::string_view kOrdered =
    "its operands are in the layout of one device; quantize the model for the CPU, with QDQ or QLinear operators";
constexpr std::string_view kLongformer =
    "its window and its global tokens are defined by a CUDA kernel; export the attention as MatMul and Softmax";

template <const std::string_view& Reason>
Status refuse(Node& node) {
  return node.error(Kind::unsupported, "{}", Reason);
}

template <const std::string_view& Reason>
constexpr Converter refused(std::string_view name) {
  return {.name = name, .convert = refuse<Reason>, .note = "refused", .domain = kMicrosoft};
}

constexpr Converter kRows[] = {
    refused<kSearch>("BeamSearch"),
    refused<kSearch>("GreedySearch"),
    refused<kSearch>("Sampling"),
    refused<kSearch>("WhisperBeamSearch"),
    refused<kPrivate>("MatMulFpQ4"),
    refused<kOrdered>("QOrderedAttention"),
    refused<kOrdered>("QOrderedGelu"),
    refused<kOrdered>("QOrderedLayerNormalization"),
    refused<kOrdered>("QOrderedLongformerAttention"),
    refused<kOrdered>("QOrderedMatMul"),
    refused<kOrdered>("QuantizeWithOrder"),
    refused<kOrdered>("DequantizeWithOrder"),
    refused<kLongformer>("LongformerAttention"),
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(contrib_refused, kRows)
