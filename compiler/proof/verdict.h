// verdict.h: what became of the claims about one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relaxc::proof {

/// kRefuted: there are values of the symbols for which the claim is wrong. kUndecided: neither was found.
enum class Verdict : uint8_t { kProved, kRefuted, kUndecided };

/// The claims about one function, each counted once.
struct Claims {
  std::string function;
  size_t proved = 0;
  std::vector<std::string> refuted, undecided;  ///< what was claimed, and why it is not proved

  void add(Verdict verdict, std::string text) {
    if (verdict == Verdict::kProved)
      ++proved;
    else
      (verdict == Verdict::kRefuted ? refuted : undecided).push_back(std::move(text));
  }
};

}  // namespace relaxc::proof
