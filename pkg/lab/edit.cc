#include "pkg/lab/edit.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sys/stat.h>

#include <algorithm>

#include "pkg/api/stream.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using scheduler::Symbol;
using Names = absl::flat_hash_set<std::string>;

// Names of nodes contain none of these characters.
bool IsSelector(const std::string& text) {
  return text.find('=') != std::string::npos || text.find(" in ") != std::string::npos ||
         text.find(" notin ") != std::string::npos || text.find('!') != std::string::npos;
}

// Adds the names of the nodes that `text` selects to `names`.
absl::Status Choose(const Scenario& s, const std::string& flag, const std::string& text, Names* names) {
  const size_t before = names->size();
  if (IsSelector(text)) {
    auto selector = api::Selector::Parse(text);
    if (!selector.ok()) return util::InvalidArgument(absl::StrCat(flag, ": ", text, ": ", selector.status().message()));
    for (const api::Object& o : s.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node != nullptr && selector->Matches((*node)->labels)) names->insert((*node)->meta.name);
    }
    if (names->size() == before) {
      return util::InvalidArgument(absl::StrCat(flag, ": no node has labels that match \"", text, "\""));
    }
    return absl::OkStatus();
  }
  for (absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    bool found = false;
    for (const api::Object& o : s.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      found = found || (node != nullptr && (*node)->meta.name == util::FromAbsl(name));
    }
    if (!found) return util::InvalidArgument(absl::StrCat(flag, ": the cluster has no node \"", name, "\""));
    names->emplace(name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Names> ChooseAll(const Scenario& s, const std::string& flag, const std::vector<std::string>& texts) {
  Names names;
  for (const std::string& text : texts) BERTH_RETURN_IF_ERROR(Choose(s, flag, text, &names));
  return names;
}

// Returns the pod as it would be pending.
api::PodPtr Unbound(const api::Pod& pod) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->node_name = Symbol();
  copy->nominated_node_name = Symbol();
  copy->phase = api::PodPhase::kPending;
  return copy;
}

bool OfDaemonSet(const api::Pod& pod) {
  return pod.tmpl->controller && pod.tmpl->controller->kind.str() == "DaemonSet";
}

// Finds the PodDisruptionBudgets that allow fewer disruptions than there are evictions.
void FindViolatedBudgets(Edited* e) {
  for (const api::Object& o : e->scenario.cluster) {
    const auto* pdb = std::get_if<std::shared_ptr<const api::PodDisruptionBudget>>(&o);
    if (pdb == nullptr || !(*pdb)->has_selector || !(*pdb)->selector.ok()) continue;
    Edited::Budget budget{(*pdb)->meta.Key(), (*pdb)->disruptions_allowed, {}};
    for (const auto& eviction : e->evictions) {
      const api::Pod& pod = *eviction.pod;
      if (pod.meta.ns == (*pdb)->meta.ns && (*pdb)->selector.selector.Matches(pod.tmpl->labels)) {
        budget.evicted.push_back(pod.meta.Key());
      }
    }
    if (static_cast<int64_t>(budget.evicted.size()) > budget.allowed) e->violated.push_back(std::move(budget));
  }
}

}  // namespace

absl::StatusOr<api::NodePtr> NodeTemplate(const std::string& like, const Scenario& scenario) {
  struct stat unused {};
  if (stat(like.c_str(), &unused) != 0) {
    for (const api::Object& o : scenario.cluster) {
      const auto* node = std::get_if<api::NodePtr>(&o);
      if (node != nullptr && (*node)->meta.name == like) return *node;
    }
    return util::InvalidArgument(absl::StrCat("\"", like, "\" is neither a file nor a node of the cluster"));
  }
  auto text = api::ReadInput(like);
  if (!text.ok()) return text.status();
  auto document = api::ReadDocument(*text);
  if (!document.ok()) return util::InvalidArgument(absl::StrCat(like, ": ", document.status().message()));
  auto object = api::DecodeObject(document->root(), {}, {.server_defaults = true});
  if (!object.ok()) return util::InvalidArgument(absl::StrCat(like, ": ", object.status().message()));
  const auto* node = std::get_if<api::NodePtr>(&*object);
  if (node == nullptr) return util::InvalidArgument(absl::StrCat(like, ": is not a Node"));
  return *node;
}

