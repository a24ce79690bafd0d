// The plugin PodTopologySpread of releases 1.19 and 1.29: Filter and Score. Source: filtering.go, scoring.go, common.go
// and plugin.go in pkg/scheduler/framework/plugins/podtopologyspread.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/scheduler/algorithm/podspread/natural_logarithm.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/results_of_range.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/util/status.h"

namespace berth::scheduler::podspread {
namespace {

using Action = api::TopologySpreadConstraint::Action;
using Constraint = api::TopologySpreadConstraint;

const Symbol kHostname("kubernetes.io/hostname");

// Returns the selector of a constraint with a requirement added for each of matchLabelKeys that the pod has. A selector
// that matches nothing stays as it is.
api::Selector Narrowed(const Constraint& c, const api::Labels& labels) {
  const api::Selector& selector = c.selector.selector;
  if (selector.MatchesNothing() || c.match_label_keys.empty()) return selector;
  std::vector<api::Requirement> requirements = selector.requirements();
  for (Symbol key : c.match_label_keys) {
    auto value = labels.Get(key);
    if (!value) continue;
    api::Requirement& r = requirements.emplace_back();
    r.key = key;
    r.op = api::Operator::kIn;
    r.values = {*value};
  }
  return api::Selector(std::move(requirements));
}

}  // namespace

// The controller is found by its owner reference, not by labels, and only the three kinds below count.
api::Selector SelectorOfServicesAndOwner(const Listers& listers, const api::PodTemplate& pod) {
  std::map<Symbol, Symbol> pairs;
  for (const auto& service : listers.ServicesOf(pod)) {
    for (const auto& [key, value] : *service->selector) pairs[key] = value;
  }
  api::DecidedSelector more;
  if (pod.controller) {
    const std::string_view version = pod.controller->api_version.str(), kind = pod.controller->kind.str();
    const std::string& name = pod.controller->name;
    if (version == "v1" && kind == "ReplicationController") {
      if (auto rc = listers.replication_controllers.Get(pod.ns, name)) {
        for (const auto& [key, value] : rc->selector) pairs[key] = value;
      }
    } else if (version == "apps/v1" && kind == "ReplicaSet") {
      if (auto rs = listers.replica_sets.Get(pod.ns, name)) more = rs->selector;
    } else if (version == "apps/v1" && kind == "StatefulSet") {
      if (auto sts = listers.stateful_sets.Get(pod.ns, name)) more = sts->selector;
    }
  }
  const api::Selector selector = api::Selector::FromMap(api::Labels({pairs.begin(), pairs.end()}));
  if (!more.ok() || more.selector.MatchesNothing()) return selector;
  std::vector<api::Requirement> all = selector.requirements();
  all.insert(all.end(), more.selector.requirements().begin(), more.selector.requirements().end());
  return api::Selector(std::move(all));
}

// Controllers are looked up only for pods with labels.
api::Selector SelectorOfServicesAndControllers(const Listers& listers, const api::PodTemplate& pod) {
  std::map<Symbol, Symbol> pairs;
  for (const auto& service : listers.ServicesOf(pod)) {
    for (const auto& [key, value] : *service->selector) pairs[key] = value;
  }
  std::vector<api::Requirement> more;
  if (!pod.labels.empty()) {
    for (const auto& rc : listers.replication_controllers.Matching(pod.ns, pod.labels)) {
      for (const auto& [key, value] : rc->selector) pairs[key] = value;
    }
    auto add = [&](const auto& controllers) {
      for (const auto& c : controllers) {
        const auto& requirements = c->selector.selector.requirements();
        more.insert(more.end(), requirements.begin(), requirements.end());
      }
    };
    add(listers.replica_sets.Matching(pod.ns, pod.labels));
    add(listers.stateful_sets.Matching(pod.ns, pod.labels));
  }
  const api::Selector selector = api::Selector::FromMap(api::Labels({pairs.begin(), pairs.end()}));
  if (more.empty()) return selector;
  more.insert(more.begin(), selector.requirements().begin(), selector.requirements().end());
  return api::Selector(std::move(more));
}

namespace {

void Append(std::string* text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) text->append(part);
}

// Return texts that identify what a node filter reads of a pod. Filters with equal texts share their counts.
std::string AffinityText(const api::PodTemplate& pod) {
  std::string text;
  for (const auto& [key, value] : pod.node_selector) Append(&text, {key.str(), "=", value.str(), "\n"});
  if (!pod.affinity.node || !pod.affinity.node->required) return text;
  for (const api::NodeSelectorTerm& t : pod.affinity.node->required->terms) {
    Append(&text, {"|", t.match.selector.String(), t.has_expressions ? " e" : " -", t.problems.empty() ? "" : "!"});
    for (const api::FieldRequirement& f : t.fields) {
      Append(&text, {" ", f.key.str(), f.op});
      for (Symbol v : f.values) Append(&text, {",", v.str()});
    }
  }
  return text;
}
std::string TolerationsText(const api::PodTemplate& pod) {
  std::string text;
  for (const api::Toleration& t : pod.tolerations) {
    Append(&text, {t.key.str(), " ", t.op.str(), " ", t.value.str(), " ", t.effect.str(), "\n"});
  }
  return text;
}

// The filters for the nodes that count for the constraints of a pod: they have the labels of all `keys`, and the
// policies of the constraint (nodeAffinityPolicy, nodeTaintsPolicy) include them. Constraints with the same policies
// share one, because each has as many keys as the pod has constraints.
class NodeFilters {
 public:
  NodeFilters(std::set<Symbol> keys, const std::shared_ptr<const api::PodTemplate>& pod,
              tainttoleration::TolerationRules rules)
      : keys_(std::make_shared<const std::set<Symbol>>(std::move(keys))), pod_(pod), rules_(rules) {}

