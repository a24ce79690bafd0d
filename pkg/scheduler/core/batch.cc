#include "pkg/scheduler/core/batch.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/scheduler/cache/image_names.h"
#include "pkg/scheduler/core/parts.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Appends a text such that no two lists of texts give the same result.
void Append(std::string_view text, std::string* out) {
  absl::StrAppend(out, text.size(), ":", std::string(text), ";");
}
void AppendSorted(std::vector<std::string> texts, std::string* out) {
  std::sort(texts.begin(), texts.end());
  absl::StrAppend(out, texts.size(), "[");
  for (const std::string& t : texts) Append(t, out);
}

std::string TermText(const api::NodeSelectorTerm& t) {
  std::string text = t.match.selector.String();
  std::vector<std::string> fields = t.problems;
  for (const api::FieldRequirement& f : t.fields) {
    std::vector<std::string> values;
    for (Symbol v : f.values) values.push_back(v.string());
    std::string& field = fields.emplace_back(absl::StrCat(f.key.string(), " ", f.op));
    AppendSorted(std::move(values), &field);
  }
  AppendSorted(std::move(fields), &text);
  return text;
}

void AppendNodeAffinity(const api::PodTemplate& t, std::string* out) {
  std::vector<std::string> labels, required, preferred;
  for (const auto& [key, value] : t.node_selector) {
    Append(value.str(), &labels.emplace_back(absl::StrCat(key.string(), "=")));
  }
  AppendSorted(std::move(labels), out);
  if (!t.affinity.node) return;
  if (t.affinity.node->required) {
    for (const auto& term : t.affinity.node->required->terms) required.push_back(TermText(term));
  }
  for (const auto& p : t.affinity.node->preferred) {
    preferred.push_back(absl::StrCat(p.weight, " ", TermText(p.preference)));
  }
  AppendSorted(std::move(required), out);
  AppendSorted(std::move(preferred), out);
}

void AppendHostPorts(const api::PodTemplate& t, std::string* out) {
  std::set<int32_t> ports;
  for (const auto* list : {&t.containers, &t.init_containers}) {
    for (const api::Container& c : *list) {
      for (const api::ContainerPort& p : c.ports) {
        if (p.host_port != 0) ports.insert(p.host_port);
      }
    }
  }
  for (const int32_t port : ports) absl::StrAppend(out, port, ",");
}

void AppendRequests(const Resource& r, std::string* out) {
  absl::StrAppend(out, r.milli_cpu, ",", r.memory, ",", r.ephemeral_storage);
  std::vector<std::string> scalars;
  for (const auto& [name, amount] : r.scalars) scalars.push_back(absl::StrCat(name.string(), "=", amount));
  AppendSorted(std::move(scalars), out);
}

void AppendImages(const api::PodTemplate& t, std::string* out) {
  std::set<std::string> names;
  for (const auto* list : {&t.containers, &t.init_containers}) {
    for (const api::Container& c : *list) names.insert(ReportedName(c.image).string());
  }
  AppendSorted({names.begin(), names.end()}, out);
}

}  // namespace

std::string BatchSignature(const BatchParts& parts, const PodContext& ctx) {
  const api::PodTemplate& t = *ctx.pod.tmpl;
  if (parts.no_spread && !t.spread_constraints.empty()) return {};
  if (parts.no_pod_affinity && (t.affinity.pod || t.affinity.pod_anti)) return {};
  if (parts.no_claims && !t.resource_claims.empty()) return {};
  std::string out;
  Append(t.scheduler_name.str(), &out);
  if (parts.tolerations) {
    std::vector<std::string> texts;
    for (const api::Toleration& o : t.tolerations) {
      std::string& text = texts.emplace_back();
      for (Symbol s : {o.key, o.value, o.op, o.effect}) Append(s.str(), &text);
    }
    AppendSorted(std::move(texts), &out);
  }
  if (parts.node_name) Append(ctx.pod.node_name.str(), &out);
  if (parts.node_affinity) AppendNodeAffinity(t, &out);
  if (parts.host_ports) AppendHostPorts(t, &out);
  if (parts.requests) AppendRequests(ctx.info.request, &out);
  // What tells the sources of the volumes apart is in the pod; it includes for how long taints are tolerated.
  if (parts.volumes || parts.tolerations) absl::StrAppend(&out, ctx.pod.unread, ";");
  if (parts.images) AppendImages(t, &out);
  if (parts.labels) {
    for (const auto& [key, value] : t.labels) {
      Append(key.str(), &out);
      Append(value.str(), &out);
    }
  }
  if (parts.features) {
    for (Symbol f : t.node_features) Append(f.str(), &out);
  }
  return out;
}

