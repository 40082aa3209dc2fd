// mapped_object.h: reading an object file without reading its weights.
#pragma once

#include <llvm/Object/ObjectFile.h>

#include <string>

namespace relaxc::codegen_llvm {

/// The object file at `path`, mapped. LLVM's own way of opening one copies a file whose size is a multiple of a page
/// into memory, because no zero follows its last byte.
llvm::Expected<llvm::object::OwningBinary<llvm::object::ObjectFile>> map_object(const std::string& path);

}  // namespace relaxc::codegen_llvm
