#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"

namespace berth::scheduler::serviceaffinity {
namespace {

// Totals that allow a single domain of a label: 1 for that domain, 0 for all others.
class AllowedDomain final : public DomainTotals {
 public:
  explicit AllowedDomain(const LabelColumn* column) : DomainTotals(column) {}
  void Allow(uint32_t domain) {
    if (domain != LabelColumn::kNoDomain) Add(domain, 1);
  }
};

// Which of the pods that can be the reference pod it is: the first by name, or the first in the list of nodes (in turn
// one node of each zone, zones and their nodes in the order in which they came), and there in the order of arrival.
enum class ReferencePod : uint8_t { kFirstByName, kFirstListed };

// serviceAffinity: the node must agree in each label with the pod's own nodeSelector if that names the label, and
// otherwise with the node of a reference pod. The reference pod is the first by name of the placed pods in the
// namespace that carry all labels of the pod, provided that a service selects the pod; upstream takes any of them (bug
// B-14, fixed). In 1.19 it is the first in the list of nodes. A label that the reference pod's node lacks is not
// required. There is one channel for each required label. Source: checkServiceAffinity in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10) and
// pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go (1.19).
class ServiceAffinityCheck final : public DomainCheck {
 public:
  ServiceAffinityCheck(const PodContext& ctx, Cache* cache, const std::vector<Symbol>& labels, ReferencePod choice)
      : ctx_(ctx),
        cache_(cache),
        labels_(labels),
        choice_(choice),
        like_(api::Selector::FromMapValidated(ctx.pod.tmpl->labels)) {
    for (Symbol label : labels) {
      if (auto value = ctx.pod.tmpl->node_selector.Get(label)) given_.emplace_back(label, *value);
    }
    std::sort(given_.begin(), given_.end());
    given_.erase(std::unique(given_.begin(), given_.end()), given_.end());
  }

  bool Refresh() override {
    const uint64_t selectors = ctx_.cache.listers().SelectorsVersion(ctx_.pod.tmpl->ns);
    if (known_ && selectors == selectors_ && seen_ == ctx_.cache.generation()) return false;
    const Reference before = reference_;
    bool nodes_changed = !known_;
    if (known_ && selectors == selectors_ && follows_) {
      Follow(&nodes_changed);
    } else {
      selectors_ = selectors;
      follows_ = labels_.size() > given_.size() && !ctx_.cache.listers().ServicesOf(*ctx_.pod.tmpl).empty();
      Search();
      nodes_changed = true;
    }
    known_ = true;
    seen_ = ctx_.cache.generation();
    if (!nodes_changed && before.pod == reference_.pod && before.row == reference_.row) return false;
    ListTerms();
    return true;
  }
  bool FitsAlways() const override { return labels_.empty(); }
  bool Admits(std::span<const DomainSum> sums) const override {
    return std::all_of(sums.begin(), sums.end(), [](const DomainSum& s) { return s.value > 0; });
  }

  // The reference scheduler evaluates nodes while evictions are simulated, so it cannot rely on the terms.
  Verdict Check(Row row) override {
    if (!listed_) List();
    const api::Labels& node = ctx_.cache.row(row).node->labels;
    for (const auto& [label, value] : given_) {
      if (node.Get(label) != value) return Verdict::kFails;
    }
    const Reference* reference = Find(row);
    if (reference == nullptr) return Verdict::kFits;
    const api::Labels& theirs = ctx_.cache.row(reference->row).node->labels;
    for (Symbol label : labels_) {
      if (IsGiven(label)) continue;
      if (auto value = theirs.Get(label); value && node.Get(label) != *value) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kServiceAffinityViolated); }

 private:
  // A reference pod and the row that it is on.
  struct Reference {
    api::PodPtr pod;
    Row row = kNoRow;
  };