bool SameOrder(ScoredRows a, ScoredRows b) {
  if (a.rows.size() != b.rows.size()) return false;
  if (a.rows.empty()) return true;
  for (auto* rows : {&a.rows, &b.rows}) std::sort(rows->begin(), rows->end());
  const int64_t apart = a.rows[0].first - b.rows[0].first;
  return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), [apart](const auto& x, const auto& y) {
    return x.first - y.first == apart && x.second == y.second;
  });
}

void Batch::PlacedByHint(Symbol node, uint64_t cycle) {
  last_node_ = node;
  cycle_ = cycle;
}

void Batch::Placed(Symbol node, uint64_t cycle, std::string signature, ScoredRows* scored, absl::Duration now) {
  BERTH_REQUIRES(scored->rows.empty() ||
                 std::ranges::any_of(scored->rows, [&](const auto& r) { return (*scored->names)[r.second] == node; }));
  scored_.rows.clear();
  in_order_ = false;
  last_node_ = node;
  cycle_ = cycle;
  if (signature.empty()) return;
  std::swap(scored_.rows, scored->rows);
  scored_.names = scored->names;
  chosen_ = node;
  signature_ = std::move(signature);
  made_ = now;
}

bool Batch::IsWorse(const std::pair<int64_t, Row>& a, const std::pair<int64_t, Row>& b) const {
  if (a.first != b.first) return a.first < b.first;
  return (*scored_.names)[a.second].str() < (*scored_.names)[b.second].str();
}

Symbol Batch::TakeBest() {
  BERTH_REQUIRES(HasNodes());
  std::vector<std::pair<int64_t, Row>>& rows = scored_.rows;
  const std::vector<Symbol>& names = *scored_.names;
  const auto worse = [this](const auto& a, const auto& b) { return IsWorse(a, b); };
  if (!in_order_) {
    std::erase_if(rows, [&](const auto& r) { return names[r.second] == chosen_; });
    std::make_heap(rows.begin(), rows.end(), worse);
    in_order_ = true;
  }
  std::pop_heap(rows.begin(), rows.end(), worse);
  const Symbol best = names[rows.back().second];
  rows.pop_back();
  return best;
}

// What an attempt did for batching, to be counted when it is known whether a rule rejected the pod as a whole: such a
// pod never asks for a hint.
struct GenericScheduler::BatchRound {
  Symbol hint;
  std::optional<BatchFlush> flush;  // why there is no hint although a decision left nodes behind
  absl::Duration hint_took;
};

// Looks for the node that the last decision proposes for the pod, which is then proposed to no other. The last node
// must be full for this pod, whatever pods are nominated to it.
GenericScheduler::BatchRound GenericScheduler::HintFor(const api::PodPtr& pod, const std::string& signature) const {
  Batch& batch = parts_->batch;
  BatchRound round;
  if (!batch.HasNodes()) return round;
  round.flush = batch.WhyNotFor(signature, cycle_, Now());
  if (round.flush) return round;
  const Row row = cache_->FindRow(batch.last_node());
  if (row == kNoRow || !cache_->listed().Has(row)) {
    round.flush = BatchFlush::kNodeMissing;
    return round;
  }
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = parts_->filtering.PrepareActive(ctx);
  Decision unused;
  DecisionTrace trace;
  if (parts_->filtering.RejectPod(checks, &unused, &trace)) return round;
  if (parts_->filtering.CheckRow(checks, row, false, nullptr) != Verdict::kFails) {
    round.flush = BatchFlush::kNodeNotFull;
    return round;
  }
  round.hint = batch.TakeBest();
  return round;
}

