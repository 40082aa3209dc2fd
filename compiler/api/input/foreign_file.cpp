// foreign_file.cpp: recognizes the tool that wrote a file by its first bytes, and for zip archives by the names in it.
//
// The extension is used only if the content does not tell: users rename files, and a .pt may be one of four formats. An
// unknown file with control characters at its beginning is not text either, so the user gets one message for it instead
// of one for each line.
#include "compiler/api/input/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "compiler/api/input/foreign_text.h"

namespace relaxc::api {
namespace {

constexpr const char* kFromTorch =
    R"(load the model in Python and export it: torch.onnx.export(model, (example_input,), "model.onnx", dynamo=True))";
constexpr const char* kFromKeras =
    R"(load it in Python and export it: keras.models.load_model(path).export("model.onnx", format="onnx"))";
constexpr const char* kFromTensorFlow =
    "convert it with the package tf2onnx: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx";
constexpr const char* kOfTheSource = "compile the ONNX model that it was made from";
constexpr const char* kWeightsOfText =
    "give the program that uses them, and this file with --params, or export the model as ONNX";

struct Magic {
  size_t at;
  std::string_view bytes;
  const char *what, *way;
};

using namespace std::string_view_literals;

constexpr Magic kMagics[] = {
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes models", kFromKeras},
    {0, "GGUF"sv, "a GGUF file, which holds weights without the program that uses them",
     "export the model that it was made from as ONNX, with optimum-cli export onnx, for example"},
    {0, "\x93NUMPY"sv, "a NumPy array (.npy)", "arrays are data for 'relaxc run' and 'relaxc verify', after a model"},
    {0, "ftrt"sv, "a TensorRT engine", kOfTheSource},
    {0, "ptrt"sv, "a TensorRT engine", kOfTheSource},
    {4, "ORTM"sv, "a model in ONNX Runtime's own format (.ort)", kOfTheSource},
    {4, "ET12"sv, "an ExecuTorch program", kFromTorch},
    {4, "ET13"sv, "an ExecuTorch program", kFromTorch},
    {0,
     "\x7f"sv
     "ELF"sv,
     "compiled code already (ELF)", "give the model that it was compiled from"},
    {0, "\0asm"sv, "compiled code already (WebAssembly)", "give the model that it was compiled from"},
    {0, "\xcf\xfa\xed\xfe"sv, "compiled code already (Mach-O)", "give the model that it was compiled from"},
    {0, "MZ\x90\0"sv, "compiled code already (Windows)", "give the model that it was compiled from"},
    {0, "!<arch>\n"sv, "a library of compiled code", "give the model that it was compiled from"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer", "fetch the file itself with git lfs pull"},
    {0, "7767517\n"sv, "an ncnn model", kOfTheSource},
    {0, "<?xml"sv, "XML, as OpenVINO writes models", kOfTheSource},
    {0, "<!DOCTYPE"sv, "a web page, perhaps from a server that refused the download", "download the file itself"},
    {0, "\x1f\x8b"sv, "compressed with gzip", "uncompress it first"},
    {0, "(\xb5/\xfd"sv, "compressed with zstd", "uncompress it first"},
    {0,
     "\xfd"sv
     "7zXZ"sv,
     "compressed with xz", "uncompress it first"},
};

/// A name at the end of a path in an archive, by which the tool that wrote the archive is recognized.
struct Member {
  std::string_view name;
  const char *what, *way;
};

constexpr Member kMembers[] = {
    {"constants.pkl", "a TorchScript archive", kFromTorch},
    {"serialized_exported_program.json", "a torch.export program",
     R"(load it in Python and export it: torch.onnx.export(torch.export.load(path), (), "model.onnx", dynamo=True))"},
    {"archive_format", "a torch.export program",
     R"(load it in Python and export it: torch.onnx.export(torch.export.load(path), (), "model.onnx", dynamo=True))"},
    {"data.pkl", "a PyTorch file (torch.save)", kFromTorch},
    {"config.json", "a Keras archive", kFromKeras},
    {".npy", "an archive of arrays (.npz), weights without the program that uses them", kWeightsOfText},
    {".onnx", "a zip archive with an ONNX model in it", "unpack it first"},
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t little_endian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

/// Whether a zip archive has a member whose path ends in `name`. Looks at the first local header and at the directory
/// at the end of the archive.
bool has_member(std::string_view archive, std::string_view name) {
  constexpr size_t kLocalHeader = 30, kDirectoryHeader = 46, kLengthInLocal = 26, kLengthInDirectory = 28;
  auto fits = [&](size_t at, size_t header, size_t length_at) {
    if (at + header > archive.size()) return false;
    size_t length = little_endian(archive, at + length_at, 2);
    return at + header + length <= archive.size() && archive.substr(at + header, length).ends_with(name);
  };
  if (fits(0, kLocalHeader, kLengthInLocal)) return true;
  // The directory of a model has about 100 bytes for each tensor; larger ones are searched only in their last part.
  constexpr size_t kTail = size_t{16} << 20;
  size_t begin = archive.size() - std::min(archive.size(), kTail);
  for (size_t at = archive.find("PK\1\2", begin); at != std::string_view::npos; at = archive.find("PK\1\2", at + 4))
    if (fits(at, kDirectoryHeader, kLengthInDirectory)) return true;
  return false;
}

/// Whether the file starts with the length of a header, followed by JSON.
bool is_safetensors(std::string_view head, size_t size) {
  if (head.size() < 10 || head.substr(8, 2) != "{\"") return false;
  return little_endian(head, 0, 8) <= size - 8;
}

/// Whether the file starts with pickle's opcode PROTO and an existing version of the protocol.
bool is_pickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

/// Whether a byte is a control character that no text has.
bool is_no_text(char byte) {
  return (byte >= 0 && byte < '\t') || (byte > '\r' && byte < '\x1b');
}

struct Known {
  const char *what, *way;
};

std::optional<Known> recognize(std::string_view bytes) {
  for (const Magic& magic : kMagics)
    if (bytes.size() > magic.at && bytes.substr(magic.at).starts_with(magic.bytes)) return Known{magic.what, magic.way};
  if (bytes.starts_with("PK\3\4")) {
    for (const Member& member : kMembers)
      if (has_member(bytes, member.name)) return Known{member.what, member.way};
    return Known{"a zip archive", "unpack it, and give the model in it"};
  }
  if (is_pickle(bytes)) return Known{"a pickle, as torch.save wrote and joblib writes", kFromTorch};
  if (is_safetensors(bytes.substr(0, 16), bytes.size()))
    return Known{"a file of weights (.safetensors) without the program that uses them", kWeightsOfText};
  return std::nullopt;
}

/// Guesses from the extension what a file is that is not text and whose contents are not recognized.
Known by_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".pb") return {"a TensorFlow graph, by its extension", kFromTensorFlow};
  if (extension == ".engine" || extension == ".plan" || extension == ".trt")
    return {"a TensorRT engine, by its extension", kOfTheSource};
  if (extension == ".mlmodel") return {"a Core ML model, by its extension", kOfTheSource};
  return {"neither text nor a model that relaxc reads",
          "give an ONNX model (.onnx), a TFLite model or a program in the text IR (.relax)"};
}

}  // namespace

std::optional<std::string> foreign_file(const std::string& path, std::span<const std::byte> content) {
  std::string_view bytes = text_of(content);
  auto sentence = [&](const Known& known) { return fmt::format("'{}' is {}; {}", path, known.what, known.way); };
  if (std::optional<Known> known = recognize(bytes)) return sentence(*known);
  std::string extension = std::filesystem::path(path).extension().string();
  bool may_be_bytes = extension == ".onnx" || extension == ".tflite" || extension == ".relax" ||
                      extension == ".relay" || extension == ".py";
  constexpr size_t kSample = 1024;
  const std::string_view sample = bytes.substr(0, kSample);
  if (std::any_of(sample.begin(), sample.end(), is_no_text))
    return may_be_bytes ? std::nullopt : std::optional(sentence(by_extension(path)));
  const std::optional<ForeignText> text = foreign_text(bytes);
  return text ? std::optional(sentence({text->what, text->way})) : std::nullopt;
}

}  // namespace relaxc::api
