#include "pkg/lab/validate.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using api::Json;
using validation::Problem;

// One step of a path such as spec.containers[0].resources.requests[memory].
struct Step {
  std::string_view name;
  bool bracket = false;
};

// Splits a path at dots and brackets.
std::vector<Step> StepsOf(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.front() == '[') {
      size_t end = std::min(path.find(']'), path.size() - 1);
      steps.push_back({path.substr(1, end - 1), true});
      path.remove_prefix(end + 1);
    } else if (path.front() == '.') {
      path.remove_prefix(1);
    } else {
      size_t end = std::min(path.find_first_of(".["), path.size());
      steps.push_back({path.substr(0, end), false});
      path.remove_prefix(end);
    }
  }
  return steps;
}

// Returns the value at a path, or the last existing one on the way.
Json ValueAt(Json j, std::string_view path) {
  for (const Step& step : StepsOf(path)) {
    Json next;
    size_t index = 0;
    if (step.bracket && j.IsArray() && absl::SimpleAtoi(util::ToAbsl(step.name), &index)) {
      size_t i = 0;
      for (auto child : j.Children()) {
        if (i++ == index) next = child.value;
      }
    } else {
      next = j.Find(step.name);
    }
    if (next.IsNull() && next.begin_offset() == 0) return j;
    j = next;
  }
  return j;
}

// Returns the path without indices: the same mistake in two containers is of one kind.
std::string WithoutIndexes(std::string_view path) {
  std::string out;
  for (const Step& step : StepsOf(path)) {
    size_t index = 0;
    if (step.bracket && absl::SimpleAtoi(util::ToAbsl(step.name), &index)) continue;
    absl::StrAppend(&out, out.empty() ? "" : ".", util::ToAbsl(step.name));
  }
  return out;
}

// Returns whether the scheduler honours this later field in every release, because ignoring it would do harm.
bool IsHonouredEverywhere(std::string_view field) {
  return field == "spec.schedulingGates" || field == "spec.preemptionPolicy" || field == "spec.overhead" ||
         field == "spec.initContainers.restartPolicy" || field.ends_with(".matchFields");
}

// Returns whether a pod may have to wait because of this later field (scheduler::PodField).
bool MayDemand(std::string_view field) {
  return field == "spec.topologySpreadConstraints" || field == "spec.volumes.ephemeral" ||
         field.ends_with(".namespaceSelector");
}

std::string NameOf(Json object) {
  Json meta = object.Find("metadata");
  std::string_view ns = meta.Find("namespace").Text(), name = meta.Find("name").Text();
  return absl::StrCat(util::ToAbsl(ns), ns.empty() ? "" : "/", util::ToAbsl(name));
}

// Returns whether the text is right as the name of a pod or of a node, as a uid and as the value of a label, so that no
// rule can tell it from another one like it.
bool IsPlainName(std::string_view s) {
  constexpr size_t kLongest = 63;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (s.empty() || s.size() > kLongest || !plain(s.front()) || !plain(s.back())) return false;
  return std::all_of(s.begin(), s.end(), [&](char c) { return plain(c) || c == '-'; });
}

// Appends the text of an object without the values that are plain names: metadata.name and uid, the label
// kubernetes.io/hostname, and spec.nodeName. Nothing stands in their places, not even quotes, so the text of a whole
// object cannot be the same.
class NamelessText {
 public:
  NamelessText(Json object, std::string* out) : object_(object), source_(object.CompactSource()), out_(out) {}

  void Append() {
    for (auto [key, value] : object_.Children()) {
      if (key == "metadata") Metadata(value);
      if (key == "spec") LeaveOut(value, "nodeName");
    }
    out_->append(source_.substr(taken_));
  }

 private:
  void Metadata(Json metadata) {
    for (auto [key, value] : metadata.Children()) {
      if (key == "name" || key == "uid") LeaveOut(value);
      if (key == "labels") LeaveOut(value, "kubernetes.io/hostname");
    }
  }
  void LeaveOut(Json object, std::string_view member) {
    for (auto [key, value] : object.Children()) {
      if (key == member) LeaveOut(value);
    }
  }
  // Values are left out in the order of the text.
  void LeaveOut(Json value) {
    if (!value.IsString() || !IsPlainName(value.Text())) return;
    const size_t from = value.begin_offset() - object_.begin_offset();
    out_->append(source_.substr(taken_, from - taken_));
    taken_ = value.end_offset() - object_.begin_offset();
  }

