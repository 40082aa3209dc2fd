// reduce.cpp: edits of the text, line by line.
//
// The parser says which edits leave a program, so that nothing here has to know the language: a line goes with the
// lines that are indented deeper, and the value that it binds is replaced by a name that it used.
#include "tests/property/reduce.h"

#include <regex>
#include <sstream>
#include <vector>

namespace relaxc::property {
namespace {

using Lines = std::vector<std::string>;

size_t indent(const std::string& line) {
  size_t at = line.find_first_not_of(' ');
  return at == std::string::npos ? 1000 : at;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class Reducer {
 public:
  Reducer(std::string text, const std::function<bool(const std::string&)>& fails) : fails_(fails) {
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  }

  std::string run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t at = lines_.size(); at-- > 0;) {
        if (at >= lines_.size()) continue;
        changed |= drop_suite(at) || unwrap(at) || replace_value(at) || drop_result(at) || drop_annotation(at);
      }
    }
    return joined(lines_);
  }

 private:
  bool keep(Lines lines) {
    if (!fails_(joined(lines))) return false;
    lines_ = std::move(lines);
    return true;
  }

  size_t suite_end(size_t at) const {
    size_t end = at + 1;
    while (end < lines_.size() && indent(lines_[end]) > indent(lines_[at])) ++end;
    return end;
  }

  bool drop_suite(size_t at) {
    Lines less = lines_;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(at),
               less.begin() + static_cast<std::ptrdiff_t>(suite_end(at)));
    return keep(std::move(less));
  }

  /// A dataflow block becomes its statements.
  bool unwrap(size_t at) {
    if (lines_[at].find("with R.dataflow") == std::string::npos) return false;
    Lines flat = lines_;
    size_t end = suite_end(at);
    for (size_t k = at + 1; k < end; ++k) flat[k].erase(0, 4);
    flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(end) - 1);
    flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(at));
    return keep(std::move(flat));
  }

  /// `y: … = R.op(x, …)` goes, and y is x.
  bool replace_value(size_t at) {
    static const std::regex kBinding(R"(^ *(\w+)(: [^=]*)? = (.*)$)"), kName(R"([A-Za-z_]\w*)");
    std::smatch binding;
    std::string line = lines_[at];
    if (!std::regex_match(line, binding, kBinding)) return false;
    std::string target = binding[1], value = binding[3];
    for (auto it = std::sregex_iterator(value.begin(), value.end(), kName); it != std::sregex_iterator(); ++it) {
      std::string name = it->str();
      if (name == "R" || name == "T" || name == "cls" || name == target) continue;
      Lines less;
      std::regex whole("\\b" + target + "\\b");
      for (size_t k = 0; k < lines_.size(); ++k)
        if (k != at) less.push_back(k > at ? std::regex_replace(lines_[k], whole, name) : lines_[k]);
      if (keep(std::move(less))) return true;
    }
    return false;
  }

  bool drop_result(size_t at) {
    size_t start = lines_[at].find("return (");
    if (start == std::string::npos) return false;
    std::string inside = lines_[at].substr(start + 8, lines_[at].size() - start - 9);
    std::vector<std::string> items;
    std::stringstream stream(inside);
    for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
    for (const std::string& item : items) {
      Lines less = lines_;
      less[at] = lines_[at].substr(0, start) + "return " +
                 item.substr(item.find_first_not_of(' ') == std::string::npos ? 0 : item.find_first_not_of(' '));
      if (keep(std::move(less))) return true;
    }
    return false;
  }

  bool drop_annotation(size_t at) {
    static const std::regex kResult(R"( -> .*:$)"), kValue(R"(^( *\w+): [^=]* = )");
    std::string bare = std::regex_replace(lines_[at], kResult, ":");
    if (bare == lines_[at]) bare = std::regex_replace(lines_[at], kValue, "$1 = ");
    if (bare == lines_[at]) return false;
    Lines less = lines_;
    less[at] = bare;
    return keep(std::move(less));
  }

  const std::function<bool(const std::string&)>& fails_;
  Lines lines_;
};

}  // namespace

std::string reduce(std::string text, const std::function<bool(const std::string&)>& fails) {
  return Reducer(std::move(text), fails).run();
}

}  // namespace relaxc::property
