// The plugin InterPodAffinity.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <span>

#include "pkg/scheduler/reference/plugins/cloned.h"

namespace berth::scheduler::reference::plugins {
namespace {

using Terms = std::vector<api::PodAffinityTerm>;
using WeightedTerms = std::vector<api::WeightedPodAffinityTerm>;
using CountsByPair = std::map<std::pair<Symbol, Symbol>, int64_t>;  // by topology key and value

// Returns the error of 1.29 for the first invalid selector of a term or of a list of terms; empty when there is none.
std::string MistakeIn(const api::PodAffinityTerm& term) {
  if (!term.selector.ok()) return term.selector.aggregated_error;
  return term.namespace_selector && !term.namespace_selector->ok() ? term.namespace_selector->aggregated_error : "";
}
std::string MistakeIn(const Terms& terms) {
  for (const auto& t : terms) {
    if (std::string m = MistakeIn(t); !m.empty()) return m;
  }
  return {};
}
std::string MistakeIn(const WeightedTerms& terms) {
  for (const auto& t : terms) {
    if (std::string m = MistakeIn(t.term); !m.empty()) return m;
  }
  return {};
}

// The four lists of terms of a pod. A list with an invalid selector is empty. REQUIRES: the template outlives this.
struct TermsOf {
  explicit TermsOf(const api::PodTemplate& pod) {
    auto good = [](const auto& list) {
      return MistakeIn(list).empty() ? std::span(list) : decltype(std::span(list))();
    };
    if (pod.affinity.pod) {
      required = good(pod.affinity.pod->required);
      preferred = good(pod.affinity.pod->preferred);
    }
    if (pod.affinity.pod_anti) {
      required_anti = good(pod.affinity.pod_anti->required);
      preferred_anti = good(pod.affinity.pod_anti->preferred);
    }
  }
  std::span<const api::PodAffinityTerm> required, required_anti;
  std::span<const api::WeightedPodAffinityTerm> preferred, preferred_anti;
};

// Who declares a term. The namespaceSelector of the pod to be placed selects among the namespaces that exist. That of a
// pod on a node is compared with the labels of the namespace of the pod to be placed; a namespace that does not exist
// counts as one without labels.
enum class Declared { kByIncoming, kByExisting };

bool Matches(const World& world, const api::PodAffinityTerm& term, Declared by, const api::Pod& pod) {
  Symbol ns = pod.tmpl->ns;
  bool named = (term.namespaces_given || !term.namespace_selector) &&
               std::find(term.namespaces.begin(), term.namespaces.end(), ns) != term.namespaces.end();
  if (!named) {
    if (!term.namespace_selector) return false;
    const api::Selector& selector = term.namespace_selector->selector;
    const api::Labels* labels = world.NamespaceLabels(ns);
    if (labels == nullptr && by == Declared::kByIncoming && !selector.Empty()) return false;
    if (!selector.Matches(labels == nullptr ? api::Labels() : *labels)) return false;
  }
  return term.selector.selector.Matches(pod.tmpl->labels);
}

void Count(CountsByPair* counts, const api::PodAffinityTerm& term, const NodeInfo& info, int64_t by) {
  auto value = info.node().labels.Get(term.topology_key);
  if (value) (*counts)[{term.topology_key, *value}] += by;
}
bool AnyPositive(const CountsByPair& counts) {
  return std::any_of(counts.begin(), counts.end(), [](const auto& c) { return c.second > 0; });
}

class InterPodAffinity final : public Cloned<InterPodAffinity> {
 public:
  explicit InterPodAffinity(const configuration::InterPodAffinityArgs& args) : args_(args) {}

  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    std::vector<std::string> mistakes;
    auto check = [&](std::string_view what, const auto& list) {
      std::string m = MistakeIn(list);
      if (!m.empty()) mistakes.push_back(std::string(what) + ": " + m);
    };
    const api::Affinity& a = c.tmpl().affinity;
    if (a.pod) check("requiredAffinityTerms", a.pod->required);
    if (a.pod_anti) check("requiredAntiAffinityTerms", a.pod_anti->required);
    if (a.pod) check("preferredAffinityTerms", a.pod->preferred);
    if (a.pod_anti) check("preferredAntiAffinityTerms", a.pod_anti->preferred);
    if (!mistakes.empty()) return Status::Unresolvable("parsing pod: " + Aggregate(mistakes));

    own_ = std::make_shared<TermsOf>(c.tmpl());
    for (const NodeInfo* info : c.world.nodes()) {
      for (const api::PodPtr& q : info->pods()) Change(c, *q, *info, 1);
    }
    bool nothing = !AnyPositive(existing_) && own_->required.empty() && own_->required_anti.empty();
    return nothing ? Status::Skip() : Status();
  }
  void PodAdded(const Cycle& c, const api::Pod& q, const NodeInfo& info) override { Change(c, q, info, 1); }
  void PodRemoved(const Cycle& c, const api::Pod& q, const NodeInfo& info) override { Change(c, q, info, -1); }

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    const api::Labels& labels = info.node().labels;
    auto at = [&](const CountsByPair& counts, Symbol key) -> int64_t {
      auto it = counts.find({key, *labels.Get(key)});
      return it == counts.end() ? 0 : it->second;
    };
    bool together = true;
    for (const auto& term : own_->required) {
      if (!labels.Has(term.topology_key)) return Status::Unresolvable("node(s) didn't match pod affinity rules");
      together = together && at(affinity_, term.topology_key) > 0;
    }
    if (!together && !FirstOfItsGroup(c)) return Status::Unresolvable("node(s) didn't match pod affinity rules");
    for (const auto& term : own_->required_anti) {
      if (labels.Has(term.topology_key) && at(anti_, term.topology_key) > 0) {
        return Status::Unschedulable("node(s) didn't match pod anti-affinity rules");
      }
    }
    for (const auto& [key, value] : labels) {
      auto it = existing_.find({key, value});
      if (it != existing_.end() && it->second > 0) {
        return Status::Unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
      }
    }
    return {};
  }

