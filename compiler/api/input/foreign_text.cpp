// foreign_text.cpp: recognizes text of other tools by words at the beginning of its lines.
//
// The parser of the text IR reports such a file as well, but by its first line that is no Python or no function, which
// does not say what to do instead. A text with a function of Relax, TIR or Relay is left to the parser, so that nothing
// here can hide a message about a program.
#include "compiler/api/input/foreign_text.h"

#include <algorithm>

namespace relaxc::api {
namespace {

constexpr const char* kExportTorch =
    R"(let it export its model: torch.onnx.export(model, (example_input,), "model.onnx", dynamo=True))";
constexpr const char* kExportTensorFlow = "let it export its model as ONNX, with the package tf2onnx";
constexpr const char* kGiveModel = "give an ONNX model (.onnx), a TFLite model or a program in the text IR (.relax)";
constexpr const char* kGiveSource = "compile the ONNX model that it was made from";

/// A word at the beginning of a line, behind spaces, by which a text is recognized.
struct Line {
  std::string_view begin;
  ForeignText text;
};

constexpr Line kLines[] = {
    {"import torch", {"a Python program that uses PyTorch, not a model", kExportTorch}},
    {"from torch", {"a Python program that uses PyTorch, not a model", kExportTorch}},
    {"import tensorflow", {"a Python program that uses TensorFlow, not a model", kExportTensorFlow}},
    {"from tensorflow", {"a Python program that uses TensorFlow, not a model", kExportTensorFlow}},
    {"import keras", {"a Python program that uses Keras, not a model", kExportTensorFlow}},
    {"from keras", {"a Python program that uses Keras, not a model", kExportTensorFlow}},
    {"func.func ", {"a program in MLIR", kGiveSource}},
    {"layer {", {"a network of Caffe", "convert it to ONNX"}},
    {"#include", {"source code in C or C++", kGiveModel}},
};

/// Words of which a program for relaxc has one.
constexpr std::string_view kOfPrograms[] = {"R.function", "prim_func", "relax.function", "script.", "ir_module",
                                            "R.func",     "#[version", "def @",          "free_var"};

constexpr std::string_view kSpaces = " \t\r\n";

/// Whether the first two signs are those of an object in JSON; no statement of Python begins so that has a use here.
bool is_json(std::string_view text) {
  const size_t brace = text.find_first_not_of(kSpaces);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const size_t next = text.find_first_not_of(kSpaces, brace + 1);
  return next != std::string_view::npos && (text[next] == '"' || text[next] == '}');
}

ForeignText kind_of_json(std::string_view text) {
  auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("\"tvm_version\""))
    return {"a module that TVM saved as JSON",
            "write its text in Python: print(tvm.ir.load_json(open(path).read()).script(show_meta=True))"};
  if (has("\"modelTopology\"") || has("\"weightsManifest\""))
    return {"a model of TensorFlow.js", "compile the model that it was made from"};
  return {"JSON, not a model", kGiveModel};
}

/// The row of the first line that has one; null if none has.
const Line* first_line(std::string_view text) {
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    const size_t word = std::min(text.find_first_not_of(" \t", at), text.size());
    for (const Line& line : kLines)
      if (text.substr(word).starts_with(line.begin)) return &line;
  }
  return nullptr;
}

}  // namespace

std::optional<ForeignText> foreign_text(std::string_view text) {
  constexpr size_t kSample = size_t{64} << 10;
  const std::string_view sample = text.substr(0, kSample);
  if (is_json(sample)) return kind_of_json(text);
  const Line* found = first_line(sample);
  if (found == nullptr) return std::nullopt;
  for (std::string_view word : kOfPrograms)  // weights in the text may be in front of them
    if (text.find(word) != std::string_view::npos) return std::nullopt;
  return found->text;
}

}  // namespace relaxc::api
