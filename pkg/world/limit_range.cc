#include "pkg/world/limit_range.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/amounts.h"

namespace berth::world {
namespace {

constexpr char kLimitRangerAnnotation[] = "kubernetes.io/limit-ranger";

template <typename F>
void EachLimit(const Value& limit_range, F&& f) {
  const Value* limits = limit_range.At({"spec", "limits"});
  if (limits == nullptr) return;
  for (const Value& limit : limits->items) f(limit);
}

// Sets what `list` of the container's resources lacks, and returns the names.
std::vector<std::string> FillIn(const Amounts& defaults, std::string_view which, Value* container) {
  std::vector<std::string> set;
  const Amounts own = AmountsOf(*container, which);
  for (const auto& [name, amount] : defaults) {
    if (own.contains(name)) continue;
    container->Child("resources").Child(which).Set(name, Value::String(amount.String()));
    set.push_back(name);
  }
  return set;
}

// Collects what a LimitRange says of one thing: a container, a pod or a claim.
class LimitCheck {
 public:
  LimitCheck(std::string_view type, const Amounts& requests, const Amounts& limits, std::vector<std::string>* problems)
      : type_(type), requests_(requests), limits_(limits), problems_(problems) {}

  void Minimum(const std::string& name, api::Quantity least) {
    const std::string is = Begin("minimum", name, least);
    auto request = requests_.find(name), limit = limits_.find(name);
    if (request == requests_.end()) {
      problems_->push_back(is + ".  No request is specified");
    } else if (request->second < least) {
      problems_->push_back(absl::StrCat(is, ", but request is ", request->second.String()));
    } else if (limit != limits_.end() && limit->second < least) {
      problems_->push_back(absl::StrCat(is, ", but limit is ", limit->second.String()));
    }
  }
  void Maximum(const std::string& name, api::Quantity most, bool of_requests_only) {
    const std::string is = Begin("maximum", name, most);
    auto request = requests_.find(name), limit = limits_.find(name);
    if (!of_requests_only && limit == limits_.end()) {
      problems_->push_back(is + ".  No limit is specified");
    } else if (of_requests_only && request == requests_.end()) {
      problems_->push_back(is + ".  No request is specified");
    } else if (!of_requests_only && limit->second > most) {
      problems_->push_back(absl::StrCat(is, ", but limit is ", limit->second.String()));
    } else if (request != requests_.end() && request->second > most) {
      problems_->push_back(absl::StrCat(is, ", but request is ", request->second.String()));
    }
  }
  void Ratio(const std::string& name, api::Quantity most) {
    const std::string is =
        absl::StrCat(name, " max limit to request ratio per ", util::ToAbsl(type_), " is ", most.String());
    auto request = requests_.find(name), limit = limits_.find(name);
    if (request == requests_.end() || request->second.Sign() == 0) {
      problems_->push_back(is + ", but no request is specified or request is 0");
      return;
    }
    if (limit == limits_.end() || limit->second.Sign() == 0) {
      problems_->push_back(is + ", but no limit is specified or limit is 0");
      return;
    }
    const double ratio = InMilli(limit->second) / InMilli(request->second);
    constexpr double kMilli = 1000;
    if (ratio * kMilli > InMilli(most)) {
      problems_->push_back(absl::StrFormat("%s, but provided ratio is %f", is, ratio));
    }
  }

 private:
  static double InMilli(api::Quantity amount) {
    constexpr double kMilli = 1000;
    return amount.SaturatesMilliValue() ? kMilli * static_cast<double>(amount.Value())
                                        : static_cast<double>(amount.MilliValue());
  }
  std::string Begin(const char* which, const std::string& name, api::Quantity amount) const {
    return absl::StrCat(which, " ", name, " usage per ", util::ToAbsl(type_), " is ", amount.String());
  }

