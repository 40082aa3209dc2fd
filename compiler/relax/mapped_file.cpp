// mapped_file.cpp: mmap behind the MappedFile interface.
#include "compiler/relax/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace relaxc::relax {
namespace {

class Mapping : public MappedFile {
 public:
  Mapping(std::string path, void* address, size_t size) : path_(std::move(path)), address_(address), size_(size) {}
  ~Mapping() override {
    if (address_ != nullptr) munmap(address_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const override { return {static_cast<const std::byte*>(address_), size_}; }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  void* address_;
  size_t size_;
};

/// Closes on every way out; a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> map_file(const std::string& path, Location location, Diagnostics& diag) {
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
  return std::shared_ptr<const MappedFile>(std::make_shared<Mapping>(path, address, size));
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
