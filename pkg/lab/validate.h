// What an API server would refuse in an input, and what looks like a mistake, each with its place.
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
  kWarn,    // one warning for each kind of mistake, with how often it occurs and where first
  kStrict,  // every mistake is an error
};

// Collects what is wrong with the objects of an input.
class Validator {
 public:
  Validator(Validate mode, validation::Release release) : mode_(mode), release_(release) {}

  // `kind` is for list elements that carry none. `place` turns an offset into "FILE:LINE:COLUMN"; it is called only for
  // what is reported.
  void Check(api::Json object, std::string_view kind, const std::function<std::string(size_t offset)>& place);
  // A mistake that only the whole input shows, such as a node that does not exist. `place`: "FILE:LINE".
  void Add(const std::string& place, const std::string& what, const std::string& message);

  // With kWarn the warnings, with kStrict all mistakes; fields that the release ignores are warnings in both.
  std::vector<std::string> Warnings() const;
  std::vector<std::string> Errors() const;

 private:
  struct Group {
    int64_t times = 0;
    std::string first;
  };
  void Take(const std::string& key, bool ignored, const std::function<std::string()>& text);

  const Validate mode_;
  const validation::Release release_;  // whose API server's rules apply
  std::vector<std::string> order_;     // keys of groups_, as they came
  std::map<std::string, Group> groups_;
  std::vector<std::string> errors_;
};

}  // namespace berth::lab
