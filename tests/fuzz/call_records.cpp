// call_records.cpp: records of generic calls, as the bytes choose (tests/abi/mutate_call.h): the first one the
// function, the others up to eight changes of a call that would succeed. It is refused with every byte of its memory as
// it was, or succeeds within its buffers.
#include <cstddef>
#include <cstdint>

#include "compiler/support/check.h"
#include "tests/abi/mutate_call.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace abi_test;
  constexpr size_t kMostChanges = 8;
  size_t at = 0;
  Mutator mutator([&] { return at < size ? uint32_t(data[at++]) : 0U; });
  const Form& form = kForms[mutator.pick(std::size(kForms))];
  Call call = form.make();
  for (size_t i = 0; i < kMostChanges && at < size; ++i) mutator.mutate(call, form.num_in, form.num_out);
  const int32_t status = call.run();
  if (status == RLX_OK)
    RELAXC_CHECK(call.succeeds(), "a call that succeeded wrote beyond its buffers");
  else
    RELAXC_CHECK(status < RLX_INDEX_RANGE && call.refused(status), "a call that was refused left its memory changed");
  return 0;
}