  const std::shared_ptr<const NodeFilter>& Of(const Constraint& c) {
    // Without a node selector or required affinity, the affinity policy makes no difference.
    const bool affinity = c.honor_node_affinity &&
                          (!pod_->node_selector.empty() || (pod_->affinity.node && pod_->affinity.node->required));
    auto& filter = filters_[(affinity ? 1 : 0) + (c.honor_node_taints ? 2 : 0)];
    if (filter == nullptr) filter = Make(affinity, c.honor_node_taints);
    return filter;
  }

 private:
  std::shared_ptr<const NodeFilter> Make(bool affinity, bool taints) const {
    auto filter = std::make_shared<NodeFilter>();
    // The text contains everything that `admits` reads, because filters with equal keys share their counts.
    std::string text;
    for (Symbol key : *keys_) Append(&text, {key.str(), "\n"});
    if (affinity) Append(&text, {"affinity\n", AffinityText(*pod_)});
    if (taints) Append(&text, {rules_.compares ? "compared taints\n" : "taints\n", TolerationsText(*pod_)});
    filter->key = NodeFilter::KeyOf(std::move(text));
    filter->admits = [keys = keys_, affinity, taints, pod = pod_, rules = rules_](const api::Node& node) {
      return std::all_of(keys->begin(), keys->end(), [&](Symbol key) { return node.labels.Has(key); }) &&
             (!affinity || nodeaffinity::MeetsRequired(*pod, node)) &&
             (!taints || tainttoleration::ToleratesAll(*pod, node, rules));
    };
    filter->narrow = [keys = keys_, affinity, taints, pod = pod_, rules = rules_](const Cache& cache, RowSet* rows) {
      for (Symbol key : *keys) {
        const LabelColumn& column = cache.Label(key);
        if (column.rows_with_label() == cache.node_count()) continue;
        rows->ForEach([&](Row row) {
          if (column.Domain(row) == LabelColumn::kNoDomain) rows->Erase(row);
        });
      }
      if (affinity) nodeaffinity::KeepRequired(*pod, cache, rows);
      if (taints) tainttoleration::KeepTolerated(*pod, cache, rules, rows);
    };
    return filter;
  }

  std::shared_ptr<const std::set<Symbol>> keys_;
  std::shared_ptr<const api::PodTemplate> pod_;
  tainttoleration::TolerationRules rules_;
  std::shared_ptr<const NodeFilter> filters_[4];  // by policies
};

// The constraints of a pod with one action: its own or, if it has none at all, the defaults. Their selectors are
// complete.
class Constraints {
 public:
  Constraints(const PodContext& ctx, const TopologySpreadOptions& options, Action action)
      : ctx_(ctx), options_(options), action_(action) {}

