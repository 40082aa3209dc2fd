// tvm_layout.cpp: layouts as permutations.
#include "frontends/relax/tvm/tvm_layout.h"

namespace relaxc::frontend {

size_t spatial_dims(const std::string& name) {
  for (char digit : name)
    if (digit >= '1' && digit <= '3') return static_cast<size_t>(digit - '0');
  return 2;
}

Result<TvmCall::Ints> layout(TvmCall& c, std::string_view param, std::string_view lead, const std::string& fallback) {
  RELAXC_TRY(std::string written, c.text(param, fallback));
  if (written.empty()) written = fallback;
  std::string wanted = std::string(lead) + std::string("DHW").substr(3 - spatial_dims(c.name));
  TvmCall::Ints axes;
  for (char dim : wanted) {
    size_t at = written.find(dim);
    if (at == std::string::npos || written.size() != wanted.size())
      return c.error(param, Kind::unsupported, "the layout \"{}\" is no order of {}", written, wanted);
    axes.push_back(static_cast<int64_t>(at));
  }
  return axes;
}

TvmCall::Ints inverse(const TvmCall::Ints& axes) {
  TvmCall::Ints back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return back;
}

std::string channels_first(const TvmCall& c) {
  return "NC" + std::string("DHW").substr(3 - spatial_dims(c.name));
}

}  // namespace relaxc::frontend
