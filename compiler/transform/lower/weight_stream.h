// weight_stream.h: what interface::Weights::stream holds, for those who add to the weights of an object.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"

namespace relaxc::lower {

/// Writes placed constants with the zeros between them. An object that comes to lowering with weights keeps them where
/// they are (another form of its program reads them there), and new ones follow; so the constants must be reachable.
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
