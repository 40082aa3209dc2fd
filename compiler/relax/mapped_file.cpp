// mapped_file.cpp: mmap behind the MappedFile interface.
#include "compiler/relax/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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

  bool is_at(const std::string& path) const {
    struct stat now {};
    return stat(path.c_str(), &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino;
  }

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
  struct stat status_;  ///< when it was mapped
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

/// Closes on every way out; a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

Result<FileRef> map_file(const std::string& path, Location location, Diagnostics& diag) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return diag.error(location, Kind::io, "cannot open '{}': {}", path, std::strerror(errno));
  struct stat status;
  if (fstat(file.fd, &status) != 0)
    return diag.error(location, Kind::io, "cannot read '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return diag.error(location, Kind::io, "'{}' is not a regular file", path);
  size_t size = static_cast<size_t>(status.st_size);
  void* address = nullptr;
  if (size > 0) {
    address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (address == MAP_FAILED) return diag.error(location, Kind::io, "cannot map '{}': {}", path, std::strerror(errno));
  }
  return FileRef(std::make_shared<Mapping>(path, address, status));
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

bool is_at(const MappedFile& file, const std::string& path) {
  const auto* mapping = dynamic_cast<const Mapping*>(&file);
  return mapping != nullptr && mapping->is_at(path);
}

Status check_unchanged(const std::vector<FileRef>& files, Diagnostics& diag) {
  for (const FileRef& file : files) {
    const auto* mapping = dynamic_cast<const Mapping*>(file.get());
    if (mapping != nullptr && !mapping->unchanged())
      return diag.error(nullptr, Kind::io, "{} has changed since it was read; nothing is written", file->path());
  }
  return Done{};
}

/// Small constants share pages with others and are looked at often.
void set_aside(const MappedFile& file, std::span<const std::byte> part) {
  constexpr size_t kLarge = size_t{1} << 20;
  if (part.size() < kLarge || dynamic_cast<const Mapping*>(&file) == nullptr) return;
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace relaxc::relax
