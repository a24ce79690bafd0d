// Finds or makes the overlay, class, index and answers of a pod, decides how to use them, and bounds the memory that
// they take. The decision itself is made in domain_overlay.cc.
#include "pkg/scheduler/core/incremental/incremental_scheduler.h"

#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/template_parts.h"

namespace berth::scheduler {
namespace {

constexpr size_t kLeastMaxBytes = size_t{64} << 20;
// Estimates, measured with objects of ordinary size, of the memory that the cache takes for each node and each pod.
constexpr size_t kBytesOfNode = 6 << 10, kBytesOfPod = 1 << 10;
// Measured with pods that are alike but for a label: what an overlay takes besides its own tables and its class, which
// is its pod, the template with its texts and what the cache keeps for it, and places in hash tables.
constexpr size_t kBytesOfTemplate = 4 << 10;
// The smaller the groups of a class, the more it costs to build it and to find the best group. So it pays if at most
// one in this many nodes changes from one of its pods to the next: where the groups have fewer nodes on average than
// kNodesOfCrowdedGroup, where they have fewer than kNodesOfSmallGroup, and in any class. If more change, going through
// all rows takes no longer than bringing the class up to date. Measured with drawn shapes.
constexpr size_t kNodesOfCrowdedGroup = 8, kNodesOfSmallGroup = 64;
constexpr uint64_t kNodesOfChangeCrowded = 128, kNodesOfChangeSmall = 16, kNodesOfChange = 4;
// The number of classes used at which older experience begins to count less.
constexpr uint32_t kClassesRemembered = 256;
constexpr uint64_t kDecisionsBetweenCounts = 64;
// A class of all rows is used in place of one of few rows if it has missed at most so many changes, or at most one in
// so many of the few rows.
constexpr uint64_t kChangesOfKept = 8;
constexpr size_t kTemplatesWithoutVolumesKept = 1024;

// The smallest number of entries at which SharedByTemplate looks for entries to erase.
constexpr size_t kLeastSweep = 1024;

}  // namespace

IncrementalScheduler::IncrementalScheduler(Cache* cache, const AlgorithmConfig* config)
    : cache_(cache), config_(config), rules_(*config), partitions_(cache) {}
IncrementalScheduler::~IncrementalScheduler() = default;

// Objects are found by a hash of the parts. A hash may be shared by templates that are not alike, so each entry is
// compared as well.
template <typename Shared>
template <typename Make>
std::shared_ptr<Shared> IncrementalScheduler::SharedByTemplate<Shared>::Get(uint32_t parts, const api::PodPtr& pod,
                                                                            Cache& cache,
                                                                            const std::vector<GroupKey>& keys,
                                                                            const LeftOut& left_out, Make make) {
  const TemplateInfo& info = *cache.Info(*pod);
  std::vector<Entry>& same_hash = by_hash_[HashOfParts(parts, info, cache)];
  for (const Entry& e : same_hash) {
    if (e.keys != keys || e.left_out != left_out || !AlikeIn(parts, *cache.Info(e.like), info, cache)) continue;
    if (auto known = e.shared.lock(); known != nullptr) return known;
  }
  std::shared_ptr<Shared> made = make();
  same_hash.push_back({pod->tmpl, keys, left_out, made});
  if (++entries_ >= next_sweep_) Sweep();
  return made;
}

template <typename Shared>
void IncrementalScheduler::SharedByTemplate<Shared>::Sweep() {
  entries_ = 0;
  absl::erase_if(by_hash_, [&](auto& item) {
    std::erase_if(item.second, [](const Entry& e) { return e.shared.expired(); });
    entries_ += item.second.size();
    return item.second.empty();
  });
  next_sweep_ = std::max(kLeastSweep, 2 * entries_);
}

std::shared_ptr<StaticNodeIndex> IncrementalScheduler::IndexOf(const api::PodPtr& pod, const DomainOverlay& overlay) {
  if (++indexes_used_ >= kClassesRemembered) {
    indexes_used_ /= 2;
    indexes_shared_ /= 2;
  }
  bool shared = true;
  auto index =
      indexes_.Get(rules_.NodeParts(overlay.left_out()), pod, *cache_, overlay.keys(), overlay.left_out(), [&] {
        shared = false;
        return std::make_shared<StaticNodeIndex>(cache_, rules_, &partitions_, pod, overlay.keys(), overlay.left_out());
      });
  indexes_shared_ += shared ? 1 : 0;
  return index;
}

std::shared_ptr<RowAnswers> IncrementalScheduler::AnswersOf(const api::PodPtr& pod) {
  return answers_.Get(rules_.node_pods_parts, pod, *cache_, {}, {},
                      [&] { return std::make_shared<RowAnswers>(cache_, rules_, &first_columns_, pod); });
}

std::shared_ptr<EquivalenceClass> IncrementalScheduler::ClassOf(const api::PodPtr& pod, const DomainOverlay& overlay) {
  const uint32_t parts = rules_.NodeParts(overlay.left_out()) | rules_.node_pods_parts;
  return classes_.Get(parts, pod, *cache_, overlay.keys(), overlay.left_out(), [&] {
    return std::make_shared<EquivalenceClass>(cache_, IndexOf(pod, overlay), AnswersOf(pod), &scratch_);
  });
}

// Returns the overlay of the pod's template, made if there is none, and marks it as the one used last.
IncrementalScheduler::Kept* IncrementalScheduler::OverlayOf(const api::PodPtr& pod) {
  if (overlays_.size() >= next_idle_sweep_ && !overlays_.contains(pod->tmpl.get())) DropIdle();
  auto [it, fresh] = overlays_.try_emplace(pod->tmpl.get());
  if (fresh) {
    uses_.push_front(pod->tmpl.get());
    it->second.overlay = std::make_unique<DomainOverlay>(cache_, rules_, &common_keys_, pod);
  } else {
    uses_.splice(uses_.begin(), uses_, it->second.use);
  }
  it->second.use = uses_.begin();
  return &it->second;
}

// Counts the bytes of the overlay anew and evicts others when the limit is exceeded. A class, its index and its answers
// are counted in equal shares for the overlays that use them.
void IncrementalScheduler::CountBytes(Kept* kept) {
  const EquivalenceClass* rows = kept->overlay->rows();
  size_t bytes = kept->overlay->bytes() + kBytesOfTemplate;
  if (rows != nullptr) {
    const size_t answers = rows->answers()->bytes() / static_cast<size_t>(rows->answers().use_count());
    bytes += (rows->bytes() + rows->nodes().bytes() + answers) / std::max(1u, rows->sharers);
  }
  bytes_ += bytes - kept->bytes;
  kept->bytes = bytes;
  while (bytes_ > limit() && overlays_.size() > 1) EvictOldest();
}

size_t IncrementalScheduler::limit() const {
  if (max_bytes_ != 0) return max_bytes_ / schedulers_;
  const size_t cluster = cache_->node_count() * kBytesOfNode + cache_->pod_count() * kBytesOfPod;
  return std::max(cluster / 4, kLeastMaxBytes) / schedulers_;
}

void IncrementalScheduler::EvictOldest() {
  auto it = overlays_.find(uses_.back());
  Forget(&it->second);
  overlays_.erase(it);
}

void IncrementalScheduler::Forget(Kept* kept) {
  uses_.erase(kept->use);
  bytes_ -= kept->bytes;
  if (EquivalenceClass* rows = kept->overlay->rows(); rows != nullptr) --rows->sharers;
}

// Drops the overlays of templates of which no pod is left, as those of Jobs that have ended. The next sweep comes when
// their number has grown by a quarter, so that a sweep costs little for each that is added.
void IncrementalScheduler::DropIdle() {
  absl::erase_if(overlays_, [&](auto& entry) {
    if (!entry.second.overlay->IsIdle()) return false;
    Forget(&entry.second);
    return true;
  });
  next_idle_sweep_ = std::max(kLeastSweep, overlays_.size() + overlays_.size() / 4);
}

void IncrementalScheduler::Clear() {
  overlays_.clear();
  uses_.clear();
  classes_.Clear();
  indexes_.Clear();
  answers_.Clear();
  common_keys_.Clear();
  bytes_ = 0;
}

// Returns the pod without its volumes. Pods that differ in nothing but their volumes get the same template by this, so
// that they share everything that is kept: many pods of a StatefulSet differ only in the names of their claims.
const api::PodPtr& IncrementalScheduler::WithoutVolumes(const api::PodPtr& pod) {
  if (pod->tmpl->volumes.empty()) return pod;
  if (without_volumes_.size() >= kTemplatesWithoutVolumesKept) without_volumes_.clear();
  WithoutVolumesEntry& kept = without_volumes_[pod->tmpl.get()];
  if (kept.without == nullptr) {
    api::PodTemplate tmpl = *pod->tmpl;
    tmpl.volumes.clear();
    auto out = std::make_shared<api::Pod>(*pod);
    out->tmpl = api::PodTemplate::Intern(std::move(tmpl));
    kept = {pod->tmpl, std::move(out)};
  }
  return kept.without;
}

// Prepares the rules about the pod's volumes that do not fit every row. Returns nothing when one of them may have an
// error to report, or rejects the pod as a whole, which is left to the reference scheduler.
std::optional<std::vector<std::unique_ptr<FitCheck>>> IncrementalScheduler::CheckVolumes(const api::PodPtr& pod) const {
  std::vector<std::unique_ptr<FitCheck>> checks;
  if (pod->tmpl->volumes.empty()) return checks;
  PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  for (const ConfiguredPredicate* p : rules_.volume_predicates) {
    std::unique_ptr<FitCheck> check = p->predicate(ctx);
    if (check->FitsAlways()) continue;
    if (check->MayError() || check->PreFilter().rejection != nullptr) return std::nullopt;
    checks.push_back(std::move(check));
  }
  return checks;
}

// Adds the scores of priorities without usable traits to the totals. Returns false when one of them fails.
bool IncrementalScheduler::ScoreOthers(const std::vector<WeightedScoring>& others, std::span<const Row> rows,
                                       std::span<int64_t> totals) {
  std::vector<int64_t> scores(rows.size());
  for (const WeightedScoring& w : others) {
    if (w.scoring->Skips(rows)) continue;
    if (!w.scoring->Map(rows, scores).ok() || !w.scoring->Reduce(rows, scores).ok()) return false;
    for (size_t i = 0; i < rows.size(); ++i) totals[i] += scores[i] * w.weight;
  }
  return true;
}

// Counts a use of the class.
IncrementalScheduler::Use IncrementalScheduler::NoteUse(EquivalenceClass* rows) {
  if (++rows->uses <= 2) {
    if (rows->uses == 1 && ++classes_used_ >= kClassesRemembered) {
      classes_used_ /= 2;
      classes_used_again_ /= 2;
    }
    classes_used_again_ += rows->uses == 2 ? 1 : 0;
  }
  const bool again = rows->uses > 1;
  const uint64_t now = cache_->generation(), since = again ? now - rows->used_at : 0;
  rows->used_at = now;
  // In the order of the tree, each node that comes or goes gives others new ranks.
  const bool new_ranks =
      again && cache_->order() == NodeOrder::kZoneTree && rows->order_used != cache_->order_version();
  rows->order_used = cache_->order_version();
  return {again, new_ranks, since};
}

// Returns a class of the few rows where the pods in topology domains or the pod's volumes leave it a place, or null if
// they are not few. A class of all rows that can be brought up to date by fewer changes is better. `checks` are called
// for all rows first, because an error of one of them counts also on a row that another one rejects.
std::shared_ptr<EquivalenceClass> IncrementalScheduler::FewRowsFor(const DomainOverlay& overlay, const Use& use,
                                                                   std::span<const std::unique_ptr<FitCheck>> checks) {
  if (use.again && use.since <= kChangesOfKept) return nullptr;
  const bool known = overlay.Candidates(&few_) ||
                     std::ranges::any_of(checks, [&](const auto& check) { return Candidates(*check, &few_); });
  if (!known || few_.size() > FewRows(*cache_) || (use.again && use.since * kChangesOfKept <= few_.size())) {
    return nullptr;
  }
  if (!checks.empty()) {
    RowSet fit = cache_->listed(), errors;
    for (const auto& check : checks) check->Filter(&fit, &errors);
    if (!errors.empty()) return nullptr;
    std::erase_if(few_, [&](Row row) { return !fit.Has(row); });
  }
  auto index = std::make_shared<StaticNodeIndex>(cache_, rules_, &partitions_, overlay.pod(), overlay.keys(),
                                                 overlay.left_out());
  index->BuildAmong(few_);
  return std::make_shared<EquivalenceClass>(cache_, std::move(index), overlay.rows()->answers(), &scratch_);
}

// Returns whether the class is built, or should be built now. Building one for a single pod does not pay, unless other
// classes have built its index and its answers already, classes are often used again, and its groups are large. A class
// with few nodes in each group takes many times the memory of its index, and finding the best group takes as long as
// listing the rows; it pays only when its pods follow one another closely, and not while nodes that come and go give
// all rows new ranks from one pod to the next. A class is given up if so much has changed since its last use that it
// would have to be made anew for the most part.
bool IncrementalScheduler::BuildsClass(EquivalenceClass* rows, const Use& use) {
  const auto& [again, new_ranks, since] = use;
  const size_t nodes = cache_->node_count();
  const auto groups = [&] { return rows->nodes().group_count(); };
  const auto small_groups = [&] { return groups() * kNodesOfSmallGroup > nodes; };
  const bool seldom = since * kNodesOfChange > nodes || (new_ranks && small_groups());
  if (rows->built() && !seldom) return true;
  if (rows->built()) rows->Drop();
  const bool index_built = rows->nodes().built();
  rows->RefreshIndex();
  if (seldom || (small_groups() && (new_ranks || since * kNodesOfChangeSmall > nodes))) return false;
  if (groups() * kNodesOfCrowdedGroup > nodes && since * kNodesOfChangeCrowded > nodes) return false;
  if (again || small_groups() || !ClassesAreUsedAgain()) return again;
  return (rows->answers()->listed() && index_built) || rows->answers()->likely_listed_again();
}

// Decides by parts if nothing has to be called for single rows, and by listing the rows that fit otherwise. A rule
// without traits that fits this pod on every row is not called for any.
IncrementalScheduler::Answer IncrementalScheduler::Decide(const api::PodPtr& pod, Kept* kept, const Hooks& hooks,
                                                          uint64_t* last_node_index) {
  EquivalenceClass* rows = kept->overlay->rows();
  const Use use = NoteUse(rows);
  const bool by_row = hooks.filter != nullptr || hooks.walk != nullptr || hooks.narrow != nullptr ||
                      hooks.score != nullptr || !rules_.other_priorities.empty();
  const bool more_rules = by_row || !rules_.other_predicates.empty() || !pod->tmpl->volumes.empty();
  std::shared_ptr<EquivalenceClass> few;
  if (!more_rules) {
    few = FewRowsFor(*kept->overlay, use, {});
    if (few != nullptr) return kept->overlay->PlaceAmongFew(std::move(few), {}, last_node_index);
    if (BuildsClass(rows, use)) return kept->overlay->Place(last_node_index);
    return kept->overlay->PlaceAmong({}, last_node_index);
  }
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  std::vector<std::unique_ptr<FitCheck>> checks = Prepare(rules_.other_predicates, ctx);
  const bool others = !checks.empty();
  auto volumes = CheckVolumes(pod);
  if (!volumes) return {};
  for (auto& check : *volumes) checks.push_back(std::move(check));
  const std::vector<WeightedScoring> scorings = Prepare(rules_.other_priorities, ctx);
  if (hooks.walk == nullptr && !others) few = FewRowsFor(*kept->overlay, use, checks);
  const bool used_before = few == nullptr && BuildsClass(rows, use);
  if (used_before && !by_row && checks.empty()) return kept->overlay->Place(last_node_index);
  if (used_before) rows->Refresh();
  auto filter = [&](RowSet* candidates) {
    RowSet errors;
    for (auto& check : checks) check->Filter(candidates, &errors);
    return errors.empty() && (hooks.filter == nullptr || (*hooks.filter)(candidates));
  };
  auto score = [&](std::span<const Row> of, std::span<int64_t> totals) {
    return ScoreOthers(scorings, of, totals) && (hooks.score == nullptr || (*hooks.score)(of, totals));
  };
  const DomainOverlay::Extra::Filter filter_ref = filter;
  const DomainOverlay::Extra::Score score_ref = score;
  DomainOverlay::Extra extra;
  if (!checks.empty() || hooks.filter != nullptr) extra.filter = &filter_ref;
  if (!scorings.empty() || hooks.score != nullptr) extra.score = &score_ref;
  extra.walk = hooks.walk;
  extra.narrow = hooks.narrow;
  if (few != nullptr) return kept->overlay->PlaceAmongFew(std::move(few), extra, last_node_index);
  return kept->overlay->PlaceAmong(extra, last_node_index);
}

// Most first pods of a template go through all rows, because nothing is kept for it yet.
bool IncrementalScheduler::ExpectsUnfit(const api::PodPtr& pod) {
  if (!any_unfit_) return false;
  const auto known = overlays_.find(WithoutVolumes(pod)->tmpl.get());
  if (known == overlays_.end()) return first_outcomes_.MostUnfit();
  return known->second.overlay->went_through_rows() && known->second.outcomes.LastTwoUnfit();
}

void IncrementalScheduler::NoteUnfit(const api::PodPtr& pod) {
  const auto known = overlays_.find(WithoutVolumes(pod)->tmpl.get());
  (known == overlays_.end() ? first_outcomes_ : known->second.outcomes).Note(true);
}

// Finds what is kept for the pod's template, makes what is missing, and decides. The class is looked up again when the
// keys or the rules left out have changed, because they are part of what the class depends on.
IncrementalScheduler::Answer IncrementalScheduler::Place(const api::PodPtr& the_pod, const Hooks& hooks,
                                                         uint64_t* last_node_index) {
  // spec.nodeName is not part of a template, so a pod that has it cannot be decided from answers for its template.
  if (!rules_.scores_fit || !the_pod->node_name.empty()) return {};
  // Which controllers make pods differ depends on the nodes' preferAvoidPods annotations (template_parts.h). When these
  // change, the equivalence of pods does.
  if (avoided_version_ != cache_->avoided_version()) {
    avoided_version_ = cache_->avoided_version();
    Clear();
  }
  const api::PodPtr& pod = WithoutVolumes(the_pod);
  Kept* kept = OverlayOf(pod);
  if (!kept->overlay->Prepare()) return {};
  EquivalenceClass* rows = kept->overlay->rows();
  if (rows == nullptr || rows->nodes().keys() != kept->overlay->keys() ||
      rows->nodes().left_out() != kept->overlay->left_out()) {
    if (rows != nullptr) --rows->sharers;
    std::shared_ptr<EquivalenceClass> found = ClassOf(pod, *kept->overlay);
    ++found->sharers;
    kept->overlay->SetClass(std::move(found));
  }
  kept->overlay->set_on_filtered(hooks.on_filtered);
  Answer answer = Decide(the_pod, kept, hooks, last_node_index);
  if (answer.outcome != Answer::Outcome::kUndecided) {
    const bool unfit = answer.outcome == Answer::Outcome::kUnfit;
    any_unfit_ = any_unfit_ || unfit;
    if (kept->decisions == 0) first_outcomes_.Note(unfit);
    kept->outcomes.Note(unfit);
  }
  kept->overlay->set_on_filtered(nullptr);
  // The memory of an index that will hardly be used again serves the next one at once.
  rows = kept->overlay->rows();
  if (!rows->built() && rows->uses == 1 && !ClassesAreUsedAgain() && !IndexesAreShared()) rows->DropIndex();
  // Counting bytes takes time in proportion to the number of groups, so it is done after decisions 0, 1, 2, 4, 8, ...
  // and every kDecisionsBetweenCounts.
  if ((kept->decisions & (kept->decisions - 1)) == 0 || kept->decisions % kDecisionsBetweenCounts == 0)
    CountBytes(kept);
  ++kept->decisions;
  return answer;
}

}  // namespace berth::scheduler
