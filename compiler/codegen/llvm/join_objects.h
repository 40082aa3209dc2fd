// join_objects.h: several ELF objects as one.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <string>

namespace relaxc::codegen_llvm {

/// Adds what is loaded of `parts` (objects in memory, of the same machine) to the relocatable object at `path`. Hidden
/// symbols, by which the objects know each other, become local. Nothing that is in the first object's sections moves
/// or is read, however large it is. False if the file cannot be written.
bool join_objects(const std::string& path, llvm::ArrayRef<llvm::StringRef> parts);

}  // namespace relaxc::codegen_llvm
