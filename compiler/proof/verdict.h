// verdict.h: the results of checking claims about a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relaxc::proof {

/// kRefuted: values of the symbols were found for which the claim is wrong. kUndecided: nothing was found.
enum class Verdict : uint8_t { kProved, kRefuted, kUndecided };

/// The claims about one function and what was found for each.
struct Claims {
  std::string function;
  size_t proved = 0;
  std::vector<std::string> refuted, undecided;  ///< the claim, and why it is not proved

  void add(Verdict verdict, std::string text) {
    if (verdict == Verdict::kProved)
      ++proved;
    else
      (verdict == Verdict::kRefuted ? refuted : undecided).push_back(std::move(text));
  }
};

}  // namespace relaxc::proof
