// reduce.h: a failing program made small.
#pragma once

#include <functional>
#include <string>

namespace relaxc::property {

/// Drops statements, functions, results and annotations of a printed module for as long as `fails` holds of what is
/// left. `fails` is asked for ill-formed texts as well.
std::string reduce(std::string text, const std::function<bool(const std::string&)>& fails);

}  // namespace relaxc::property