  const Json object_;
  const std::string_view source_;
  std::string* const out_;
  size_t taken_ = 0;  // how much of the source has been appended or left out
};

}  // namespace

bool FaultlessObjects::Has(Json object, std::string_view kind) {
  text_.clear();
  if (std::string_view own = object.FindExact("kind").Text(); !own.empty()) kind = own;
  if ((kind != "Pod" && kind != "Node") || object.CompactSource().empty()) return false;
  text_ = kind;
  NamelessText(object, &text_).Append();
  return texts_.contains(text_);
}

void FaultlessObjects::Remember() {
  constexpr size_t kMostBytes = 16 << 20;
  if (text_.empty()) return;
  if (bytes_ + text_.size() > kMostBytes) {
    texts_.clear();
    bytes_ = 0;
  }
  if (texts_.insert(text_).second) bytes_ += text_.size();
}

Validator::Weight Validator::WeightOf(const validation::Problem& p) {
  if (p.kind == Problem::Kind::kIgnoredField) return Weight::kIgnored;
  const bool names = p.path == "metadata.name" || p.path == "metadata.generateName" || p.path == "metadata.namespace";
  return names && p.kind == Problem::Kind::kRefused ? Weight::kName : Weight::kMistake;
}

// In release 1.10, fields of later releases that it honours anyway are not reported, and those for which a pod may have
// to wait get a message of their own.
bool Validator::Check(Json object, std::string_view kind, std::string_view version,
                      const std::function<std::string(size_t)>& place) {
  if (mode_ == Validate::kOff || !object.IsObject() || faultless_.Has(object, kind)) return false;
  validation::Value value = validation::FromJson(object);
  if (value.Str("kind").empty()) {
    value.Set("kind", validation::Value::String(kind));
    if (value.Str("apiVersion").empty()) value.Set("apiVersion", validation::Value::String(version));
  }
  const std::string shown_kind(value.Str("kind"));
  std::vector<Problem> problems = CheckObject(validation::Catalog::Of(release_), value);
  if (problems.empty()) faultless_.Remember();
  for (Problem& p : problems) {
    std::string field = WithoutIndexes(p.path);
    // The pods of a workload are as its template.
    constexpr std::string_view kTemplate = "spec.template.";
    const bool of_template = field.starts_with(kTemplate);
    if (of_template) field.erase(0, kTemplate.size());
    if (p.kind == Problem::Kind::kIgnoredField && (shown_kind == "Pod" || of_template)) {
      if (IsHonouredEverywhere(field)) continue;
      if (MayDemand(field)) {
        p.message = absl::StrCat(p.message.substr(0, p.message.find(';')),
                                 ", which the emulated release does not understand; a pod that demands something with "
                                 "it stays pending (unless --ignore-unknown-fields is given)");
      }
    }
    Take(absl::StrCat(shown_kind, "\n", static_cast<int>(p.kind), "\n", WithoutIndexes(p.path)), WeightOf(p), [&] {
      return absl::StrCat(place(ValueAt(object, p.path).begin_offset()), ": ", shown_kind, " \"", NameOf(object),
                          "\": ", p.path, p.path.empty() ? "" : ": ", p.message);
    });
  }
  return true;
}

void Validator::Add(const std::string& place, const std::string& what, const std::string& message) {
  if (mode_ == Validate::kOff) return;
  Take(what, Weight::kMistake, [&] { return absl::StrCat(place, ": ", message); });
}

void Validator::Take(const std::string& key, Weight weight, const std::function<std::string()>& text) {
  if ((mode_ == Validate::kStrict && weight != Weight::kIgnored) ||
      (mode_ == Validate::kNames && weight == Weight::kName)) {
    errors_.push_back(text());
    return;
  }
  Group& group = groups_[key];
  if (group.times++ > 0) return;
  order_.push_back(key);
  group.first = text();
}

std::vector<std::string> Validator::Warnings() const {
  constexpr size_t kMost = 20;
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(order_.size(), kMost); ++i) {
    const Group& g = groups_.at(order_[i]);
    out.push_back(absl::StrCat("warning: ", g.first,
                               g.times > 1 ? absl::StrCat(" (and ", g.times - 1, " more of this kind)") : ""));
  }
  if (order_.size() > kMost) {
    out.push_back(absl::StrCat("warning: and ", order_.size() - kMost,
                               " other kinds of mistakes (--validate=strict lists all of them)"));
  }
  return out;
}

std::vector<std::string> Validator::Errors() const {
  return errors_;
}

}  // namespace berth::lab
