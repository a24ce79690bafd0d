#include "pkg/explain/trial.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pkg/explain/movers.h"
#include "pkg/explain/plain_reasons.h"
#include "pkg/util/contract.h"

namespace berth::explain {
namespace {

using scheduler::Row;
using scheduler::Symbol;
using scheduler::Verdict;

// Trying a way takes an evaluation of all nodes, or one for each of the nearest nodes where pods would have to leave.
constexpr size_t kMostWaysTried = 25, kMostWaysKept = 20, kMostNodesTried = 3;

// Changes rows of the cache, and puts them back in the state and in the order of pods in which they were.
class ChangedRows {
 public:
  explicit ChangedRows(scheduler::Cache* cache) : cache_(cache) {}
  ChangedRows(const ChangedRows&) = delete;
  ~ChangedRows() {
    for (auto& [row, before] : before_) {
      if (before.pods_changed) {
        for (const scheduler::PlacedPod& p : std::vector(cache_->row(row).pods)) {
          cache_->RemovePod(*p.pod).IgnoreError();
        }
        for (const auto& [pod, assumed] : before.pods) {
          (assumed ? cache_->AssumePod(pod) : cache_->AddPod(pod)).IgnoreError();
        }
      }
      if (before.node != cache_->row(row).node) cache_->UpdateNode(before.node);
    }
  }

  void SetNode(Row row, api::NodePtr node) {
    Note(row);
    cache_->UpdateNode(std::move(node));
  }
  void Remove(const api::Pod& pod) {
    Note(cache_->FindRow(pod.node_name)).pods_changed = true;
    cache_->RemovePod(pod).IgnoreError();
  }
  void Add(const api::PodPtr& pod) {
    Note(cache_->FindRow(pod->node_name)).pods_changed = true;
    cache_->AddPod(pod).IgnoreError();
  }

 private:
  struct Before {
    api::NodePtr node;
    std::vector<std::pair<api::PodPtr, bool>> pods;  // and whether they are assumed
    bool pods_changed = false;
  };
  Before& Note(Row row) {
    auto [at, is_new] = before_.try_emplace(row);
    if (is_new) {
      at->second.node = cache_->row(row).node;
      for (const scheduler::PlacedPod& p : cache_->row(row).pods) {
        at->second.pods.emplace_back(p.pod, cache_->IsAssumed(p.pod->meta.uid));
      }
    }
    return at->second;
  }

  scheduler::Cache* cache_;
  std::map<Row, Before> before_;
};

// Returns the nodes on which the pod fits.
absl::flat_hash_set<std::string> WhereItFits(const Subject& subject, const api::PodPtr& pod) {
  absl::flat_hash_set<std::string> nodes;
  for (const auto& [node, results] : subject.scheduler.EvaluatePredicates(pod)) {
    const auto fits = [](const auto& r) { return r.verdict == Verdict::kFits; };
    if (std::all_of(results.begin(), results.end(), fits)) nodes.insert(node.string());
  }
  return nodes;
}

// Returns whether the scheduler places the pod, which also minds nominated pods.
bool IsPlaced(const Subject& subject, const api::PodPtr& pod) {
  if (!subject.decides_alike) return true;
  const uint64_t counter = subject.scheduler.last_node_index();
  const scheduler::Decision d = subject.scheduler.Schedule(pod, scheduler::DecisionMode::kReference, nullptr);
  subject.scheduler.set_last_node_index(counter);
  return d.outcome == scheduler::Decision::Outcome::kPlaced;
}

class Trials {
 public:
  Trials(const Subject& subject, Explanation* e) : subject_(subject), e_(e) {
    for (const auto& view : e->by_node) by_name_.emplace(view.name, &view);
  }

  void Run() {
    std::vector<Way> kept;
    for (size_t i = 0; i < std::min(e_->ways.size(), kMostWaysTried) && kept.size() < kMostWaysKept; ++i) {
      if (Try(&e_->ways[i])) kept.push_back(std::move(e_->ways[i]));
    }
    e_->ways = std::move(kept);
  }

 private:
  const std::vector<Remedy>& RemediesOf(const std::string& node) const { return by_name_.at(node)->remedies; }

  // Tries a way and its alternatives, and words it as what has helped. Returns false if nothing has.
  bool Try(Way* way) {
    const std::vector<Remedy>& remedies = RemediesOf(way->nodes[0]);
    const auto has_second = [](const Remedy& r) { return r.second != nullptr; };
    const bool moves = std::any_of(remedies.begin(), remedies.end(), [](const Remedy& r) { return r.moves; });
    Way first = *way, second = *way;
    const bool first_helps = moves ? TryNearest(false, &first) : TryAll(false, &first);
    const bool choice = std::any_of(remedies.begin(), remedies.end(), has_second);
    const bool second_helps = choice && (moves ? TryNearest(true, &second) : TryAll(true, &second));
    if (!first_helps && !second_helps) return false;
    const bool both = first_helps && second_helps && first.nodes == second.nodes;
    *way = first_helps ? std::move(first) : std::move(second);
    if (!choice || both) return true;
    const std::vector<Remedy>& worded = RemediesOf(way->nodes[0]);
    for (size_t i = 0; i < worded.size(); ++i) {
      if (!has_second(worded[i])) continue;
      way->changes[i] = first_helps ? worded[i].first_text : worded[i].second_text;
    }
    return true;
  }

