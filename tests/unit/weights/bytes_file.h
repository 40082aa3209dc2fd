// bytes_file.h: a file of weights that is in memory only, and what to do with it.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>

#include "frontends/weights/weights.h"

namespace relaxc::frontend {

class BytesFile : public relax::MappedFile {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> bytes() const override {
    return {reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size()};
  }
  const std::string& path() const override { return path_; }

 private:
  std::string bytes_, path_ = "w";
};

using Reader = Result<NamedConstants> (*)(const std::shared_ptr<const relax::MappedFile>&, Location, Diagnostics&);

struct Outcome {
  NamedConstants constants;
  std::string error;
};
/// Reads, and asks for the bytes of what was read.
inline Outcome read_bytes(Reader reader, std::string bytes) {
  Diagnostics diag;
  Result<NamedConstants> read = reader(std::make_shared<BytesFile>(std::move(bytes)), nullptr, diag);
  if (!read) return {{}, diag.all().at(0).text};
  for (const auto& [name, constant] : *read) constant->to_vector();
  return {std::move(*read), {}};
}

inline std::string file_bytes(const std::string& name) {
  std::ifstream in(std::string(RELAXC_WEIGHTS) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
std::vector<T> elements(const relax::ConstantRef& constant) {
  std::vector<std::byte> bytes = constant->to_vector();
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace relaxc::frontend
