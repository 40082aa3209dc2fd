// join_objects.h: joins several ELF objects into one.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include <string>

namespace relaxc::codegen_llvm {

/// Appends the loaded sections of `parts` (objects in memory, for the same machine) to the relocatable object at
/// `path`. Hidden symbols, by which the objects refer to each other, become local. The first object's sections are
/// neither moved nor read, however large they are. Returns false if the file cannot be written.
bool join_objects(const std::string& path, llvm::ArrayRef<llvm::StringRef> parts);

}  // namespace relaxc::codegen_llvm
