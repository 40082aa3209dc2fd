// certificate_page.h: a certificate as a page in Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace relaxc::driver {

/// Returns the page for a record of certificate.h; it shows what the record says, and nothing else.
std::string certificate_page(const nlohmann::ordered_json& record);

/// Returns a text from a model, which may contain anything, as text of Markdown that has no markup, also in a table.
std::string markdown_text(const std::string& text);

}  // namespace relaxc::driver
