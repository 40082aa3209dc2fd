// mapped_object.cpp: opens object files by LLVM's readers.
#include "compiler/codegen/llvm/mapped_object.h"

namespace relaxc::codegen_llvm {

using llvm::object::ObjectFile;

llvm::Expected<llvm::object::OwningBinary<ObjectFile>> map_object(const std::string& path) {
  auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes) return llvm::errorCodeToError(bytes.getError());
  auto object = ObjectFile::createObjectFile((*bytes)->getMemBufferRef());
  if (!object) return object.takeError();
  return llvm::object::OwningBinary<ObjectFile>(std::move(*object), std::move(*bytes));
}

}  // namespace relaxc::codegen_llvm
