// foreign_text.h: recognizes text that is no program for relaxc: scripts, descriptions of networks, code.
#pragma once

#include <optional>
#include <string_view>

namespace relaxc::api {

/// What a text is, and how to get a model from it; both continue "'FILE' is …; …".
struct ForeignText {
  const char *what, *way;
};

/// Returns what `text` is if it is certainly no program in the text IR or Relay; nullopt if it may be one.
std::optional<ForeignText> foreign_text(std::string_view text);

}  // namespace relaxc::api
