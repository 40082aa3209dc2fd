// categories.h: looks up keys in constant lists.
//
// The lists are sorted here and searched by the program. Of repeated keys the first one counts.
#pragma once

#include "frontends/onnx/ml.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend {

/// A table from keys to their positions in the given order.
class Categories {
 public:
  Categories(DType dtype, std::vector<double> keys);
  explicit Categories(Ints keys);

  /// Returns the position of each element of x among the keys; `missing` for elements that are not among them. Since
  /// opset 4, NaN finds a key that is NaN.
  Value* find(ConversionBuilder& c, Value* x, int64_t missing) const;

 private:
  DType dtype_;
  std::vector<double> numbers_;
  Ints ints_, order_;
};

/// Returns the position of each string in the list; `missing` if it is not in there.
Result<Value*> place_of_string(ConversionBuilder& c, const Strings& x, const std::vector<std::string>& list,
                               int64_t missing);
/// The same for the strings of input 0.
Result<Value*> place_of_string(ConversionBuilder& c, const std::vector<std::string>& list, int64_t missing);

}  // namespace relaxc::frontend
