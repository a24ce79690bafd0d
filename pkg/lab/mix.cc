#include "pkg/lab/mix.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "pkg/lab/edit.h"
#include "pkg/lab/metrics.h"
#include "pkg/lab/mix_bound.h"
#include "pkg/lab/pod_specs.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

using Counts = std::vector<int64_t>;  // by offer

// How many mixes of several offers are tried at most. With a single offer the search ends by itself.
constexpr int kMostTried = 100;

// Pods with the same template, and the same node if they name one.
struct PodKind {
  api::PodPtr pod;
  int64_t pods = 0;
  std::vector<bool> fits;       // by offer: whether an empty node holds one
  std::string error;            // if it fits none: why not the first
  std::vector<int64_t> amount;  // what one requests, by resource
  bool fits_any() const { return std::find(fits.begin(), fits.end(), true) != fits.end(); }
};

// The result of adding some nodes.
struct Tried {
  std::vector<size_t> pending;  // indices of the pods that are not placed and fit some offer
  std::vector<size_t> without;  // and of those that fit none
  std::string error;            // why pending[0] is not placed
};

// Returns the pod without what depends on other pods, or null if nothing does.
api::PodPtr AloneOf(const api::PodPtr& pod) {
  api::PodTemplate alone = *pod->tmpl;
  alone.affinity.pod.reset();
  alone.affinity.pod_anti.reset();
  alone.spread_constraints.clear();
  if (alone == *pod->tmpl) return nullptr;
  auto copy = std::make_shared<api::Pod>(*pod);
  copy->tmpl = api::PodTemplate::Intern(std::move(alone));
  return copy;
}

std::string WhyNot(const explain::Explanation& e) {
  std::vector<std::string> texts;
  for (const auto& node : e.by_node) {
    for (const auto& result : node.results) {
      for (const auto& reason : result.reasons) {
        if (std::find(texts.begin(), texts.end(), reason.text.str()) == texts.end())
          texts.push_back(reason.text.string());
      }
      if (!result.error.empty()) texts.push_back(result.error.text);
    }
  }
  return texts.empty() ? e.decision.error : absl::StrJoin(texts, ", ");
}

class MixSearch {
 public:
  MixSearch(const Scenario& scenario, const std::vector<NodeOffer>& offers, const std::function<void(size_t)>& step)
      : all_(scenario), offers_(offers), step_(step) {}

  absl::StatusOr<Mix> Run(const std::vector<PodShare>& pods, int64_t rounds) {
    for (int64_t round = 0; round < rounds; ++round) {
      for (const PodShare& p : pods) {
        for (int64_t k = 0; k < p.ratio; ++k) all_.AddPending(ReplicaOf(*p.spec, round * p.ratio + k + 1));
      }
    }
    mix_.pods = static_cast<int64_t>(all_.pending.size());
    mix_.nodes.assign(offers_.size(), 0);
    BERTH_RETURN_IF_ERROR(FindKinds());
    Tried none = Try(Counts(offers_.size(), 0));
    mix_.pending_before = static_cast<int64_t>(none.pending.size() + none.without.size());
    if (none.pending.empty()) return Finish(Counts(offers_.size(), 0), std::move(none));
    BERTH_RETURN_IF_ERROR(FindBound());
    return offers_.size() == 1 ? SearchOne(std::move(none)) : SearchSeveral(std::move(none));
  }

 private:
  // Finds out which kinds of pods fit which offers, on nodes that are alone in their cluster.
  absl::Status FindKinds() {
    std::map<std::pair<const api::PodTemplate*, util::Symbol>, size_t> known;
    for (const api::PodPtr& pod : all_.pending) {
      const auto [at, is_new] = known.try_emplace({pod->tmpl.get(), pod->node_name}, kinds_.size());
      if (is_new) kinds_.push_back({pod, 0, {}, {}, {}});
      ++kinds_[at->second].pods;
      kind_of_.push_back(at->second);
    }
    for (const NodeOffer& offer : offers_) {
      Scenario alone = Without(all_);
      std::erase_if(alone.cluster, [](const api::Object& o) {
        return std::holds_alternative<api::NodePtr>(o) || std::holds_alternative<api::PodPtr>(o);
      });
      Scenario with_pods = Without(all_);
      // The pods of DaemonSets that are not in the input are known by those on the given node.
      AddNodes(*offer.like, 1, &with_pods);
      for (size_t i = all_.cluster.size(); i < with_pods.cluster.size(); ++i) {
        alone.cluster.push_back(with_pods.cluster[i]);
      }
      auto sim = Simulation::Make(alone);
      if (!sim.ok()) return sim.status();
      for (PodKind& kind : kinds_) {
        explain::Explanation e = (*sim)->Explain(kind.pod);
        bool fits = e.decision.outcome == scheduler::Decision::Outcome::kPlaced;
        if (const api::PodPtr other = fits ? nullptr : AloneOf(kind.pod)) {
          e = (*sim)->Explain(other);
          fits = e.decision.outcome == scheduler::Decision::Outcome::kPlaced;
        }
        if (!fits && kind.fits.empty()) kind.error = WhyNot(e);
        kind.fits.push_back(fits);
      }
    }
    return absl::OkStatus();
  }

