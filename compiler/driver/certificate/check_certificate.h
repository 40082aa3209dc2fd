// check_certificate.h: `--check-certificate DIR`: whether files are those that a certificate is about.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::driver {

/// Checks the seal of the record in `folder`, the hash of its page, and the hash of every input and output. A file is
/// one of `files` with the recorded name, or else the one beside the folder. Reports everything that is missing or
/// differs as errors; returns a line for each file that agrees.
Result<std::string> check_certificate(const std::string& folder, const std::vector<std::string>& files,
                                      Diagnostics& diag);

}  // namespace relaxc::driver
