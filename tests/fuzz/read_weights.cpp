// read_weights.cpp: no file of weights may crash its readers, and one that they refuse has been given a reason.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/weights/weights.h"

namespace {

class InputFile : public relaxc::relax::MappedFile {
 public:
  InputFile(const uint8_t* data, size_t size) : bytes_(reinterpret_cast<const std::byte*>(data), size) {}
  std::span<const std::byte> bytes() const override { return bytes_; }
  const std::string& path() const override { return path_; }

 private:
  std::span<const std::byte> bytes_;
  std::string path_ = "input";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (auto* reader : {relaxc::frontend::read_npz, relaxc::frontend::read_safetensors}) {
    relaxc::Diagnostics diag;
    auto constants = reader(std::make_shared<InputFile>(data, size), nullptr, diag);
    if (!constants && !diag.has_errors()) std::abort();
    if (!constants) continue;
    for (const auto& [name, constant] : *constants)
      if (constant->byte_size() < 1 << 20) constant->to_vector();
  }
  return 0;
}