// Counts what became of the attempt. `others` says whether nodes besides the chosen one were scored, and `signed_pod`
// whether the pod has a signature.
void GenericScheduler::CountBatch(const BatchRound& round, const Decision& d, bool others, bool signed_pod) {
  BatchCounts& counts = parts_->batch_counts;
  if (parts_->filtering.rejected_pod()) return;
  counts.hints[round.hint.empty() ? 0 : 1].Observe(round.hint_took);
  if (round.hint.empty()) counts.Count(BatchAttempt::kNoHint);
  if (round.flush) counts.Count(*round.flush);
  if (d.outcome != Decision::Outcome::kPlaced) return;
  if (!round.hint.empty()) {
    const bool used = d.host == round.hint;
    counts.Count(used ? BatchAttempt::kHintUsed : BatchAttempt::kHintNotUsed);
    if (used) return;
  }
  if (!others) {
    counts.Count(BatchFlush::kEmptyList);
  } else if (!signed_pod) {
    counts.Count(BatchFlush::kPodNotBatchable);
  }
}

void GenericScheduler::Parts::NoteScored(const Cache& cache, std::span<const Row> rows,
                                         std::span<const int64_t> totals) {
  if (scored.names == nullptr || scored_order != cache.order_version()) {
    scored.names = std::make_shared<const std::vector<Symbol>>(cache.columns().name);
    scored_order = cache.order_version();
  }
  scored.rows.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) scored.rows[i] = {totals[i], rows[i]};
}

// The totals of all nodes are needed for the next pod.
Decision GenericScheduler::ScheduleInBatch(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace) {
  const absl::Duration begun = Now();
  parts_->filtering.Begin();
  std::string signature = BatchSignature(*config_.batch, PodContext{*pod, *cache_->Info(*pod), *cache_});
  BatchRound round = HintFor(pod, signature);
  round.hint_took = Now() - begun;
  const Symbol hint = round.hint;
  const Symbol first = pod->nominated_node_name.empty() ? hint : Symbol(pod->nominated_node_name);
  parts_->scored.rows.clear();
  std::optional<Decision> d;
  if (!first.empty()) d = TryNode(pod, first, trace);
  const bool on_first = d.has_value();
  if (!d) {
    parts_->wants_totals = !signature.empty();
    d = DecideAmongAll(pod, mode, trace);
    parts_->wants_totals = false;
  }
  d->hint = hint;
  CountBatch(round, *d, !on_first && d->feasible > 1, !signature.empty());
  if (d->outcome != Decision::Outcome::kPlaced) return std::move(*d);
  const absl::Duration placed = Now();
  if (!hint.empty() && d->host == hint) {
    parts_->batch.PlacedByHint(hint, cycle_);
  } else {
    parts_->batch.Placed(d->host, cycle_, std::move(signature), &parts_->scored, Now());
  }
  parts_->batch_counts.stored.Observe(Now() - placed);
  return std::move(*d);
}

// Decides where no pod is placed in a batch. The release looks for a hint all the same, which takes no time here.
Decision GenericScheduler::ScheduleWithoutBatch(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace) {
  parts_->filtering.Begin();
  std::optional<Decision> on_first = TryNominatedNode(pod, trace);
  Decision d = on_first ? std::move(*on_first) : DecideAmongAll(pod, mode, trace);
  if (!config_.counts_batches) return d;
  CountBatch({}, d, !on_first && d.feasible > 1, false);
  if (d.outcome == Decision::Outcome::kPlaced) parts_->batch_counts.stored.Observe(absl::ZeroDuration());
  return d;
}

const BatchCounts* GenericScheduler::batch_counts() const {
  return config_.counts_batches ? &parts_->batch_counts : nullptr;
}

}  // namespace berth::scheduler
