// document.cpp: decodes URIs and recognizes languages.
#include "compiler/language_server/document.h"

namespace relaxc::language_server {
namespace {

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

}  // namespace

Language language_of(const std::string& path, const std::string& text) {
  if (text.rfind("relaxc schedules", 0) == 0 || path.ends_with(".schedules")) return Language::kSchedules;
  return path.ends_with(".relay") || text.rfind("#[version", 0) == 0 ? Language::kRelay : Language::kRelax;
}

std::string path_of_uri(const std::string& uri) {
  constexpr std::string_view kFile = "file://";
  if (uri.rfind(kFile, 0) != 0) return uri;
  std::string path;
  for (size_t i = std::min(uri.find('/', kFile.size()), uri.size()); i < uri.size(); ++i) {
    const int high = i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(uri[i + 2]);
    const bool escape = uri[i] == '%' && high >= 0 && low >= 0 && high + low > 0;
    path += escape ? static_cast<char>(high * 16 + low) : uri[i];
    if (escape) i += 2;
  }
  return path;
}

}  // namespace relaxc::language_server
