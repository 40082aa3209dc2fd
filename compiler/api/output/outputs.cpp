// outputs.cpp: moves all files to their paths, or none.
//
// The first file is the one that make checks, so it is moved last: if it is there and new, all of them are. Signals are
// blocked between the first and the last; only a process that is killed in these microseconds, or a machine that loses
// power, can leave a new header beside an old object, and an old file under a name ".relaxc-….tmp".
//
// Two processes that write the same files at once are serialized here by locks of the folders, so that a header is not
// of one and the object of the other. The lock is advisory and waited for only briefly, since a build may hold one on a
// folder around relaxc (flock . relaxc …).
#include "compiler/api/output/outputs.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

namespace relaxc::api {
namespace {

/// Locks folders, in an order that is the same in all processes so that they do not deadlock.
class FolderLocks {
 public:
  void add(int folder) {
    struct stat status {};
    if (folder >= 0 && ::fstat(folder, &status) == 0) folders_.try_emplace({status.st_dev, status.st_ino}, folder);
  }
  void take() const {
    constexpr int kMostTries = 200;  // placing files takes less than a millisecond
    for (const auto& [place, folder] : folders_)
      for (int i = 0; i < kMostTries && ::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~FolderLocks() {
    for (const auto& [place, folder] : folders_) ::flock(folder, LOCK_UN);
  }
  FolderLocks() = default;
  FolderLocks(const FolderLocks&) = delete;

 private:
  std::map<std::pair<dev_t, ino_t>, int> folders_;
};

}  // namespace

Failure Outputs::refuse(const std::string& path, const std::string& why) {
  return diag_.error(nullptr, Kind::io, "cannot write {}: {}", path, why);
}

Result<Outputs::Output*> Outputs::stage(std::deque<Output>& list, const std::string& path, bool keep_if_same) {
  Output& output = list.emplace_back(path, keep_if_same);
  std::string why = place_ == Place::kMemory ? output.file.open_in_memory() : output.file.open();
  if (why.empty()) return &output;
  list.pop_back();
  return refuse(path, why);
}

Result<std::string> Outputs::add(const std::string& path, bool keep_if_same) {
  for (const Output& other : files_)
    if (other.file.path() == path) return refuse(path, "two outputs would be written there");
  RELAXC_TRY(Output * output, stage(files_, path, keep_if_same));
  return output->file.writable_path();
}

Result<std::string> Outputs::scratch(const std::string& path) {
  RELAXC_TRY(Output * output, stage(scratch_, path, false));
  return output->file.writable_path();
}

Status Outputs::write(const std::string& path, const std::string& text, bool keep_if_same) {
  RELAXC_TRY(std::string place, add(path, keep_if_same));
  std::string why = files_.back().file.write(text.data(), text.size());
  return why.empty() ? Status(Done{}) : Status(refuse(path, why));
}

void Outputs::roll_back(std::deque<Output>::reverse_iterator end) {
  while (end != files_.rbegin()) {
    --end;
    if (std::string why = end->file.restore(); !why.empty())
      diag_.note(nullptr, "{} could not be restored: {}", end->file.path(), why);
  }
}

Result<std::vector<relax::FileRef>> Outputs::contents() {
  Diagnostics& diag = diag_;
  std::vector<relax::FileRef> list;
  for (const Output& output : files_) {
    RELAXC_TRY(relax::FileRef file, relax::map_file(output.file.writable_path(), nullptr, diag));
    list.push_back(std::move(file));
  }
  return list;
}

Status Outputs::commit() {
  if (place_ == Place::kMemory) return Done{};
  FolderLocks locks;
  for (const Output& output : files_) locks.add(output.file.folder());
  locks.take();
  SignalsBlocked quiet;
  for (auto output = files_.rbegin(); output != files_.rend(); ++output) {
    if (output->keep_if_same && output->file.same_as_before()) continue;
    std::string why = output->file.place();
    if (why.empty()) continue;
    Failure failure = refuse(output->file.path(), why);
    roll_back(output);
    return failure;
  }
  for (Output& output : files_) output.file.keep();
  return Done{};
}

std::vector<std::string> Outputs::paths() const {
  std::vector<std::string> paths;
  for (const Output& output : files_) paths.push_back(output.file.path());
  return paths;
}

}  // namespace relaxc::api
