// definitions.cpp: what a text defines, by name.
#include "frontends/relay/text/definitions.h"

namespace relaxc::relay {

namespace {

template <typename Value>
const Value* find(const std::map<std::string, Value>& in, const std::string& name) {
  auto known = in.find(name);
  return known == in.end() ? nullptr : &known->second;
}

}  // namespace

bool Definitions::add_function(const std::string& name, FunctionDefinition function) {
  const bool fresh = functions_.emplace(name, std::move(function)).second;
  if (fresh) order_.push_back(name);
  return fresh;
}

DataType* Definitions::add_type(const std::string& name, Place place) {
  auto [entry, fresh] = types_.emplace(name, DataType{place, {}, {}});
  return fresh ? &entry->second : nullptr;
}

bool Definitions::add_constructor(Constructor constructor) {
  std::string name = constructor.name;
  return constructors_.emplace(std::move(name), std::move(constructor)).second;
}

const FunctionDefinition* Definitions::function(const std::string& name) const {
  return find(functions_, name);
}

const DataType* Definitions::type(const std::string& name) const {
  return find(types_, name);
}

const Constructor* Definitions::constructor(const std::string& name) const {
  return find(constructors_, name);
}

std::set<std::string> Definitions::reachable() const {
  if (functions_.count("main") == 0) return {order_.begin(), order_.end()};
  std::set<std::string> reached{"main"};
  std::vector<std::string> open{"main"};
  while (!open.empty()) {
    std::string function = std::move(open.back());
    open.pop_back();
    for (const std::string& other : functions_.at(function).mentions)
      if (functions_.count(other) != 0 && reached.insert(other).second) open.push_back(other);
  }
  return reached;
}

Definitions::Instance& Definitions::instance(const std::string& key, const std::string& function,
                                             const TypeNames& types) {
  auto [known, fresh] = instance_of_.emplace(key, instances_.size());
  if (fresh) instances_.push_back({function, {}, types});
  return instances_[known->second];
}

}  // namespace relaxc::relay
