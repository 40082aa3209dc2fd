// mapped_object.h: maps an object file, so that its weights are not read.
#pragma once

#include <llvm/Object/ObjectFile.h>

#include <string>

namespace relaxc::codegen_llvm {

/// Maps the object file at `path`. LLVM's own function reads a file whose size is a multiple of the page size into
/// memory, because no zero byte follows its end.
llvm::Expected<llvm::object::OwningBinary<llvm::object::ObjectFile>> map_object(const std::string& path);

}  // namespace relaxc::codegen_llvm
