// mapped_file.h: files that are read by mapping them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/support/result.h"

namespace relaxc {
class InputFile;
}

namespace relaxc::relax {

using FileRef = std::shared_ptr<const MappedFile>;

/// Maps a regular file read-only. Pages come in as they are touched and can be dropped by the system at any time, so a
/// model of gigabytes costs address space and nothing else. An empty file gives an empty span. Fails (Kind::io) with
/// the system's reason; `location` is what asked for the file. A file that shrinks while it is mapped is outside of
/// what a library can defend against; the program ends with an error there (termination.h).
Result<FileRef> map_file(const std::string& path, Location location, Diagnostics& diag);
/// The same of a file that was opened, whose path is `path`. Fails if it could not be.
Result<FileRef> map_file(const InputFile& file, const std::string& path, Location location, Diagnostics& diag);

/// A file that is in memory only, under that path. The bytes stay as they are for as long as the file is used.
FileRef memory_file(std::string path, std::span<const std::byte> bytes);

/// Files that are read from memory instead of from their paths.
using MemoryFiles = std::vector<FileRef>;
/// The one of that path, however it is spelt; null if there is none.
FileRef find_file(const MemoryFiles& memory, const std::string& path);
/// The same, or else what map_file() gives.
Result<FileRef> open_file(const MemoryFiles& memory, const std::string& path, Location location, Diagnostics& diag);

/// `part` of the bytes of `file` will not be read soon: gives back the memory of its whole pages, if map_file has
/// mapped them. They come in again when they are touched.
void set_aside(const MappedFile& file, std::span<const std::byte> part);

/// Calls `use` with the bytes of `file` in order, in pieces of some megabytes. Each piece is set aside afterwards, so
/// that reading a file of gigabytes takes the memory of one piece.
void for_each_piece(const MappedFile& file, const std::function<void(std::span<const std::byte>)>& use);

/// Fails (Kind::io) if the path of a file that map_file has mapped now leads to another file, or to one that was
/// written since: what was read of it need not be what is there.
Status check_unchanged(const std::vector<FileRef>& files, Diagnostics& diag);

}  // namespace relaxc::relax