  // Returns the scenario without pending pods.
  static Scenario Without(const Scenario& s) {
    Scenario out;
    out.algorithm = s.algorithm;
    out.cluster = s.cluster;
    out.daemons = s.daemons;
    out.bound_by_controller = s.bound_by_controller;
    return out;
  }

  // Places the pending pods in the cluster with these nodes more. REQUIRES: the cluster is one that can be simulated.
  Tried Try(const Counts& counts) {
    if (step_) step_(++tried_);
    Scenario grown = Without(all_);
    for (size_t t = 0; t < offers_.size(); ++t) AddNodes(*offers_[t].like, counts[t], &grown);
    Tried tried;
    auto sim = Simulation::Make(grown);
    if (!sim.ok()) {
      tried.error = util::Message(sim.status());
      tried.pending.resize(all_.pending.size());
      std::iota(tried.pending.begin(), tried.pending.end(), size_t{0});
      return tried;
    }
    for (size_t i = 0; i < all_.pending.size(); ++i) {
      const scheduler::Decision d = (*sim)->Place(all_.pending[i]);
      if (d.outcome == scheduler::Decision::Outcome::kPlaced) continue;
      const bool counts_here = kinds_[kind_of_[i]].fits_any();
      if (counts_here && tried.pending.empty()) tried.error = d.error;
      (counts_here ? tried.pending : tried.without).push_back(i);
    }
    return tried;
  }

  // Reads what pods request, what is free, and what empty nodes have, and bounds the price by it.
  absl::Status FindBound() {
    Scenario grown = Without(all_);
    std::vector<size_t> first;  // by offer: where its node is among the new objects
    for (const NodeOffer& offer : offers_) {
      first.push_back(grown.cluster.size());
      AddNodes(*offer.like, 1, &grown);
    }
    grown.pending = all_.pending;
    const Workload workload(grown);
    const size_t resources = workload.resources().size();
    grown.pending.clear();
    auto sim = Simulation::Make(grown);
    if (!sim.ok()) return sim.status();
    const std::vector<int64_t> free = workload.Free((*sim)->cache());
    for (PodKind& kind : kinds_) kind.amount = workload.RequestOf(*kind.pod->tmpl);
    problem_.free.assign(resources, 0);
    std::map<std::string, size_t> offer_of;
    for (size_t t = 0; t < offers_.size(); ++t) {
      offer_of[std::get<api::NodePtr>(grown.cluster[first[t]])->meta.name] = t;
      problem_.price.push_back(offers_[t].price);
      problem_.empty.emplace_back(resources, 0);
    }
    empty_.assign(offers_.size(), std::vector<int64_t>(resources, 0));
    places_.assign(kinds_.size(), 0);
    for (size_t n = 0; n < workload.node_count(); ++n) {
      const int64_t* here = &free[n * resources];
      if (auto offer = offer_of.find(workload.node_names()[n].string()); offer != offer_of.end()) {
        for (size_t r = 0; r < resources; ++r) {
          empty_[offer->second][r] = here[r];
          problem_.empty[offer->second][r] = static_cast<double>(std::max<int64_t>(here[r], 0));
        }
        continue;
      }
      // Pods that are there stay, so what no pod fits into now will hold none.
      bool useful = false;
      for (size_t k = 0; k < kinds_.size(); ++k) {
        const int64_t places = kinds_[k].fits_any() ? PlacesOn(here, kinds_[k].amount) : 0;
        places_[k] += places;
        useful = useful || places > 0;
      }
      for (size_t r = 0; useful && r < resources; ++r) {
        problem_.free[r] += static_cast<double>(std::max<int64_t>(here[r], 0));
      }
    }
    mix_.bound = BoundFor(
                     kinds_, [](const PodKind& kind) { return kind.pods; }, problem_.free)
                     .price;
    // A pod is not cut into pieces: so many of one kind fit on an empty node.
    for (size_t k = 0; k < kinds_.size(); ++k) {
      double least = -1;
      for (size_t t = 0; t < offers_.size(); ++t) {
        if (!kinds_[k].fits[t]) continue;
        const double each =
            offers_[t].price / static_cast<double>(std::max<int64_t>(PlacesOn(empty_[t].data(), kinds_[k].amount), 1));
        least = least < 0 ? each : std::min(least, each);
      }
      if (least > 0) mix_.bound = std::max(mix_.bound, least * static_cast<double>(kinds_[k].pods - places_[k]));
    }
    return absl::OkStatus();
  }

