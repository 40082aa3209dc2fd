// document.h: a text that an editor has open.
#pragma once

#include <memory>
#include <string>

#include "compiler/language_server/line_map.h"
#include "compiler/language_server/name_index.h"

namespace relaxc::language_server {

/// What a text is, by its name and its beginning.
enum class Language { kRelax, kRelay, kSchedules };
Language language_of(const std::string& path, const std::string& text);

/// Returns the path of a file's URI, `file:///home/a%20b.relax`; another URI as it is.
std::string path_of_uri(const std::string& uri);

struct Document {
  Document(std::string at, std::string content)
      : uri(std::move(at)),
        path(path_of_uri(uri)),
        text(std::move(content)),
        language(language_of(path, text)),
        lines(text) {}
  Document(const Document&) = delete;

  const std::string uri, path, text;
  const Language language;
  const LineMap lines;
  std::unique_ptr<NameIndex> names;  ///< null unless `language` is kRelax
  int64_t version = 0;
  bool checked = false;  ///< whether the problems that all passes find were published
};

}  // namespace relaxc::language_server
