// unsupported_ops.cpp: operators that are not supported, each with the reason and an alternative.
//
// Training and decoding of image files are not part of inference. A search runs a decoder repeatedly, with sampling and
// stopping that belong to the caller. Others have weights or data in the layout of one library or device, which no
// document describes, or manage the memory of a server.
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::unsupported_ops_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft", kTraining = "ai.onnx.preview.training",
                           kBlocked = "com.microsoft.nchwc", kChannelsLast = "com.ms.internal.nhwc";

constexpr std::string_view kTrains = "it trains; export the model for inference";
constexpr std::string_view kFiles = "reading image files is not part of a network; pass the decoded image as an input";
constexpr std::string_view kSearch =
    "a search around a decoder belongs to the caller; export the decoder by itself and call it for each token";
constexpr std::string_view kPrivate =
    "its weights are packed for one library in a layout of its own; export the model with MatMulNBits";
constexpr std::string_view kOrdered =
    "its operands are in the layout of one device; quantize the model for the CPU, with QDQ or QLinear operators";
constexpr std::string_view kLongformer =
    "its window and its global tokens are defined by a CUDA kernel; export the attention as MatMul and Softmax";
constexpr std::string_view kOptimized =
    "ONNX Runtime chose this layout for one machine; save the model as it was before optimization, or at its extended "
    "level";
constexpr std::string_view kBlockSparse =
    "which blocks are seen is chosen from scores of their own in one device's kernel; export the attention with a mask";
constexpr std::string_view kPages =
    "its cache is pages that a server hands out; export the model with past keys and values as inputs";
constexpr std::string_view kDevice = "ONNX Runtime runs it on one kind of device only; export the model for the CPU";
constexpr std::string_view kSparse = "its operand is a sparse tensor; store it densely and use MatMul";
constexpr std::string_view kHashes =
    "it hashes tokens as one library does; look the rows up in the program that calls the model";
constexpr std::string_view kInternal =
    "it is for internal use of ONNX Runtime; export the model with operators of ONNX";
constexpr std::string_view kDecoderAttention =
    "whether it uses its cache is decided when it runs; export it as MultiHeadAttention or Attention";
constexpr std::string_view kAttentionWrapper =
    "no exporter writes this wrapper of an LSTM any more; export it as LSTM, MatMul and Softmax in a Loop";
constexpr std::string_view kAlignment =
    "the length of the path is known only when it was found; align in the program that calls the model";
constexpr std::string_view kVendor = "it holds a program in another vendor's format; export the model without it";

template <const std::string_view& Reason>
Status refuse(Node& node) {
  return node.error(Kind::unsupported, "{}", Reason);
}

template <const std::string_view& Reason>
constexpr Converter refused(std::string_view name, std::string_view domain = kMicrosoft) {
  return {.name = name, .convert = refuse<Reason>, .note = "refused", .domain = domain};
}

constexpr Converter kRows[] = {
    refused<kFiles>("ImageDecoder", ""),
    refused<kTrains>("Adagrad", kTraining),
    refused<kTrains>("Adam", kTraining),
    refused<kTrains>("Gradient", kTraining),
    refused<kTrains>("Momentum", kTraining),
    refused<kTrains>("BitmaskBiasDropout"),
    refused<kTrains>("BitmaskDropout"),
    refused<kSearch>("BeamSearch"),
    refused<kSearch>("BifurcationDetector"),
    refused<kSearch>("GreedySearch"),
    refused<kSearch>("Sampling"),
    refused<kSearch>("WhisperBeamSearch"),
    refused<kPrivate>("MatMulFpQ4"),
    refused<kPrivate>("MatMulBlockQuantizedFp4Weight"),
    refused<kPrivate>("MatMulBlockQuantizedFp8Weight"),
    refused<kPrivate>("MatMulNBitsMlp"),
    refused<kPrivate>("MatMulNBitsQkv"),
    refused<kPrivate>("QuantizeBFP"),
    refused<kPrivate>("DequantizeBFP"),
    refused<kOrdered>("QOrderedAttention"),
    refused<kOrdered>("QOrderedGelu"),
    refused<kOrdered>("QOrderedLayerNormalization"),
    refused<kOrdered>("QOrderedLongformerAttention"),
    refused<kOrdered>("QOrderedMatMul"),
    refused<kOrdered>("QuantizeWithOrder"),
    refused<kOrdered>("DequantizeWithOrder"),
    refused<kLongformer>("LongformerAttention"),
    refused<kBlockSparse>("DynamicSparseAttention"),
    refused<kBlockSparse>("SparseAttentionIndexer"),
    refused<kBlockSparse>("PackedSparseAttentionIndexer"),
    refused<kPages>("PagedAttention"),
    refused<kPages>("SparsePagedAttention"),
    refused<kDevice>("GatedDeltaNet"),
    refused<kDevice>("GemmFloat8"),
    refused<kDevice>("VarlenCausalConvWithState"),
    refused<kDecoderAttention>("DecoderAttention"),
    refused<kSparse>("SparseToDenseMatMul"),
    refused<kHashes>("MurmurHash3"),
    refused<kHashes>("NGramHashMapping"),
    refused<kHashes>("VarlenNGramHashMapping"),
    refused<kInternal>("MaxpoolWithMask"),
    refused<kInternal>("WordConvEmbedding"),
    refused<kAttentionWrapper>("AttnLSTM"),
    refused<kAlignment>("DynamicTimeWarping"),
    refused<kVendor>("EPContext"),
    refused<kVendor>("Snpe"),
    refused<kOptimized>("ReorderInput", kBlocked),
    refused<kOptimized>("ReorderOutput", kBlocked),
    refused<kOptimized>("Conv", kBlocked),
    refused<kOptimized>("AveragePool", kBlocked),
    refused<kOptimized>("MaxPool", kBlocked),
    refused<kOptimized>("GlobalAveragePool", kBlocked),
    refused<kOptimized>("GlobalMaxPool", kBlocked),
    refused<kOptimized>("Upsample", kBlocked),
    refused<kOptimized>("Conv", kChannelsLast),
    refused<kOptimized>("AveragePool", kChannelsLast),
    refused<kOptimized>("MaxPool", kChannelsLast),
    refused<kOptimized>("GlobalAveragePool", kChannelsLast),
    refused<kOptimized>("GlobalMaxPool", kChannelsLast),
    refused<kOptimized>("ConvTranspose", kChannelsLast),
    refused<kOptimized>("Resize", kChannelsLast),
};

}  // namespace
}  // namespace relaxc::frontend::unsupported_ops_family

RELAXC_CONVERTERS(unsupported_ops, kRows)