void AddNodes(const api::Node& like, int64_t count, std::vector<api::Object>* cluster) {
  Names taken;
  for (const api::Object& o : *cluster) {
    if (const auto* node = std::get_if<api::NodePtr>(&o)) taken.insert((*node)->meta.name);
  }
  for (int64_t number = 1; count > 0; ++number) {
    std::string name = absl::StrCat(like.meta.name, "-new-", number);
    if (!taken.insert(name).second) continue;
    auto node = std::make_shared<api::Node>(like);
    node->meta.name = name;
    node->meta.uid = absl::StrCat("new/", name);
    node->unschedulable = false;
    std::vector<std::pair<Symbol, Symbol>> labels(like.labels.begin(), like.labels.end());
    for (auto& [key, value] : labels) {
      if (key.str() == "kubernetes.io/hostname") value = Symbol(name);
    }
    node->labels = api::Labels(std::move(labels));
    cluster->push_back(api::NodePtr(std::move(node)));
    --count;
  }
}

absl::StatusOr<Edited> ApplyEdits(const Scenario& scenario, const Edits& edits) {
  auto drained = ChooseAll(scenario, "--drain", edits.drain);
  if (!drained.ok()) return drained.status();
  auto cordoned = ChooseAll(scenario, "--cordon", edits.cordon);
  if (!cordoned.ok()) return cordoned.status();
  auto removed = ChooseAll(scenario, "--remove", edits.remove);
  if (!removed.ok()) return removed.status();

  Edited e;
  e.scenario = scenario;
  e.scenario.cluster.clear();
  e.scenario.pending.clear();
  e.scenario.pending_after.clear();
  size_t next = 0;  // the next pending pod; they keep their places among those evicted
  // Adds the pending pods that precede object `before` of the cluster in the input.
  auto take_pending = [&](size_t before) {
    for (; next < scenario.pending.size() && scenario.pending_after[next] <= before; ++next) {
      e.scenario.AddPending(scenario.pending[next]);
    }
  };
  for (size_t i = 0; i < scenario.cluster.size(); ++i) {
    take_pending(i);
    const api::Object& o = scenario.cluster[i];
    if (const auto* node = std::get_if<api::NodePtr>(&o)) {
      const std::string& name = (*node)->meta.name;
      if (removed->contains(name)) {
        ++e.removed;
        continue;
      }
      if (!drained->contains(name) && !cordoned->contains(name)) {
        e.scenario.cluster.push_back(o);
        continue;
      }
      auto copy = std::make_shared<api::Node>(**node);
      copy->unschedulable = true;
      ++e.cordoned;
      e.scenario.cluster.push_back(api::NodePtr(std::move(copy)));
      continue;
    }
    const auto* pod = std::get_if<api::PodPtr>(&o);
    const std::string on = pod != nullptr ? (*pod)->node_name.string() : std::string();
    const bool gone = removed->contains(on);
    if (pod == nullptr || (*pod)->Finished() || (!gone && !drained->contains(on))) {
      e.scenario.cluster.push_back(o);
      continue;
    }
    if (OfDaemonSet(**pod)) {
      if (!gone) e.scenario.cluster.push_back(o);
      continue;
    }
    api::PodPtr evicted = Unbound(**pod);
    e.evictions.push_back({evicted, (*pod)->node_name});
    if (!evicted->tmpl->controller) e.bare.push_back(evicted->meta.Key());
    e.scenario.AddPending(evicted);
  }
  take_pending(SIZE_MAX);
  for (const NewNodes& n : edits.add) {
    auto like = NodeTemplate(n.like, scenario);
    if (!like.ok()) return util::InvalidArgument(absl::StrCat("--add-nodes: ", like.status().message()));
    AddNodes(**like, n.count, &e.scenario.cluster);
    e.added += n.count;
  }
  FindViolatedBudgets(&e);
  return e;
}

}  // namespace berth::lab
