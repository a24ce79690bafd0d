#include "pkg/explain/lacking.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <set>

#include "pkg/explain/output.h"
#include "pkg/util/suggest.h"

namespace berth::explain {
namespace {

using Counts = std::map<std::string, int64_t>;  // how many nodes have it

// A sentence names at most this many alternatives.
constexpr size_t kMostNamed = 3;

// Returns the words of a resource's name without its domain, such as gpu and milli for "example.com/gpu-milli". The
// domain says little about what a resource is.
std::set<std::string> WordsOf(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (char c : name.substr(name.rfind('/') + 1) + " ") {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      word += absl::ascii_tolower(static_cast<unsigned char>(c));
      continue;
    }
    if (word.size() > 1) words.insert(word);
    word.clear();
  }
  return words;
}

// Returns whether the names have a word in common.
bool Alike(const std::string& a, const std::string& b) {
  const auto words = WordsOf(a), others = WordsOf(b);
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return others.contains(w); });
}

std::string OnNodes(const std::string& name, int64_t nodes) {
  return absl::StrCat(name, " on ", Counted(nodes, "node"));
}

// Returns "; there is A on 3 nodes, B on 1 node": resources with a similar name or, if there are none, the most
// frequent.
std::string Instead(const std::string& name, const Counts& there) {
  std::vector<std::pair<std::string, int64_t>> listed;
  for (const auto& entry : there) {
    if (Alike(name, entry.first)) listed.push_back(entry);
  }
  if (listed.empty()) listed.assign(there.begin(), there.end());
  std::stable_sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(listed.size(), kMostNamed); ++i) {
    texts.push_back(OnNodes(listed[i].first, listed[i].second));
  }
  return texts.empty() ? "" : absl::StrCat("; there is ", absl::StrJoin(texts, ", "));
}

// Returns the extended resources of the listed nodes.
Counts ExtendedResources(const scheduler::Cache& cache) {
  Counts counts;
  for (scheduler::Row row : cache.by_name_descending()) {
    for (const auto& [name, amount] : cache.row(row).allocatable.scalars) {
      if (amount > 0) ++counts[name.string()];
    }
  }
  return counts;
}

// Returns the labels of the listed nodes, by key and value.
std::map<std::string, Counts> LabelsOf(const scheduler::Cache& cache) {
  std::map<std::string, Counts> labels;
  for (scheduler::Row row : cache.by_name_descending()) {
    for (const auto& [key, value] : cache.row(row).node->labels) ++labels[key.string()][value.string()];
  }
  return labels;
}

// Returns the sentence about a label that no node has: the values that the key has, or a similar key.
std::string MissingLabel(const std::string& key, const std::string& value,
                         const std::map<std::string, Counts>& labels) {
  const std::string wanted = absl::StrCat("No node has the label ", key, "=", value);
  if (auto values = labels.find(key); values != labels.end()) {
    std::vector<std::pair<int64_t, std::string>> listed;
    for (const auto& [v, nodes] : values->second) listed.emplace_back(-nodes, v);
    std::sort(listed.begin(), listed.end());
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::min(listed.size(), kMostNamed); ++i) {
      texts.push_back(OnNodes(absl::StrCat("\"", listed[i].second, "\""), -listed[i].first));
    }
    return absl::StrCat(wanted, "; ", key, " is ", absl::StrJoin(texts, ", "), ".");
  }
  std::vector<std::string> keys;
  for (const auto& entry : labels) keys.push_back(entry.first);
  const std::string meant = util::DidYouMean(key, keys);
  return absl::StrCat(wanted, ", nor any other value of it", meant.empty() ? "." : absl::StrCat("; ", meant));
}

}  // namespace

std::vector<std::string> ResourcesNoNodeHas(const scheduler::Cache& cache, const api::PodTemplate& pod) {
  std::vector<std::string> out;
  scheduler::TemplateInfo info;
  scheduler::DescribeTemplate(pod, &info);
  if (info.request.scalars.empty()) return out;
  const Counts there = ExtendedResources(cache);
  for (const auto& [name, amount] : info.request.scalars) {
    if (amount > 0 && !there.contains(name.string())) out.push_back(name.string());
  }
  return out;
}

namespace {

// Appends a sentence for each label by which the pod's required affinity or a spread constraint groups nodes and that
// no node has.
void AddMissingKeys(const scheduler::Cache& cache, const api::PodTemplate& pod, std::vector<std::string>* out) {
  std::map<std::string, std::string_view> keys;  // and what names them
  if (pod.affinity.pod) {
    for (const auto& term : pod.affinity.pod->required) keys[term.topology_key.string()] = "podAffinity";
  }
  for (const api::TopologySpreadConstraint& c : pod.spread_constraints) {
    if (c.action == api::TopologySpreadConstraint::Action::kScheduleAnyway) continue;
    keys[c.topology_key.string()] = "topologySpreadConstraints";
  }
  if (keys.empty()) return;
  const auto labels = LabelsOf(cache);
  std::vector<std::string> there;
  for (const auto& entry : labels) there.push_back(entry.first);
  for (const auto& [key, of] : keys) {
    if (labels.contains(key)) continue;
    const std::string meant = util::DidYouMean(key, there);
    out->push_back(absl::StrCat("No node has the label ", key, ", by which the pod's ", std::string(of),
                                " groups nodes", meant.empty() ? "." : absl::StrCat("; ", meant)));
  }
}

}  // namespace

std::vector<std::string> WhatNoNodeHas(const scheduler::Cache& cache, const api::PodTemplate& pod) {
  std::vector<std::string> out;
  if (const std::vector<std::string> missing = ResourcesNoNodeHas(cache, pod); !missing.empty()) {
    const Counts there = ExtendedResources(cache);
    for (const std::string& name : missing)
      out.push_back(absl::StrCat("No node has ", name, Instead(name, there), "."));
  }
  if (!pod.node_selector.empty()) {
    const auto labels = LabelsOf(cache);
    for (const auto& [key, value] : pod.node_selector) {
      auto values = labels.find(key.string());
      if (values != labels.end() && values->second.contains(value.string())) continue;
      out.push_back(MissingLabel(key.string(), value.string(), labels));
    }
  }
  AddMissingKeys(cache, pod, &out);
  return out;
}

std::vector<std::string> ClaimsToCreate(const scheduler::Cache& cache, const api::PodTemplate& pod) {
  std::vector<std::string> out;
  for (const api::Volume& v : pod.volumes) {
    if (v.kind != api::Volume::Kind::kClaim || cache.listers().claims.Get(pod.ns, v.id) != nullptr) continue;
    out.push_back(absl::StrCat("The claim ", pod.ns.string(), "/", v.id, " does not exist: create it."));
  }
  return out;
}

}  // namespace berth::explain
