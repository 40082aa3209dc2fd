// known_closure.cpp: builds and walks trees of known function values.
#include "compiler/transform/graph/functions/known_closure.h"

namespace relaxc {

KnownRef plain(relax::Value* value) {
  return std::make_shared<Known>(Known{Known::kPlain, value, {}, {}});
}

KnownRef known_closure(std::string callee, std::vector<KnownRef> captured) {
  return std::make_shared<Known>(Known{Known::kClosure, nullptr, std::move(callee), std::move(captured)});
}

KnownRef known_choice(relax::Value* condition, KnownRef yes, KnownRef no) {
  return std::make_shared<Known>(Known{Known::kChoice, condition, {}, {std::move(yes), std::move(no)}});
}

KnownRef known_tuple(std::vector<KnownRef> fields) {
  return std::make_shared<Known>(Known{Known::kTuple, nullptr, {}, std::move(fields)});
}

std::string form_of(const Known& known) {
  if (known.kind == Known::kPlain) return "_";
  std::string text = known.kind == Known::kClosure ? known.callee : known.kind == Known::kTuple ? "," : "?";
  // A condition may be a tensor or a scalar of the Relax level; the two are passed in different ways.
  if (known.kind == Known::kChoice) text += known.value->info->as<relax::PrimInfo>() != nullptr ? "p" : "t";
  text += '(';
  for (const KnownRef& part : known.parts) text += form_of(*part) + ';';
  return text + ')';
}

void add_values(const Known& known, std::vector<relax::Value*>& values) {
  if (known.value != nullptr) values.push_back(known.value);
  for (const KnownRef& part : known.parts) add_values(*part, values);
}

KnownRef with_values(const Known& known, const std::function<relax::Value*(relax::Value*)>& next) {
  Known made = known;
  if (known.value != nullptr) made.value = next(known.value);
  for (KnownRef& part : made.parts) part = with_values(*part, next);
  return std::make_shared<Known>(std::move(made));
}

}  // namespace relaxc