  const std::vector<Constraint>& list() const { return list_; }
  bool usable() const { return usable_; }
  // Returns the error text of the first invalid selector as 1.29 words it. Empty if there is none.
  const std::string& mistake() const { return mistake_; }
  bool own() const { return !ctx_.pod.tmpl->spread_constraints.empty(); }
  std::set<Symbol> keys() const {
    std::set<Symbol> keys;
    for (const Constraint& c : list_) keys.insert(c.topology_key);
    return keys;
  }
  // Recomputes the constraints, because default constraints depend on services and controllers. Returns true if the
  // list may have changed, and on the first call.
  bool Refresh() {
    const api::PodTemplate& pod = *ctx_.pod.tmpl;
    const uint64_t version = own() ? 0 : ctx_.cache.listers().SelectorsVersion(pod.ns);
    if (std::exchange(version_, version) == version) return false;
    list_.clear();
    if (own()) {
      for (const Constraint& c : pod.spread_constraints) {
        if (c.action != action_) continue;
        usable_ = usable_ && c.selector.ok() && !c.topology_key.empty();
        if (mistake_.empty() && !c.selector.ok()) mistake_ = c.selector.aggregated_error;
        list_.push_back(c);
        list_.back().selector.selector = Narrowed(c, pod.labels);
      }
      return true;
    }
    const api::Selector selector = options_.default_selector(ctx_.cache.listers(), pod);
    // A pod that no service or controller selects gets no default constraints.
    if (selector.Empty()) return true;
    for (const Constraint& c : options_.defaults) {
      if (c.action != action_) continue;
      list_.push_back(c);
      list_.back().selector.selector = selector;
    }
    return true;
  }
  // Returns the query for the pods that a constraint counts: those in the pod's namespace that are not terminating.
  PodQuery QueryOf(const Constraint& c) const {
    PodQuery query;
    query.namespaces = {ctx_.pod.tmpl->ns};
    query.any_of = {c.selector.selector};
    query.skip_terminating = true;
    query.sees_nominated = true;
    // In 1.29 the selector {} counts no pods.
    query.never_base = !options_.empty_selector_counts && c.selector.selector.Empty();
    query.simulation_counts_all = true;
    return query;
  }

 private:
  const PodContext& ctx_;
  const TopologySpreadOptions& options_;
  Action action_;
  bool usable_ = true;
  std::string mistake_;
  uint64_t version_ = ~uint64_t{0};
  std::vector<Constraint> list_;
};

// The Filter. Channel i counts the matching pods in the node's domain of constraint i, on nodes that the constraint
// includes. A node fits if adding the pod keeps the skew, which is the number in its domain minus the smallest number
// in any domain, at or below maxSkew.
class SpreadCheck final : public DomainCheck {
 public:
  SpreadCheck(const PodContext& ctx, Cache* cache, std::shared_ptr<const TopologySpreadOptions> options)
      : ctx_(ctx), cache_(cache), options_(std::move(options)), hard_(ctx_, *options_, Action::kDoNotSchedule) {
    Refresh();
  }

