// mapped_file.h: reads files by mapping them.
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

/// Maps a regular file read-only. Its pages are loaded on access and may be dropped at any time, so a model of
/// gigabytes costs only address space. An empty file is an empty span. Fails (Kind::io) with the system's reason;
/// `location` is what refers to the file. If a file shrinks while it is mapped, the program ends with an error, since a
/// library cannot handle that (termination.h).
Result<FileRef> map_file(const std::string& path, Location location, Diagnostics& diag);
/// The same for an open file, whose path is `path`. Fails if it could not be opened.
Result<FileRef> map_file(const InputFile& file, const std::string& path, Location location, Diagnostics& diag);

/// Returns a file that exists only in memory, under that path. `bytes` must stay valid as long as it is used.
FileRef memory_file(std::string path, std::span<const std::byte> bytes);

/// Files that are read from memory instead of from their paths.
using MemoryFiles = std::vector<FileRef>;
/// Returns the file of that path, compared after normalization; null if there is none.
FileRef find_file(const MemoryFiles& memory, const std::string& path);
/// Returns that file, or else maps the path by map_file().
Result<FileRef> open_file(const MemoryFiles& memory, const std::string& path, Location location, Diagnostics& diag);

/// Says that `part` of the bytes of `file` will not be read soon: releases its whole pages if map_file has mapped them.
/// They are loaded again on access.
void set_aside(const MappedFile& file, std::span<const std::byte> part);

/// Calls `use` with the bytes of `file` in order, in pieces of some megabytes, and releases each piece afterwards, so
/// reading a file of gigabytes takes the memory of one piece.
void for_each_piece(const MappedFile& file, const std::function<void(std::span<const std::byte>)>& use);

/// Fails (Kind::io) if the path of a mapped file now refers to another file, or to one that was written since: what was
/// read may not be what is there.
Status check_unchanged(const std::vector<FileRef>& files, Diagnostics& diag);

}  // namespace relaxc::relax
