// Reports what an API server would refuse in an input, and what looks like a mistake, each with its place.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/validation/check.h"

namespace berth::lab {

enum class Validate {
  kOff,
  kWarn,    // one warning for each kind of mistake, with its number and first place
  kStrict,  // every mistake is an error
};

// Collects the mistakes in the objects of an input.
class Validator {
 public:
  Validator(Validate mode, validation::Release release) : mode_(mode), release_(release) {}

  // Checks one object. `kind` is the kind of list elements that do not name theirs. `place` converts an offset to
  // "FILE:LINE:COLUMN"; it is called only for what is reported.
  void Check(api::Json object, std::string_view kind, const std::function<std::string(size_t offset)>& place);
  // Adds a mistake that only the whole input reveals, such as a node that does not exist. `place` is "FILE:LINE".
  void Add(const std::string& place, const std::string& what, const std::string& message);

  // With kWarn, all mistakes are warnings; with kStrict, errors. Fields that the release ignores are warnings in both
  // cases.
  std::vector<std::string> Warnings() const;
  std::vector<std::string> Errors() const;

 private:
  struct Group {
    int64_t times = 0;
    std::string first;
  };
  // Records a mistake. Those with the same key are reported together.
  void Take(const std::string& key, bool ignored, const std::function<std::string()>& text);

  const Validate mode_;
  const validation::Release release_;  // the release whose API server's rules apply
  std::vector<std::string> order_;     // the keys of groups_ in order of appearance
  std::map<std::string, Group> groups_;
  std::vector<std::string> errors_;
};

}  // namespace berth::lab