  // Returns how many pods with these requests have place, as far as resources go.
  static int64_t PlacesOn(const int64_t* free, const std::vector<int64_t>& amount) {
    int64_t places = INT32_MAX;
    for (size_t r = 0; r < amount.size(); ++r) {
      if (amount[r] > 0) places = std::min(places, std::max<int64_t>(free[r], 0) / amount[r]);
    }
    return places;
  }

  // Bounds the price for so many pods of each kind.
  template <typename F>
  MixBound BoundFor(const std::vector<PodKind>& kinds, F number_of, const std::vector<double>& free) const {
    MixProblem problem = problem_;
    problem.free = free;
    std::map<std::vector<bool>, std::vector<double>> demands;
    for (const PodKind& kind : kinds) {
      const int64_t pods = number_of(kind);
      if (pods == 0 || !kind.fits_any()) continue;
      std::vector<double>& sum = demands[kind.fits];
      sum.resize(free.size());
      for (size_t r = 0; r < free.size(); ++r)
        sum[r] += static_cast<double>(pods) * static_cast<double>(kind.amount[r]);
    }
    for (auto& [fits, amount] : demands) problem.demands.push_back({fits, std::move(amount)});
    return BoundOf(problem);
  }

  // Returns how many nodes of each offer the pending pods would fill, rounded up.
  Counts WantedBy(const Tried& tried) const {
    std::vector<int64_t> pods(kinds_.size(), 0);
    for (size_t i : tried.pending) ++pods[kind_of_[i]];
    const auto number = [&](const PodKind& kind) { return pods[static_cast<size_t>(&kind - kinds_.data())]; };
    const MixBound bound = BoundFor(kinds_, number, std::vector<double>(problem_.free.size(), 0));
    Counts more;
    for (double n : bound.nodes) more.push_back(static_cast<int64_t>(std::ceil(n - 1e-6)));
    if (std::accumulate(more.begin(), more.end(), int64_t{0}) == 0) {
      const std::vector<bool>& fits = kinds_[kind_of_[tried.pending[0]]].fits;
      ++more[static_cast<size_t>(std::find(fits.begin(), fits.end(), true) - fits.begin())];
    }
    return more;
  }

  double PriceOf(const Counts& counts) const {
    double sum = 0;
    for (size_t t = 0; t < counts.size(); ++t) sum += static_cast<double>(counts[t]) * offers_[t].price;
    return sum;
  }

  absl::StatusOr<Mix> Finish(const Counts& counts, Tried last) {
    mix_.enough = last.pending.empty();
    mix_.nodes = counts;
    mix_.price = PriceOf(counts);
    if (mix_.enough && mix_.price < mix_.bound - 1e-6) mix_.bound = 0;  // the algorithm passes over requests
    if (mix_.enough && mix_.price > 0) {  // without a new node it is not, for whatever reason, so one must be paid for
      double cheapest = offers_[0].price;
      for (const NodeOffer& o : offers_) cheapest = std::min(cheapest, o.price);
      mix_.bound = std::max(mix_.bound, cheapest);
    }
    NoteWithout(last);
    return mix_;
  }

  void NoteWithout(const Tried& tried) {
    mix_.cannot_fit.clear();
    std::map<size_t, size_t> at;
    for (size_t i : tried.without) {
      const auto [entry, is_new] = at.try_emplace(kind_of_[i], mix_.cannot_fit.size());
      if (is_new) {
        mix_.cannot_fit.push_back({all_.pending[i]->meta.Key(), 0, kinds_[kind_of_[i]].error});
      }
      ++mix_.cannot_fit[entry->second].pods;
    }
  }

  void NotePending(const Tried& tried) {
    mix_.pending = static_cast<int64_t>(tried.pending.size());
    mix_.first_pending = tried.pending.empty() ? "" : all_.pending[tried.pending[0]]->meta.Key();
    mix_.error = tried.error;
  }

