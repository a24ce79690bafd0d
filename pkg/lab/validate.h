// Reports what an API server would refuse in an input, and what looks like a mistake, each with its place.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/validation/check.h"

namespace berth::lab {

enum class Validate {
  kOff,
  kWarn,    // one warning for each kind of mistake, with its number and first place
  kNames,   // the same, but names and namespaces that no object can have are errors
  kStrict,  // every mistake is an error
};

// Remembers pods and nodes without a mistake, so that one that differs from such an object only in its names need not
// be checked: nearly all replicas of a pod, and nodes of one make. A name counts as different only if it is one that is
// right wherever it stands. Some 16 MiB at most; one thread.
class FaultlessObjects {
 public:
  // Returns whether the object has no mistake because one like it has none. False if that is not known.
  bool Has(api::Json object, std::string_view kind);
  // Notes that the object that was asked for last has no mistake.
  void Remember();

 private:
  absl::flat_hash_set<std::string> texts_;
  size_t bytes_ = 0;  // of all texts
  std::string text_;  // of the object that was asked for last; empty if it cannot be remembered
};

// Collects the mistakes in the objects of an input.
class Validator {
 public:
  Validator(Validate mode, release::Version release) : mode_(mode), release_(release) {}

  // Checks one object. `kind` and `version` are those of list elements that do not name theirs. `place` converts an
  // offset to "FILE:LINE:COLUMN"; it is called only for what is reported. Returns false if the object was not looked
  // at, because nothing is validated or one like it is known to have no mistake.
  bool Check(api::Json object, std::string_view kind, std::string_view version,
             const std::function<std::string(size_t offset)>& place);
  // Adds a mistake that only the whole input reveals, such as a node that does not exist. `place` is "FILE:LINE".
  void Add(const std::string& place, const std::string& what, const std::string& message);

  // With kWarn, all mistakes are warnings; with kStrict, errors; with kNames, those of names are errors. Fields that
  // the release ignores are warnings in both cases.
  std::vector<std::string> Warnings() const;
  std::vector<std::string> Errors() const;

 private:
  struct Group {
    int64_t times = 0;
    std::string first;
  };
  enum class Weight : uint8_t {
    kIgnored,  // the release ignores a field: a warning in every mode
    kMistake,
    kName,  // a name that no object can have
  };
  static Weight WeightOf(const validation::Problem& p);
  // Records a mistake. Those with the same key are reported together.
  void Take(const std::string& key, Weight weight, const std::function<std::string()>& text);

  const Validate mode_;
  const release::Version release_;  // the release whose API server's rules apply
  std::vector<std::string> order_;  // the keys of groups_ in order of appearance
  std::map<std::string, Group> groups_;
  std::vector<std::string> errors_;
  FaultlessObjects faultless_;
};

}  // namespace berth::lab
