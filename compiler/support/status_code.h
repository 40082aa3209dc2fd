// status_code.h: the values of rlx_status that compiled code and the interpreter return.
//
// The compiler does not include the runtime's headers, since it compiles for other machines; a unit test compares these
// values with relax_rt.h.
#pragma once

#include <cstdint>

namespace relaxc {

enum StatusCode : int32_t {
  kTensorCount = 2,
  kDtype = 4,
  kRank = 5,
  kStaticDim = 6,
  kSymbolEquality = 7,
  kDerivedDim = 8,
  kDimBounds = 9,
  kSizeOverflow = 20,
  kBroadcast = 21,
  kIndexRange = 32,
  kDataCapacity = 33,
  kAssertion = 34,
  kExternalFailed = 35,
  kRecursionDepth = 36,
  kOutOfMemory = 38,
  kDataBound = 40,
  kNodeLimit = 43,
};

}  // namespace relaxc
