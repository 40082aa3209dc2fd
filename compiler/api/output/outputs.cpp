// outputs.cpp: all files in their places, or none.
//
// The first file is the one that make looks at, so it takes its place last: if it is there and new, all of them are.
// No signal comes between the first and the last; a process that is killed in these microseconds, or a machine that
// loses power, can leave a new header beside an old object, and an old file under a name ".relaxc-….tmp".
#include "compiler/api/output/outputs.h"

#include <algorithm>

namespace relaxc::api {

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
