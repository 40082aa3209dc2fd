// definitions.h: what a text defines: functions, data types and their constructors.
//
// The order of a module has no meaning, so all definitions are found before a function is read. A polymorphic function
// becomes one function, an instance, for each list of types that calls give it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/relay/text/value_types.h"

namespace relaxc::relay {

/// Where a function of the module is in the text.
struct FunctionDefinition {
  size_t begin = 0, end = 0;  ///< numbers of tokens
  std::set<std::string> mentions;
  std::vector<std::string> type_params;
};

struct Constructor {
  std::string name, type;
  Place place;
  size_t tag = 0;
  std::vector<size_t> fields;  ///< the tokens where their types begin
};

struct DataType {
  Place place;
  std::vector<std::string> params;
  std::vector<std::string> constructors;
};

class Definitions {
 public:
  /// A polymorphic function for some types.
  struct Instance {
    std::string function, name;
    TypeNames types;
  };

  Definitions() = default;
  Definitions(const Definitions&) = delete;

  /// False if there is a function of that name.
  bool add_function(const std::string& name, FunctionDefinition function);
  /// Null if there is a type of that name.
  DataType* add_type(const std::string& name, Place place);
  /// False if there is a constructor of that name.
  bool add_constructor(Constructor constructor);

  /// Null if there is none.
  const FunctionDefinition* function(const std::string& name) const;
  const DataType* type(const std::string& name) const;
  const Constructor* constructor(const std::string& name) const;
  /// Functions in the order of the text.
  const std::vector<std::string>& functions() const { return order_; }
  /// Functions that @main needs, or all if there is no @main.
  std::set<std::string> reachable() const;

  /// The instance for this key, which is the function and its types as text; its name is empty if it is new.
  Instance& instance(const std::string& key, const std::string& function, const TypeNames& types);
  /// In the order in which calls need them; reading one may add others.
  const std::deque<Instance>& instances() const { return instances_; }

 private:
  std::map<std::string, FunctionDefinition> functions_;
  std::vector<std::string> order_;
  std::map<std::string, DataType> types_;
  std::map<std::string, Constructor> constructors_;
  std::deque<Instance> instances_;
  std::map<std::string, size_t> instance_of_;
};

}  // namespace relaxc::relay