  bool usable() const override { return hard_.usable(); }
  // Pods without constraints of their own may get default constraints later, if there are any.
  bool FitsAlways() const override { return (hard_.own() || options_->defaults.empty()) && hard_.list().empty(); }
  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (!hard_.mistake().empty()) {
      result.error = "obtaining pod's hard topology spread constraints: " + hard_.mistake();
    }
    result.skip = options_->skips_pods ? hard_.list().empty() : FitsAlways();
    return result;
  }
  bool Refresh() override {
    if (!hard_.Refresh()) return false;
    terms_.clear();
    channels_.clear();
    counts_.clear();
    self_.clear();
    if (!usable()) return true;
    NodeFilters filters(hard_.keys(), ctx_.pod.tmpl, options_->tolerations);
    for (const Constraint& c : hard_.list()) {
      PodQuery query = hard_.QueryOf(c);
      query.topology_key = c.topology_key;
      query.nodes = filters.Of(c);
      query.nodes_choose_domains = options_->counts_all_nodes;
      counts_.push_back(cache_->Count(query));
      self_.push_back(c.selector.selector.Matches(ctx_.pod.tmpl->labels) ? 1 : 0);
      terms_.push_back({counts_.back(), &cache_->Label(c.topology_key), 1, static_cast<uint32_t>(channels_.size())});
      channels_.push_back(DomainChannel::kSum);
    }
    return true;
  }
  bool Admits(std::span<const DomainSum> sums) const override { return Why(sums) == nullptr; }
  void AdmitEach(std::span<const DomainSum> sums, std::span<uint8_t> admits) const override {
    std::vector<int64_t> most;  // by constraint: the most pods with which a domain does not violate it
    for (size_t i = 0; i < channels_.size(); ++i) most.push_back(MostPods(i));
    AdmitEachBy(sums, admits, [&most](std::span<const DomainSum> of_node) {
      bool fits = true;
      for (size_t i = 0; i < of_node.size(); ++i) fits = fits & of_node[i].complete & (of_node[i].value <= most[i]);
      return fits;
    });
  }
  int ReasonBits() const override { return usable() ? 2 : 0; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    NumberBySums(rows, numbers, [&](std::span<const DomainSum> sums) {
      const FailureReason* why = Why(sums);
      return why == nullptr ? 0u : why == &reasons::kSpreadSkew ? 1u : 2u;
    });
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    std::vector<DomainSum> sums(channels_.size());
    SumsOf(row, sums);
    if (const FailureReason* why = Why(sums); why != nullptr) out->push_back(*why);
  }
  RejectionDetail Detail(Row row) override {
    std::vector<DomainSum> sums(channels_.size());
    SumsOf(row, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      const Constraint& c = hard_.list()[i];
      if (!sums[i].complete) {
        RejectionDetail detail(absl::StrCat("the node lacks the label ", c.topology_key.string()));
        detail.about = RejectionDetail::About::kMissingLabel;
        detail.label = c.topology_key;
        return detail;
      }
      const int64_t skew = SkewAt(i, sums[i].value);
      if (skew > c.max_skew) return DetailOf(i, skew, cache_->Label(c.topology_key)[row].string());
    }
    return {};
  }

 private:
  // Returns the reason of the first constraint that is violated, or null.
  const FailureReason* Why(std::span<const DomainSum> sums) const {
    for (size_t i = 0; i < sums.size(); ++i) {
      if (!sums[i].complete) return &reasons::kSpreadLabel;
      if (SkewAt(i, sums[i].value) > hard_.list()[i].max_skew) return &reasons::kSpreadSkew;
    }
    return nullptr;
  }
  bool HasTooFewDomains(size_t i) const {
    return static_cast<int64_t>(counts_[i]->domains()) < hard_.list()[i].min_domains;
  }
  // Returns the skew of constraint i if the pod were added to a domain that has `pods` matching pods. The minimum
  // counts as 0 if there are fewer domains than minDomains. Returns 0 if no node counts for the constraint, because
  // upstream then ignores it.
  int64_t SkewAt(size_t i, int64_t pods) const {
    if (counts_[i]->domains() == 0) return 0;
    return pods + self_[i] - (HasTooFewDomains(i) ? 0 : counts_[i]->minimum());
  }
  // Returns the largest number for which SkewAt is not above maxSkew.
  int64_t MostPods(size_t i) const {
    const int64_t max_skew = hard_.list()[i].max_skew;
    if (counts_[i]->domains() != 0) return max_skew - SkewAt(i, 0);
    return max_skew < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  // Says what the skew would be and in which domains the pod would fit, or that there are fewer domains than
  // minDomains.
  RejectionDetail DetailOf(size_t i, int64_t skew, const std::string& domain) const {
    constexpr size_t kMostNames = 3;
    const Constraint& c = hard_.list()[i];
    const std::string key = c.topology_key.string();
    if (HasTooFewDomains(i)) {
      const size_t there = counts_[i]->domains();
      RejectionDetail detail(absl::StrCat("minDomains needs ", c.min_domains, " ", key.substr(key.rfind('/') + 1),
                                          "s, there ", there == 1 ? "is " : "are ", there));
      detail.about = RejectionDetail::About::kFewDomains;
      return detail;
    }
    RejectionDetail detail(
        absl::StrCat("skew in ", domain, " would be ", skew, ", at most ", c.max_skew, " is allowed"));
    detail.about = RejectionDetail::About::kSkew;
    std::vector<std::string> open;
    counts_[i]->ForEachAdmittedDomain([&](uint32_t d) {
      if (SkewAt(i, counts_[i]->In(d)) <= c.max_skew) open.push_back(counts_[i]->column()->Value(d).string());
    });
    if (open.empty()) return detail;
    std::sort(open.begin(), open.end());
    const size_t more = open.size() > kMostNames ? open.size() - kMostNames : 0;
    open.resize(open.size() - more);
    detail.elsewhere = absl::StrCat("it fits in ", absl::StrJoin(open, ", "));
    if (more > 0) absl::StrAppend(&detail.elsewhere, " and ", more, " more");
    return detail;
  }

  PodContext ctx_;
  Cache* cache_;
  std::shared_ptr<const TopologySpreadOptions> options_;
  Constraints hard_;
  std::vector<std::shared_ptr<const PodCount>> counts_;
  std::vector<int64_t> self_;  // 1 if the pod matches the selector of the constraint, else 0
};

// The Score. Channel i counts the matching pods in the node's domain of constraint i or, for the hostname, on the node
// itself. For each constraint whose label the node has, the raw score adds count * ln(number of domains + 2) + maxSkew
// - 1 and is then rounded, or truncated (1.19). The best nodes have the smallest raw score. Nodes that lack one of the
// labels score 0, except with the system defaults: then they are scored and win, because they lack a summand (bug M-09,
// kept).
class TopologySpreadScoring final : public DomainScoring {
 public:
  TopologySpreadScoring(const PodContext& ctx, Cache* cache, std::shared_ptr<const TopologySpreadOptions> options,
                        int64_t max_score)
      : ctx_(ctx),
        cache_(cache),
        options_(std::move(options)),
        max_score_(max_score),
        soft_(ctx_, *options_, Action::kScheduleAnyway) {
    Refresh();
  }