  bool IsGiven(Symbol label) const {
    return std::any_of(given_.begin(), given_.end(), [&](const auto& g) { return g.first == label; });
  }
  // Returns whether pods of the template can be the reference pod.
  bool IsLike(const api::PodTemplate& t) const { return t.ns == ctx_.pod.tmpl->ns && like_.Matches(t.labels); }
  // Calls f for each placed pod that can be the reference pod. Without a service, or if the nodeSelector names every
  // label, there is none.
  template <typename F>
  void ForEachLike(F f) const {
    if (labels_.size() <= given_.size() || ctx_.cache.listers().ServicesOf(*ctx_.pod.tmpl).empty()) return;
    absl::flat_hash_set<const LabelledPods*> seen;
    for (const auto& [tmpl, info] : ctx_.cache.templates()) {
      const LabelledPods* const alike = info->labelled;
      if (info->pods == 0 || !IsLike(*tmpl) || !seen.insert(alike).second) continue;
      for (const auto& [row, placed] : alike->rows) {
        if (ctx_.cache.row(row).node == nullptr) continue;
        for (const PlacedPod& p : ctx_.cache.row(row).pods) {
          if (p.info->labelled == alike) f(Reference{p.pod, row});
        }
      }
    }
  }
  // Returns whether `a` rather than `b` is the reference pod.
  bool Precedes(const Reference& a, const Reference& b) const {
    if (choice_ == ReferencePod::kFirstByName) return a.pod->meta.name < b.pod->meta.name;
    if (a.row != b.row) return ranks_[a.row] < ranks_[b.row];
    const auto& pods = ctx_.cache.row(a.row).pods;
    auto place = [&](const Reference& r) {
      return std::find_if(pods.begin(), pods.end(), [&](const PlacedPod& p) { return p.pod == r.pod; });
    };
    return place(a) < place(b);
  }
  // Computes the places of the rows in the list of nodes.
  void RankRows() {
    if (choice_ == ReferencePod::kFirstByName) return;
    ranks_.assign(ctx_.cache.row_count(), 0);
    uint64_t rank = 0;
    for (Row row : ctx_.cache.in_tree_order()) ranks_[row] = rank++;
  }
  // Makes `r` the reference pod if it precedes the present one.
  void Consider(const Reference& r) {
    if (reference_.pod == nullptr || Precedes(r, reference_)) reference_ = r;
  }
  // Looks for the reference pod among all placed pods.
  void Search() {
    RankRows();
    reference_ = {};
    if (follows_) ForEachLike([&](const Reference& r) { Consider(r); });
  }
  // Updates the reference pod by looking only at rows that have changed. It stays the same unless it has left its row
  // or a pod with a smaller name has come.
  void Follow(bool* nodes_changed) {
    bool lost = false;
    const bool remembered = ctx_.cache.ChangesSince(seen_, [&](Row row, bool node_changed) {
      *nodes_changed |= node_changed;
      const NodeRow& r = ctx_.cache.row(row);
      if (row == reference_.row) {
        lost |= r.node == nullptr || std::none_of(r.pods.begin(), r.pods.end(), [&](const PlacedPod& p) {
                  return p.pod->meta.uid == reference_.pod->meta.uid;
                });
      }
      if (r.node == nullptr) return;
      for (const PlacedPod& p : r.pods) {
        if (IsLike(*p.pod->tmpl)) Consider({p.pod, row});
      }
    });
    if (!remembered || lost || choice_ != ReferencePod::kFirstByName) Search();
  }
  // Requires one value for each label. The totals are 1 in the domain of that value, so that kAny admits only its
  // nodes.
  void ListTerms() {
    terms_.clear();
    channels_.clear();
    auto require = [&](Symbol label, Symbol value) {
      const LabelColumn* column = &cache_->Label(label);
      auto allowed = std::make_shared<AllowedDomain>(column);
      allowed->Allow(column->DomainOf(value));
      terms_.push_back({std::move(allowed), column, 1, static_cast<uint32_t>(channels_.size())});
      channels_.push_back(DomainChannel::kAny);
    };
    for (const auto& [label, value] : given_) require(label, value);
    if (reference_.pod == nullptr) return;
    for (Symbol label : labels_) {
      if (IsGiven(label)) continue;
      if (auto value = ctx_.cache.row(reference_.row).node->labels.Get(label)) require(label, *value);
    }
  }

  // For the reference scheduler: lists the possible reference pods by name. Simulated evictions may remove some of them
  // later.
  void List() {
    listed_ = true;
    RankRows();
    ForEachLike([&](const Reference& r) { references_.push_back(r); });
    std::sort(references_.begin(), references_.end(),
              [&](const Reference& a, const Reference& b) { return Precedes(a, b); });
  }
  // Returns the first possible reference pod, leaving out those that have been removed from `row`. Null if there is
  // none.
  const Reference* Find(Row row) const {
    for (const Reference& r : references_) {
      if (r.row != row) return &r;
      const auto& pods = ctx_.cache.row(row).pods;
      if (std::any_of(pods.begin(), pods.end(), [&](const PlacedPod& p) { return p.pod == r.pod; })) return &r;
    }
    return nullptr;
  }

  PodContext ctx_;
  Cache* cache_;
  const std::vector<Symbol>& labels_;
  ReferencePod choice_;
  api::Selector like_;
  std::vector<std::pair<Symbol, Symbol>> given_;  // the labels that the pod's own nodeSelector names, sorted
  // State of the incremental scheduler: the versions that were read last and the reference pod that was found.
  bool known_ = false, follows_ = false;
  uint64_t selectors_ = 0, seen_ = 0;
  Reference reference_;
  std::vector<uint64_t> ranks_;  // by row, for ReferencePod::kFirstListed
  // State of the reference scheduler.
  bool listed_ = false;
  std::vector<Reference> references_;
};

FitPredicate Make(const PluginFactoryArgs& args, std::vector<Symbol> labels, ReferencePod choice) {
  auto shared = std::make_shared<const std::vector<Symbol>>(std::move(labels));
  return [cache = args.cache, shared, choice](const PodContext& ctx) {
    return std::make_unique<ServiceAffinityCheck>(ctx, cache, *shared, choice);
  };
}

}  // namespace

FitPredicate ServiceAffinity(const PluginFactoryArgs& args, std::vector<Symbol> labels) {
  return Make(args, std::move(labels), ReferencePod::kFirstByName);
}
FitPredicate ServiceAffinityToFirstListed(const PluginFactoryArgs& args, std::vector<Symbol> labels) {
  return Make(args, std::move(labels), ReferencePod::kFirstListed);
}

}  // namespace berth::scheduler::serviceaffinity
