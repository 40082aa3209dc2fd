// mapped_file.cpp: implements MappedFile by mmap.
#include "compiler/relax/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "compiler/support/input_file.h"

namespace relaxc::relax {
namespace {

class Mapping : public MappedFile {
 public:
  Mapping(std::string path, void* address, const struct stat& status)
      : path_(std::move(path)), address_(address), size_(static_cast<size_t>(status.st_size)), status_(status) {}
  ~Mapping() override {
    if (address_ != nullptr) munmap(address_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const override { return {static_cast<const std::byte*>(address_), size_}; }
  const std::string& path() const override { return path_; }

  bool unchanged() const {
    struct stat now {};
    auto same = [](const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; };
    return stat(path_.c_str(), &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino &&
           now.st_size == status_.st_size && same(now.st_mtim, status_.st_mtim) && same(now.st_ctim, status_.st_ctim);
  }

 private:
  std::string path_;
  void* address_;
  size_t size_;
  struct stat status_;  ///< the file's status when it was mapped
};

class InMemory : public MappedFile {
 public:
  InMemory(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}
  std::span<const std::byte> bytes() const override { return bytes_; }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace

/// The mapping remains valid after `file` closes its descriptor.
Result<FileRef> map_file(const InputFile& file, const std::string& path, Location location, Diagnostics& diag) {
  if (!file) return diag.error(location, Kind::io, "cannot open '{}': {}", path, file.fault());
  size_t size = static_cast<size_t>(file.status().st_size);
  void* address = nullptr;
  if (size > 0) {
    address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED) return diag.error(location, Kind::io, "cannot map '{}': {}", path, std::strerror(errno));
  }
  return FileRef(std::make_shared<Mapping>(path, address, file.status()));
}

Result<FileRef> map_file(const std::string& path, Location location, Diagnostics& diag) {
  return map_file(InputFile::at(path), path, location, diag);
}

FileRef memory_file(std::string path, std::span<const std::byte> bytes) {
  return std::make_shared<InMemory>(std::move(path), bytes);
}

FileRef find_file(const MemoryFiles& memory, const std::string& path) {
  auto plain = [](const std::string& any) { return std::filesystem::path(any).lexically_normal(); };
  for (const FileRef& file : memory)
    if (plain(file->path()) == plain(path)) return file;
  return nullptr;
}

Result<FileRef> open_file(const MemoryFiles& memory, const std::string& path, Location location, Diagnostics& diag) {
  FileRef found = find_file(memory, path);
  return found != nullptr ? Result<FileRef>(std::move(found)) : map_file(path, location, diag);
}

Status check_unchanged(const std::vector<FileRef>& files, Diagnostics& diag) {
  for (const FileRef& file : files) {
    const auto* mapping = dynamic_cast<const Mapping*>(file.get());
    if (mapping != nullptr && !mapping->unchanged())
      return diag.error(nullptr, Kind::io, "{} has changed since it was read; nothing is written", file->path());
  }
  return Done{};
}

/// Only large parts are released: small constants share pages with others and are read often.
void set_aside(const MappedFile& file, std::span<const std::byte> part) {
  constexpr size_t kLarge = size_t{1} << 20;
  if (part.size() < kLarge || dynamic_cast<const Mapping*>(&file) == nullptr) return;
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void for_each_piece(const MappedFile& file, const std::function<void(std::span<const std::byte>)>& use) {
  constexpr size_t kPiece = size_t{4} << 20;
  const std::span<const std::byte> bytes = file.bytes();
  for (size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const std::span<const std::byte> piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    use(piece);
    set_aside(file, piece);
  }
}

}  // namespace relaxc::relax
