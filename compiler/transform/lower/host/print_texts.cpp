// print_texts.cpp: constants with the texts that R.print writes between values, one for equal texts.
#include <cstring>

#include "compiler/relax/effects.h"
#include "compiler/transform/lower/host/shared.h"

namespace relaxc::lower {

using namespace relax;

ConstantRef print_text(Shared& shared, const std::string& text) {
  ConstantRef& made = shared.texts[text];
  if (made != nullptr) return made;
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return made = ConstantData::inline_bytes(DType::u(8), {static_cast<int64_t>(text.size())}, std::move(bytes));
}

std::vector<ConstantRef> print_texts(Shared& shared, const Op& op) {
  std::vector<ConstantRef> texts;
  for (const PrintPiece& piece : read_print_format(op.attrs.string("format"), op.operands().size()).pieces)
    texts.push_back(print_text(shared, piece.text));
  return texts;
}

}  // namespace relaxc::lower