  std::string_view type_;
  const Amounts& requests_;
  const Amounts& limits_;
  std::vector<std::string>* problems_;
};

void CheckLimit(const Value& limit, const Amounts& requests, const Amounts& limits,
                std::vector<std::string>* problems) {
  const std::string_view type = limit.Str("type");
  LimitCheck check(type, requests, limits, problems);
  for (const auto& [name, amount] : AmountsOf(limit.Find("min"))) check.Minimum(name, amount);
  const bool claim = type == "PersistentVolumeClaim";
  for (const auto& [name, amount] : AmountsOf(limit.Find("max"))) check.Maximum(name, amount, claim);
  for (const auto& [name, amount] : AmountsOf(limit.Find("maxLimitRequestRatio"))) check.Ratio(name, amount);
}

}  // namespace

void CompleteLimitRange(Value* limit_range) {
  Value* limits = limit_range->At({"spec", "limits"});
  if (limits == nullptr) return;
  for (Value& limit : limits->items) {
    if (limit.Str("type") != "Container") continue;
    Amounts by_default = AmountsOf(limit.Find("default")), requested = AmountsOf(limit.Find("defaultRequest"));
    by_default.merge(AmountsOf(limit.Find("max")));
    Amounts fallback = by_default;
    requested.merge(fallback);
    requested.merge(AmountsOf(limit.Find("min")));
    if (!by_default.empty()) limit.Set("default", ToValue(by_default));
    if (!requested.empty()) limit.Set("defaultRequest", ToValue(requested));
  }
}

bool ApplyLimitRange(const Value& limit_range, Value* pod) {
  Amounts limits, requests;
  EachLimit(limit_range, [&](const Value& limit) {
    if (limit.Str("type") != "Container") return;
    for (const auto& [name, amount] : AmountsOf(limit.Find("default"))) limits[name] = amount;
    for (const auto& [name, amount] : AmountsOf(limit.Find("defaultRequest"))) requests[name] = amount;
  });
  std::vector<std::string> notes;
  Value& spec = pod->Child("spec");
  for (std::string_view list : {"containers", "initContainers"}) {
    Value* containers = spec.Find(list);
    if (containers == nullptr) continue;
    const std::string whose = list == "containers" ? " for container " : " for init container ";
    for (Value& c : containers->items) {
      const std::vector<std::string> limited = FillIn(limits, "limits", &c),
                                     requested = FillIn(requests, "requests", &c);
      const std::string name(c.Str("name"));
      if (!requested.empty()) notes.push_back(absl::StrCat(absl::StrJoin(requested, ", "), " request", whose, name));
      if (!limited.empty()) notes.push_back(absl::StrCat(absl::StrJoin(limited, ", "), " limit", whose, name));
    }
  }
  if (notes.empty()) return false;
  const std::string note = absl::StrCat("LimitRanger plugin set: ", absl::StrJoin(notes, "; "));
  pod->Child("metadata").Child("annotations").Set(kLimitRangerAnnotation, Value::String(note));
  return true;
}

std::string LimitRangeRefusal(const Value& limit_range, std::string_view kind, const Value& object) {
  std::vector<std::string> problems;
  const Value& spec = validation::OrEmpty(object.Find("spec"));
  EachLimit(limit_range, [&](const Value& limit) {
    const std::string_view type = limit.Str("type");
    if (kind == "PersistentVolumeClaim" && type == kind) {
      CheckLimit(limit, AmountsOf(spec, "requests"), AmountsOf(spec, "limits"), &problems);
    } else if (kind == "Pod" && type == "Container") {
      EachContainer(spec, [&](const Value& c, bool) {
        CheckLimit(limit, AmountsOf(c, "requests"), AmountsOf(c, "limits"), &problems);
      });
    } else if (kind == "Pod" && type == kind) {
      CheckLimit(limit, OfPod(spec, "requests"), OfPod(spec, "limits"), &problems);
    }
  });
  if (problems.size() == 1) return problems[0];
  return problems.empty() ? std::string() : absl::StrCat("[", absl::StrJoin(problems, ", "), "]");
}

}  // namespace berth::world