  // Invariant: `few` nodes leave a pod pending. `many` grows until all pods fit, or until there are as many nodes as
  // pods. The binary search after that keeps the invariant that `few` fails and `many` succeeds, even where more nodes
  // do not always help.
  absl::StatusOr<Mix> SearchOne(Tried none) {
    const int64_t most = mix_.pods;
    const auto least = static_cast<int64_t>(std::ceil(mix_.bound / offers_[0].price - 1e-6));
    int64_t few = 0, many = std::clamp<int64_t>(least, 1, most);
    Tried failed = std::move(none), succeeded;
    if (many > 1) {
      Tried fewer = Try({many - 1});
      const bool fits = fewer.pending.empty();  // then the bound says more than the rules: a Policy ignores requests
      if (fits) --many;
      few = fits ? 0 : many - 1;
      if (!fits) failed = std::move(fewer);
    }
    for (int64_t by = 1; !Succeeded(many, &succeeded); by *= 2) {
      failed = std::move(succeeded);
      succeeded = {};
      few = many;
      if (many == most) {
        NotePending(failed);
        return Finish({most}, std::move(failed));
      }
      many = std::min(most, many + by);
    }
    while (many - few > 1) {
      const int64_t middle = few + (many - few) / 2;
      Tried tried = Try({middle});
      const bool fits = tried.pending.empty();
      (fits ? many : few) = middle;
      (fits ? succeeded : failed) = std::move(tried);
    }
    NotePending(failed);
    return Finish({many}, std::move(succeeded));
  }
  bool Succeeded(int64_t nodes, Tried* tried) {
    *tried = Try({nodes});
    return tried->pending.empty();
  }

  // Fills up the nodes that the bound suggests until all pods fit, and then takes away and exchanges what is not
  // needed.
  absl::StatusOr<Mix> SearchSeveral(Tried none) {
    Counts counts(offers_.size(), 0);
    Tried tried = std::move(none);
    int64_t nodes = 0, times = 1;
    while (!tried.pending.empty() && nodes < mix_.pods) {
      const Counts more = WantedBy(tried);
      nodes = 0;
      for (size_t t = 0; t < counts.size(); ++t) nodes += counts[t] += more[t] * times;
      Tried now = Try(counts);
      times = now.pending.size() < tried.pending.size() ? 1 : 2 * times;
      tried = std::move(now);
    }
    if (!tried.pending.empty()) {
      NotePending(tried);
      return Finish(counts, std::move(tried));
    }
    bool better = true;
    while (better && tried_ < kMostTried) {
      better = false;
      for (size_t t : ByPrice()) better = Reduce(t, &counts, &tried) || better;
      better = Exchange(&counts, &tried) || better;
    }
    return Finish(counts, std::move(tried));
  }

  // Returns the offers, the most expensive first.
  std::vector<size_t> ByPrice() const {
    std::vector<size_t> order(offers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return offers_[a].price > offers_[b].price; });
    return order;
  }

  // Takes away nodes of the offer as long as all pods fit. Returns whether there were any to take away.
  bool Reduce(size_t t, Counts* counts, Tried* tried) {
    const int64_t before = (*counts)[t];
    int64_t few = -1, many = before;
    // Most often one node fewer is not enough.
    for (bool first = true; many - few > 1 && tried_ < kMostTried; first = false) {
      const int64_t middle = first ? many - 1 : few + (many - few) / 2;
      Counts fewer = *counts;
      fewer[t] = middle;
      Tried now = Try(fewer);
      if (now.pending.empty()) {
        many = middle;
        *tried = std::move(now);
      } else {
        few = middle;
        mix_.fewer = t;
        NotePending(now);
      }
    }
    (*counts)[t] = many;
    return many < before;
  }

  // Replaces one node by as many cheaper ones as cost less. Returns whether that was possible.
  bool Exchange(Counts* counts, Tried* tried) {
    for (size_t t : ByPrice()) {
      for (size_t other = 0; other < offers_.size(); ++other) {
        if ((*counts)[t] == 0 || other == t || tried_ >= kMostTried) continue;
        auto instead = static_cast<int64_t>(std::ceil(offers_[t].price / offers_[other].price - 1e-9)) - 1;
        if (instead < 1) continue;
        Counts changed = *counts;
        --changed[t];
        changed[other] += instead;
        Tried now = Try(changed);
        if (!now.pending.empty()) continue;
        *counts = changed;
        *tried = std::move(now);
        Reduce(other, counts, tried);
        return true;
      }
    }
    return false;
  }

  Scenario all_;
  const std::vector<NodeOffer>& offers_;
  const std::function<void(size_t)>& step_;
  size_t tried_ = 0;
  std::vector<PodKind> kinds_;
  std::vector<size_t> kind_of_;              // by pending pod
  std::vector<int64_t> places_;              // by kind: how many have place in the cluster
  std::vector<std::vector<int64_t>> empty_;  // by offer and resource
  MixProblem problem_;                       // without demands
  Mix mix_;
};

}  // namespace

absl::StatusOr<Mix> CheapestMix(const Scenario& scenario, const std::vector<PodShare>& pods, int64_t rounds,
                                const std::vector<NodeOffer>& offers, const std::function<void(size_t)>& step) {
  BERTH_REQUIRES(!offers.empty());
  return MixSearch(scenario, offers, step).Run(pods, rounds);
}

}  // namespace berth::lab
