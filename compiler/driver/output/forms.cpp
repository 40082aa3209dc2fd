// forms.cpp: the one table of forms, their names and their endings.
#include "compiler/driver/output/forms.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compiler/support/check.h"

namespace relaxc::driver {
namespace {

struct Form {
  Emit emit;
  const char* name;     ///< as --emit has it
  const char* endings;  ///< with blanks between; a program's may be missing
};

constexpr Form kForms[] = {
    {Emit::kObject, "obj", ".o .obj"},
    {Emit::kArchive, "ar", ".a .lib"},
    {Emit::kAssembly, "asm", ".s"},
    {Emit::kLLVM, "llvm", ".ll"},
    {Emit::kBitcode, "bc", ".bc"},
    {Emit::kC, "c", ".c"},
    {Emit::kSharedLibrary, "shared", ".so .dll .dylib .wasm"},
    {Emit::kText, "relax", ".relax"},
    {Emit::kDot, "dot", ".dot"},
    {Emit::kExecutable, "exe", ".exe"},
};

bool has_ending(const Form& form, std::string_view ending) {
  std::string_view all = form.endings;
  while (true) {
    size_t blank = std::min(all.find(' '), all.size());
    if (all.substr(0, blank) == ending) return true;
    if (blank == all.size()) return false;
    all.remove_prefix(blank + 1);
  }
}

}  // namespace

std::optional<Emit> form_of_path(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (const Form& form : kForms)
    if (has_ending(form, ending) || (ending.empty() && form.emit == Emit::kExecutable)) return form.emit;
  return std::nullopt;
}

Emit form_of_name(const std::string& name) {
  const Form* form = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.name == name; });
  RELAXC_CHECK(form != std::end(kForms), "no form has this name");
  return form->emit;
}

std::vector<std::string> names_of_forms() {
  std::vector<std::string> names;
  for (const Form& form : kForms) names.emplace_back(form.name);
  return names;
}

std::string endings_of_forms() {
  std::string text;
  for (const Form& form : kForms)
    if (form.emit != Emit::kExecutable) text += (text.empty() ? "" : " ") + std::string(form.endings);
  return text + ", none (or .exe) for a program that runs the model on files";
}

}  // namespace relaxc::driver