  // Makes the changes for a node. Returns the changed pod, or null if a change cannot be tried.
  api::PodPtr Make(const std::string& node, bool second, ChangedRows* rows) {
    const Row row = subject_.cache.FindRow(Symbol(node));
    const api::NodePtr before = subject_.cache.row(row).node;
    Copies c{*e_->pod, *e_->pod->tmpl, *before, {}};
    for (const Remedy& r : RemediesOf(node)) {
      const Change& change = second && r.second != nullptr ? r.second : r.change;
      if (change == nullptr && !r.moves) return nullptr;
      if (change != nullptr) change(&c);
    }
    if (!c.node.SchedulesLike(*before)) rows->SetNode(row, std::make_shared<api::Node>(c.node));
    for (const api::PodPtr& added : c.added) {
      auto placed = std::make_shared<api::Pod>(*added);
      placed->meta.uid = placed->meta.name = absl::StrCat(added->meta.uid, " on ", node);
      placed->node_name = Symbol(node);
      rows->Add(placed);
    }
    auto pod = std::make_shared<api::Pod>(c.pod);
    pod->tmpl = api::PodTemplate::Intern(std::move(c.tmpl));
    return pod;
  }

  // Tries a way without moves: on the first node alone, where it must help, and then on all nodes together, to see on
  // which of them it does.
  bool TryAll(bool second, Way* way) {
    {
      ChangedRows rows(&subject_.cache);
      const api::PodPtr pod = Make(way->nodes[0], second, &rows);
      if (pod == nullptr || !WhereItFits(subject_, pod).contains(way->nodes[0]) || !IsPlaced(subject_, pod))
        return false;
    }
    if (way->nodes.size() == 1) return true;
    ChangedRows rows(&subject_.cache);
    api::PodPtr pod;
    for (const std::string& node : way->nodes) {
      if (const api::PodPtr changed = Make(node, second, &rows); pod == nullptr) pod = changed;
    }
    const auto fits = WhereItFits(subject_, pod);
    for (size_t i = way->nodes.size(); i-- > 1;) {
      if (!fits.contains(way->nodes[i])) way->nodes.erase(way->nodes.begin() + static_cast<ptrdiff_t>(i));
    }
    return true;
  }

  // Tries a way with moves on the nearest nodes, one after another, until it helps.
  bool TryNearest(bool second, Way* way) {
    for (size_t i = 0; i < std::min(way->nodes.size(), kMostNodesTried); ++i) {
      const std::string node = way->nodes[i];
      const auto& view = *by_name_.at(node);
      const Leaving leaving =
          PodsToMove(subject_.cache, *e_->pod, Symbol(node), view.remedies,
                     WithPlainReasons(view.results, *subject_.scheduler.config().release, *e_->pod->tmpl));
      if (leaving.moved.empty() && leaving.ending.empty()) continue;
      ChangedRows rows(&subject_.cache);
      for (const auto* list : {&leaving.moved, &leaving.ending}) {
        for (const api::PodPtr& p : *list) rows.Remove(*p);
      }
      const api::PodPtr pod = Make(node, second, &rows);
      if (pod == nullptr) return false;
      if (!WhereItFits(subject_, pod).contains(node) || !IsPlaced(subject_, pod)) continue;
      std::rotate(way->nodes.begin(), way->nodes.begin() + static_cast<ptrdiff_t>(i),
                  way->nodes.begin() + static_cast<ptrdiff_t>(i) + 1);
      for (size_t k = 0; k < view.remedies.size(); ++k) way->changes[k] = view.remedies[k].text;
      for (const api::PodPtr& p : leaving.moved) way->moves.push_back(p->meta.Key());
      for (const api::PodPtr& p : leaving.ending) way->ending.push_back(p->meta.Key());
      std::sort(way->moves.begin(), way->moves.end());
      std::sort(way->ending.begin(), way->ending.end());
      return true;
    }
    return false;
  }

  const Subject& subject_;
  Explanation* e_;
  absl::flat_hash_map<std::string, const Explanation::NodeView*> by_name_;
};

}  // namespace

void KeepWhatHelps(const Subject& subject, Explanation* e) {
  BERTH_REQUIRES(subject.cache.GetPod(e->pod->meta.uid) == nullptr);
  Trials(subject, e).Run();
}

std::vector<std::string> WhoseEndIsAwaited(const Subject& subject, const api::PodPtr& pod) {
  if (pod->nominated_node_name.empty()) return {};
  const Row row = subject.cache.FindRow(pod->nominated_node_name);
  if (row == scheduler::kNoRow || subject.cache.row(row).node == nullptr) return {};
  std::vector<api::PodPtr> ending;
  for (const scheduler::PlacedPod& p : subject.cache.row(row).pods) {
    if (p.pod->meta.deleting() && p.pod->Priority() < pod->Priority()) ending.push_back(p.pod);
  }
  if (ending.empty()) return {};
  ChangedRows rows(&subject.cache);
  for (const api::PodPtr& p : ending) rows.Remove(*p);
  if (!WhereItFits(subject, pod).contains(pod->nominated_node_name.string())) return {};
  std::vector<std::string> names;
  for (const api::PodPtr& p : ending) names.push_back(p->meta.Key());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace berth::explain
