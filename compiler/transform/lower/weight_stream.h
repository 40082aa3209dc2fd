// weight_stream.h: the callable in interface::Weights::stream, for code that adds weights to an object.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"

namespace relaxc::lower {

/// Writes placed constants with the zeros between them. An object that has weights before lowering keeps them at their
/// offsets, since another form of its program reads them there, and new ones follow; so its pieces are accessible.
struct WeightStream {
  struct Piece {
    uint64_t offset = 0;
    relax::ConstantRef data;
    std::string name;  ///< of a value that holds it; may be empty
  };
  std::vector<Piece> pieces;  ///< by offset

  void operator()(const std::function<void(const std::byte*, size_t)>& sink) const;
};

}  // namespace relaxc::lower
