// check_certificate.cpp: reads a certificate, which may be damaged, and compares hashes.
#include "compiler/driver/certificate/check_certificate.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/driver/certificate/certificate.h"
#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class FileCheck {
 public:
  FileCheck(const std::string& folder, const std::vector<std::string>& files, Diagnostics& diag)
      : folder_(folder), files_(files), diag_(diag) {}

  Result<std::string> run() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(const relax::FileRef file, relax::map_file((folder_ / kCertificateFile).string(), nullptr, diag));
    const std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    const Json record = Json::parse(unsealed(text), nullptr, false);
    if (record.is_discarded()) return refuse(file->path(), "has changed since it was written: its seal is wrong");
    try {  // whoever writes a certificate can seal it
      return compared(record, file->path());
    } catch (const Json::exception& error) {
      return refuse(file->path(), fmt::format("lacks what a certificate has: {}", error.what()));
    }
  }

 private:
  Result<std::string> compared(const Json& record, const std::string& path) {
    if (record.value("schema", "") != "relaxc certificate" || record.value("version", 0) != kCertificateVersion)
      return refuse(path, fmt::format("is not a certificate of version {}", kCertificateVersion));
    compare(record.at("page"), {folder_ / kCertificatePage});
    for (const char* list : {"inputs", "outputs"})
      for (const Json& one : record.at(list)) compare(one, candidates(one.at("file").get<std::string>()));
    if (diag_.has_errors()) return diag_.failed();
    return std::move(agreed_);
  }

  Failure refuse(const std::string& path, const std::string& why) {
    return diag_.error(nullptr, Kind::io, "{} {}", path, why);
  }

  /// Returns the given files of this name, or else the one beside the folder of the certificate.
  std::vector<fs::path> candidates(const std::string& name) const {
    std::vector<fs::path> found;
    for (const std::string& file : files_)
      if (fs::path(file).filename() == name) found.emplace_back(file);
    if (found.empty()) found.push_back(fs::absolute(folder_ / "").parent_path().parent_path() / name);
    return found;
  }

  void compare(const Json& record, const std::vector<fs::path>& paths) {
    const std::string name = record.at("file").get<std::string>(), wanted = record.at("sha256").get<std::string>();
    std::string found;
    for (const fs::path& path : paths) {
      Diagnostics unheard;
      const Result<relax::FileRef> file = relax::map_file(path.string(), nullptr, unheard);
      if (file) found = sha256_text(**file);
      if (found == wanted) return void(agreed_ += fmt::format("{}  {}\n", wanted, printable(name)));
    }
    if (found.empty())
      (void)refuse(name, "is missing: name it, or put it beside the folder of the certificate");
    else
      (void)refuse(name, fmt::format("is another file: its SHA-256 is {} and not {}", found, wanted));
  }

  fs::path folder_;
  const std::vector<std::string>& files_;
  Diagnostics& diag_;
  std::string agreed_;
};

}  // namespace

Result<std::string> check_certificate(const std::string& folder, const std::vector<std::string>& files,
                                      Diagnostics& diag) {
  return FileCheck(folder, files, diag).run();
}

}  // namespace relaxc::driver
