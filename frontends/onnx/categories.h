// categories.h: where keys are in lists that are known when compiling.
//
// The lists are sorted here and searched by the program. Of keys that are given twice the first counts.
#pragma once

#include "frontends/onnx/ml.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend {

/// A table from keys to places in the order in which they are given.
class Categories {
 public:
  Categories(DType dtype, std::vector<double> keys);
  explicit Categories(Ints keys);

  /// The place of each element of x among the keys; `missing` where it is none of them. A key that is NaN is found by
  /// NaN since opset 4.
  Value* find(ConversionBuilder& c, Value* x, int64_t missing) const;

 private:
  DType dtype_;
  std::vector<double> numbers_;
  Ints ints_, order_;
};

/// The place of each string in the list; `missing` where it is not there.
Result<Value*> place_of_string(ConversionBuilder& c, const Strings& x, const std::vector<std::string>& list,
                               int64_t missing);
/// The same of the strings of input 0.
Result<Value*> place_of_string(ConversionBuilder& c, const std::vector<std::string>& list, int64_t missing);

}  // namespace relaxc::frontend
