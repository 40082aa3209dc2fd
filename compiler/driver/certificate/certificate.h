// certificate.h: `--certificate=DIR`: what a safety case needs to know of the very files that were written.
//
// Two files: a record in JSON for programs, whose fields docs/safety.md describes, and a page in Markdown for people.
// Both depend on the input, the flags and the compiler alone; neither has a folder or a time. The record ends with a
// seal, the SHA-256 of all that precedes it, and has the hash of the page, so that a change in one place is found by
// check_certificate(). A seal is no signature: whoever needs one signs the record.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/certificate/code_places.h"
#include "compiler/driver/options.h"
#include "compiler/driver/report/proofs.h"

namespace relaxc::driver {

inline constexpr const char* kCertificateFile = "certificate.json";
inline constexpr const char* kCertificatePage = "certificate.md";
inline constexpr int kCertificateVersion = 1;  ///< changes if a field changes its meaning or goes

/// What a certificate is about. The artifact was observed and written; `proofs` has both parts.
struct Certified {
  const Options& options;
  const Artifact& artifact;
  const frontend::Findings& findings;
  const Proofs& proofs;
  std::vector<WrittenFile> written;  ///< all outputs, before they are at their paths
};

struct Certificate {
  std::string json, page;
};

/// Makes both files. Fails (io) if a file cannot be read again.
Result<Certificate> make_certificate(const Certified& subject, Diagnostics& diag);

/// Returns the text of a record with its seal; the inverse returns the record without the seal, or an empty text if the
/// seal is missing or wrong.
std::string sealed(const std::string& json);
std::string unsealed(const std::string& text);

/// Returns the SHA-256 of a file as 64 hexadecimal digits, as `sha256sum` prints it.
std::string sha256_text(const relax::MappedFile& file);
std::string sha256_text(const std::string& bytes);

}  // namespace relaxc::driver