  bool usable() const override { return soft_.usable(); }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (soft_.mistake().empty()) return DomainScoring::Map(rows, scores);
    return util::InvalidArgument(
        "running PreScore plugin \"PodTopologySpread\": calculating preScoreState: obtaining pod's soft topology "
        "spread "
        "constraints: " +
        soft_.mistake());
  }
  bool OnePass() const override { return true; }
  bool Skips(std::span<const Row>) override { return options_->skips_pods && soft_.list().empty(); }
  bool Refresh() override {
    if (!soft_.Refresh()) return false;
    terms_.clear();
    channels_.clear();
    keys_.clear();
    needs_all_ = soft_.own() || !options_->system_defaults;
    if (!usable()) return true;
    NodeFilters filters(needs_all_ ? soft_.keys() : std::set<Symbol>(), ctx_.pod.tmpl, options_->tolerations);
    for (const Constraint& c : soft_.list()) {
      PodQuery query = soft_.QueryOf(c);
      const LabelColumn* label = &cache_->Label(c.topology_key);
      // For the hostname, pods are counted on each node and no policy applies, as upstream.
      if (c.topology_key != kHostname) {
        query.topology_key = c.topology_key;
        query.nodes = filters.Of(c);
        keys_.push_back(label);
      }
      terms_.push_back({cache_->Count(query), label, 1, static_cast<uint32_t>(channels_.size())});
      channels_.push_back(DomainChannel::kSum);
    }
    return true;
  }

  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    const size_t n = channels_.size();
    // Without constraints every node scores best where the rule is not left out.
    std::fill(scores.begin(), scores.end(), n == 0 && !options_->skips_pods ? max_score_ : 0);
    if (n == 0) return;
    thread_local std::vector<uint8_t> ignored;
    ignored.resize(parts.size);
    int64_t nodes = 0;
    for (size_t p = 0; p < parts.size; ++p) {
      ignored[p] = parts.nodes[p] == 0;
      for (size_t i = 0; needs_all_ && i < n; ++i) ignored[p] |= !parts.sums[p * n + i].complete;
      nodes += ignored[p] != 0 ? 0 : parts.nodes[p];
    }
    const std::span<const double> raw = RawScores(parts, nodes, ignored);
    // `most` starts at 0 and `least` does not, as upstream.
    int64_t least = INT64_MAX, most = 0;
    for (size_t p = 0; p < parts.size; ++p) {
      if (ignored[p]) continue;
      scores[p] = options_->rounds_scores ? Rounded(raw[p]) : static_cast<int64_t>(raw[p]);
      least = std::min(least, scores[p]);
      most = std::max(most, scores[p]);
    }
    if (least > most) return;  // all are ignored
    const auto normalised = ResultsOf<int64_t>(least, most, parts.size, [=, max = max_score_](int64_t score) {
      return most == 0 ? max : Quotient(max * (most + least - score), most);
    });
    for (size_t p = 0; p < parts.size; ++p) scores[p] = ignored[p] != 0 ? 0 : normalised(scores[p]);
  }

 private:
  // Returns the raw scores of the parts before they are rounded, of which `nodes` nodes are not ignored. Valid until
  // the next call. The domains are those of the feasible nodes. A missing label counts as a domain of its own; for the
  // hostname, every feasible node counts as a domain.
  std::span<const double> RawScores(const DomainParts& parts, int64_t nodes,
                                    const std::vector<uint8_t>& ignored) const {
    thread_local std::vector<double> raw;
    raw.assign(parts.size, 0);
    const size_t n = channels_.size();
    for (size_t i = 0, key = 0; i < n; ++i) {
      const bool by_host = soft_.list()[i].topology_key == kHostname;
      const int64_t size = by_host ? nodes : Domains(parts, key++, ignored);
      const double weight = NaturalLogarithm(static_cast<double>(size + 2));
      const auto skew = static_cast<double>(soft_.list()[i].max_skew - 1);
      for (size_t p = 0; p < parts.size; ++p) {
        const DomainSum& s = parts.sums[p * n + i];
        raw[p] += s.complete ? static_cast<double>(s.value) * weight + skew : 0;
      }
    }
    return raw;
  }
  // Returns what std::round returns, without a call.
  static int64_t Rounded(double value) {
    if (value < 0 || value >= 0x1p52) return static_cast<int64_t>(std::round(value));
    const auto whole = static_cast<int64_t>(value);
    return whole + (value - static_cast<double>(whole) >= 0.5 ? 1 : 0);
  }
  // Returns the number of domains of a key among the parts. Nodes without the label count as one more domain.
  int64_t Domains(const DomainParts& parts, size_t key, const std::vector<uint8_t>& ignored) const {
    thread_local std::vector<uint8_t> seen;
    const uint32_t limit = keys_[key]->domain_limit();
    seen.assign(limit + 1, 0);
    int64_t n = 0;
    for (size_t p = 0; p < parts.size; ++p) {
      if (ignored[p]) continue;
      uint8_t& here = seen[std::min(parts.domains[p * keys_.size() + key], limit)];
      n += here == 0;
      here = 1;
    }
    return n;
  }

  PodContext ctx_;
  Cache* cache_;
  std::shared_ptr<const TopologySpreadOptions> options_;
  int64_t max_score_;
  Constraints soft_;
  bool needs_all_ = false;  // whether nodes that lack one of the labels are ignored
};

}  // namespace

TopologySpreadOptions TopologySpreadOptions::System() {
  TopologySpreadOptions options;
  options.system_defaults = true;
  auto add = [&](Symbol key, int32_t skew) {
    Constraint& c = options.defaults.emplace_back();
    c.topology_key = key;
    c.max_skew = skew;
    c.action = Action::kScheduleAnyway;
  };
  add(kHostname, 3);
  add(Symbol("topology.kubernetes.io/zone"), 5);
  return options;
}

FitPredicate TopologySpreadFilter(const PluginFactoryArgs& args, TopologySpreadOptions options) {
  auto shared = std::make_shared<const TopologySpreadOptions>(std::move(options));
  return
      [cache = args.cache, shared](const PodContext& ctx) { return std::make_unique<SpreadCheck>(ctx, cache, shared); };
}

PriorityFunction TopologySpreadScore(const PluginFactoryArgs& args, TopologySpreadOptions options) {
  auto shared = std::make_shared<const TopologySpreadOptions>(std::move(options));
  return [cache = args.cache, shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<TopologySpreadScoring>(ctx, cache, shared, max);
  };
}

}  // namespace berth::scheduler::podspread