  Status PreScore(const Cycle& c, const Nodes& feasible) override {
    if (feasible.empty()) return Status::Skip();
    TermsOf own(c.tmpl());
    bool prefers = !own.preferred.empty() || !own.preferred_anti.empty();
    if (args_.ignore_preferred_terms_of_existing_pods && !prefers) return Status::Skip();
    for (const NodeInfo* info : c.world.nodes()) {
      for (const api::PodPtr& q : info->pods()) AddScores(c, own, *q, *info);
    }
    return scores_.empty() ? Status::Skip() : Status();
  }
  Status Score(const Cycle&, const NodeInfo& info, int64_t* score) override {
    *score = 0;
    for (const auto& [key, value] : info.node().labels) {
      auto it = scores_.find({key, value});
      if (it != scores_.end()) *score += it->second;
    }
    return {};
  }
  void Normalize(const Nodes&, std::vector<int64_t>* scores) override {
    auto [least, most] = std::minmax_element(scores->begin(), scores->end());
    int64_t low = *least, range = *most - *least;
    for (int64_t& s : *scores) {
      s = range == 0 ? 0 : static_cast<int64_t>(100.0 * (static_cast<double>(s - low) / static_cast<double>(range)));
    }
  }

  std::string_view NeedsPreFilter() const override {
    return "reading \"PreFilterInterPodAffinity\" from cycleState: not found";
  }
  std::string_view NeedsPreScore() const override {
    return "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";
  }

 private:
  // Adds (`by` 1) or subtracts (-1) a pod on a node in the counts that Filter reads.
  void Change(const Cycle& c, const api::Pod& q, const NodeInfo& info, int64_t by) {
    if (q.tmpl->affinity.pod_anti) {
      for (const auto& term : TermsOf(*q.tmpl).required_anti) {
        if (Matches(c.world, term, Declared::kByExisting, c.pod)) Count(&existing_, term, info, by);
      }
    }
    if (MatchesAll(c, q)) {
      for (const auto& term : own_->required) Count(&affinity_, term, info, by);
    }
    for (const auto& term : own_->required_anti) {
      if (Matches(c.world, term, Declared::kByIncoming, q)) Count(&anti_, term, info, by);
    }
  }
  bool MatchesAll(const Cycle& c, const api::Pod& q) const {
    return !own_->required.empty() && std::all_of(own_->required.begin(), own_->required.end(), [&](const auto& term) {
      return Matches(c.world, term, Declared::kByIncoming, q);
    });
  }
  // Returns whether no pod matches the required affinity terms and the pod itself does. Then the terms are ignored.
  bool FirstOfItsGroup(const Cycle& c) const { return !AnyPositive(affinity_) && MatchesAll(c, c.pod); }

  void AddScores(const Cycle& c, const TermsOf& own, const api::Pod& q, const NodeInfo& info) {
    for (const auto& t : own.preferred) {
      if (Matches(c.world, t.term, Declared::kByIncoming, q)) Count(&scores_, t.term, info, t.weight);
    }
    for (const auto& t : own.preferred_anti) {
      if (Matches(c.world, t.term, Declared::kByIncoming, q)) Count(&scores_, t.term, info, -t.weight);
    }
    if (!q.tmpl->affinity.pod && !q.tmpl->affinity.pod_anti) return;
    TermsOf theirs(*q.tmpl);
    if (args_.hard_pod_affinity_weight > 0) {
      for (const auto& t : theirs.required) {
        if (Matches(c.world, t, Declared::kByExisting, c.pod)) {
          Count(&scores_, t, info, args_.hard_pod_affinity_weight);
        }
      }
    }
    for (const auto& t : theirs.preferred) {
      if (Matches(c.world, t.term, Declared::kByExisting, c.pod)) Count(&scores_, t.term, info, t.weight);
    }
    for (const auto& t : theirs.preferred_anti) {
      if (Matches(c.world, t.term, Declared::kByExisting, c.pod)) Count(&scores_, t.term, info, -t.weight);
    }
  }

  configuration::InterPodAffinityArgs args_;
  std::shared_ptr<TermsOf> own_;
  // Numbers of pods: those whose required anti-affinity selects the pod, those that match all of the pod's required
  // affinity terms, and those that match a term of its required anti-affinity.
  CountsByPair existing_, affinity_, anti_;
  CountsByPair scores_;
};

}  // namespace

std::unique_ptr<Plugin> MakeInterPodAffinity(const configuration::InterPodAffinityArgs& args) {
  return std::make_unique<InterPodAffinity>(args);
}

}  // namespace berth::scheduler::reference::plugins
