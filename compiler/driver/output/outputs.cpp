// outputs.cpp: write beside, then rename.
//
// The first file is the one that make looks at, so it takes its place last: if it is there and new, all of them are.
#include "compiler/driver/output/outputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/codegen/llvm/signals.h"

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

Failure Outputs::refuse(const std::string& path, const std::string& why) {
  return diag_.error(nullptr, Kind::io, "cannot write {}: {}", path, why);
}

Result<std::string> Outputs::add(const std::string& path, bool keep_if_same) {
  fs::path place(path);
  std::error_code error;
  fs::file_status status = fs::status(place, error);
  if (fs::is_directory(status)) return refuse(path, "it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) return refuse(path, "it is not a regular file");
  std::string name = "." + place.filename().string() + "." + std::to_string(getpid()) + ".tmp";
  std::string temporary = (place.parent_path() / name).string();
  codegen_llvm::remove_on_signal(temporary);  // before it is there, so that no signal comes between
  int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return refuse(path, std::strerror(errno));
  ::close(file);
  files_.push_back({temporary, path, keep_if_same});
  return temporary;
}

Status Outputs::write(const std::string& path, const std::string& text, bool keep_if_same) {
  Diagnostics& diag = diag_;
  RELAXC_TRY(std::string temporary, add(path, keep_if_same));
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (!out) return refuse(path, errno == 0 ? "writing failed" : std::strerror(errno));
  return Done{};
}

Status Outputs::commit() {
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    if (file->keep_if_same && same_content(file->temporary, file->path)) continue;
    std::error_code error;
    fs::rename(file->temporary, file->path, error);
    if (error) return refuse(file->path, error.message());
  }
  return Done{};
}

std::vector<std::string> Outputs::paths() const {
  std::vector<std::string> paths;
  for (const File& file : files_) paths.push_back(file.path);
  return paths;
}

}  // namespace relaxc::driver
