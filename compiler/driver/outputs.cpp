// outputs.cpp: write beside, then rename.
#include "compiler/driver/outputs.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

bool same_content(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::file_size(a, error) != fs::file_size(b, error) || error) return false;
  std::ifstream x(a, std::ios::binary), y(b, std::ios::binary);
  return x && y && std::equal(std::istreambuf_iterator<char>(x), {}, std::istreambuf_iterator<char>(y));
}

}  // namespace

Outputs::~Outputs() {
  std::error_code ignored;
  for (const File& file : files_) fs::remove(file.temporary, ignored);
}

std::string Outputs::add(const std::string& path, bool keep_if_same) {
  fs::path place(path);
  std::string name = "." + place.filename().string() + "." + std::to_string(getpid()) + ".tmp";
  files_.push_back({(place.parent_path() / name).string(), path, keep_if_same});
  return files_.back().temporary;
}

Status Outputs::write(const std::string& path, const std::string& text, bool keep_if_same) {
  std::ofstream out(add(path, keep_if_same), std::ios::binary);
  out << text;
  out.close();
  if (!out) return diag_.error(nullptr, Kind::io, "cannot write {}: {}", path, std::strerror(errno));
  return Done{};
}

Status Outputs::commit() {
  for (File& file : files_) {
    if (file.keep_if_same && same_content(file.temporary, file.path)) continue;
    std::error_code error;
    fs::rename(file.temporary, file.path, error);
    if (error) return diag_.error(nullptr, Kind::io, "cannot write {}: {}", file.path, error.message());
  }
  return Done{};
}

}  // namespace relaxc::driver
