// Place, the decision by parts, in four steps:
//   1. Prepare finds the terms and the labels (keys) by which nodes have to be grouped. It does this again only when
//      the terms have changed or many nodes have come or gone.
//   2. The class is brought up to date and then the special rows, from the cache's log of changes.
//   3. The parts are listed, and those are dropped that a predicate does not admit; the others are scored.
//   4. Choose finds the sets of rows with the best total and takes one of them by counting, without listing them.
// Unless something has to be found from scratch, no step goes through all nodes: the cost depends on the number of
// changes, parts and special rows. PlaceInRows lists the rows instead.
#include "pkg/scheduler/core/incremental/domain_overlay.h"

#include <algorithm>
#include <limits>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Special rows are listed for one decision if there are at most this many, or at most one in this many nodes.
constexpr size_t kFewSpecials = 64, kNodesForOneSpecial = 8;
// What it costs to bring a special row up to date, and to list one for a decision, where looking whether a changed row
// may be special costs 1. Estimated from profiles with 100 to 1,000 templates.
struct CostsOfSpecial {
  uint64_t update, listing;
};
constexpr CostsOfSpecial kCostsInCaches = {20, 4}, kCostsInMemory = {64, 12};
// What is read of this many nodes for a decision stays in the processor's caches.
constexpr size_t kNodesInCaches = 8192;
// What it costs to look up the number of a term for a row, where going through the numbers of a term costs 1 for each.
constexpr size_t kCostOfLookup = 4;
// How many rows are looked at to see whether most of them have different signatures, at most.
constexpr size_t kSampledRows = 96;
// For how many decisions keeping special rows must have been worth while before it begins, and how many if their
// domains have several rows.
constexpr uint64_t kDecisionsBefore = 2, kDecisionsBeforeDomains = 6;

// What no decision of this thread uses now: objects of type T.
template <typename T>
std::vector<std::unique_ptr<T>>& UnusedOf() {
  thread_local std::vector<std::unique_ptr<T>> unused;
  return unused;
}

}  // namespace

DomainOverlay::BorrowedBuffers::BorrowedBuffers() {
  auto& unused = UnusedOf<Buffers>();
  if (unused.empty()) {
    buffers_ = std::make_unique<Buffers>();
    return;
  }
  buffers_ = std::move(unused.back());
  unused.pop_back();
}

DomainOverlay::BorrowedBuffers::~BorrowedBuffers() {
  UnusedOf<Buffers>().push_back(std::move(buffers_));
}

DomainOverlay::DomainOverlay(Cache* cache, const RuleSet& rules, CommonKeys* common, const api::PodPtr& pod)
    : cache_(cache),
      rules_(rules),
      common_(*common),
      pod_(pod),
      ctx_{*pod_, *cache->Info(*pod), *cache},
      specials_(cache, &layout_, &signatures_) {
  PrepareRules();
}

// A rule that declares kDomains must return a DomainCheck or DomainScoring. If a plugin's rule does not, the reference
// scheduler decides.
void DomainOverlay::PrepareRules() {
  checks_.reserve(rules_.domain_predicates.size());
  scorings_.reserve(rules_.domain_priorities.size());
  for (const ConfiguredPredicate* p : rules_.domain_predicates) {
    std::unique_ptr<FitCheck> check = p->predicate(ctx_);
    auto* domain = dynamic_cast<DomainCheck*>(check.get());
    if (domain == nullptr) {
      usable_ = usable_ && check->FitsAlways();
      continue;
    }
    check.release();
    checks_.emplace_back(domain);
  }
  for (const ConfiguredPriority* p : rules_.domain_priorities) {
    std::unique_ptr<Scoring> scoring = p->function(ctx_);
    auto* domain = dynamic_cast<DomainScoring*>(scoring.get());
    usable_ = usable_ && domain != nullptr;
    if (domain == nullptr) continue;
    scoring.release();
    scorings_.push_back({std::unique_ptr<DomainScoring>(domain), p->weight});
  }
}

// Which terms are dense depends on the number of nodes, so the terms are found anew when many nodes have come or gone.
bool DomainOverlay::Prepare() {
  if (!usable_) return false;
  bool changed = !found_;
  for (auto& check : checks_) changed |= check->Refresh();
  for (auto& s : scorings_) changed |= s.scoring->Refresh();
  const size_t nodes = cache_->node_count();
  if (changed || 8 * nodes < 7 * nodes_then_ || 8 * nodes > 9 * nodes_then_) FindTerms();
  return std::all_of(checks_.begin(), checks_.end(), [](const auto& c) { return c->usable(); }) &&
         std::all_of(scorings_.begin(), scorings_.end(), [](const auto& w) { return w.scoring->usable(); });
}

void DomainOverlay::FindTerms() {
  found_ = true;
  nodes_then_ = cache_->node_count();
  specials_.Invalidate();
  layout_.Find(checks_, scorings_, common_.Few(), cache_->node_count());
  for (const GroupKey& k : layout_.keys()) common_.Add(k);
  signatures_.Reset(layout_.slots().size());
  labels_.Find(rules_, ctx_, &layout_);
}

void DomainOverlay::SetClass(std::shared_ptr<EquivalenceClass> rows) {
  BERTH_REQUIRES(rows->nodes().keys() == keys() && rows->nodes().left_out() == left_out());
  if (rows_ == rows) return;
  rows_ = std::move(rows);
  specials_.Invalidate();
}

bool DomainOverlay::NodesHaveChanged(uint64_t since) const {
  bool changed = false;
  return !cache_->NodeChangesSince(since, [&](Row) { changed = true; }) || changed;
}

// Returns how the special rows are found, and notes that a decision is made now: they are kept if that pays, or if they
// are kept and easily brought up to date. REQUIRES: the class is up to date.
DomainOverlay::Way DomainOverlay::ChooseWay() {
  const bool decided = decided_ != 0;
  const uint64_t now = cache_->generation(), changes = now - decided_;
  decided_ = now;
  if (layout_.sparse().empty()) return Way::kKept;
  const size_t nodes = cache_->node_count(), counted = layout_.Counted();
  const CostsOfSpecial& costs = nodes <= kNodesInCaches ? kCostsInCaches : kCostsInMemory;
  // All rows that have changed are looked at, and those of them that are special, which are as many as among all nodes,
  // are brought up to date.
  const auto pays = [&](uint64_t since) {
    return since * (nodes + costs.update * counted) <= costs.listing * counted * nodes;
  };
  // Where domains have several rows, a change of a node makes it necessary to find the special rows from scratch.
  const bool have_domains = !layout_.sparse_columns().empty();
  const auto stay = [&](uint64_t since) { return !have_domains || !NodesHaveChanged(since); };
  if (specials_.UpToDateWith(*rows_) && pays(now - specials_.seen()) && stay(specials_.seen())) return Way::kKept;
  // Keeping begins when it would have cost at most half for the last decisions, because the special rows must be found
  // from scratch first. Pods in random order come soon after one another now and then, too.
  would_have_paid_ = decided && pays(2 * changes) && stay(now - changes) ? would_have_paid_ + 1 : 0;
  if (would_have_paid_ >= (have_domains ? kDecisionsBeforeDomains : kDecisionsBefore)) return Way::kKept;
  return counted > std::max(kFewSpecials, nodes / kNodesForOneSpecial) ? Way::kByRow : Way::kListed;
}

// ---- deciding by parts --------------------------------------------------------------------------

DomainOverlay::Answer DomainOverlay::Place(uint64_t* last_node_index) {
  BERTH_REQUIRES(usable_ && found_ && rows_ != nullptr);
  const BorrowedBuffers borrowed;
  rows_->Refresh();
  return PlaceByParts(*borrowed, last_node_index);
}

// REQUIRES: the class is up to date.
DomainOverlay::Answer DomainOverlay::PlaceByParts(Buffers& b, uint64_t* last_node_index) {
  const Way way = ChooseWay();
  went_through_rows_ = way == Way::kByRow;
  if (way == Way::kByRow) return PlaceInRows(b, {}, false, last_node_index);
  const bool listed = way == Way::kListed;
  if (listed) {
    specials_.Invalidate();
    b.found.Find(*cache_, layout_, *rows_, &signatures_, &b.sums);
  } else {
    specials_.Refresh(*rows_, &b.sums);
  }
  if (!rows_->usable()) return {};
  BeginParts(b, signatures_);
  AskLabelRulesOfClass(b);
  if (listed) {
    b.found.AddParts(&b.parts);
  } else {
    AddKeptParts(b);
  }
  if (on_filtered_ != nullptr) (*on_filtered_)();
  const uint64_t feasible = b.parts.Score();
  if (feasible == 0) return {Answer::Outcome::kUnfit, {}, 0, 0};
  if (!listed) return Choose(b, feasible, last_node_index);
  const FoundSpecials::Choice choice = b.found.Choose(b.parts, *last_node_index);
  if (feasible > 1) ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(cache_->RowAt(choice.rank)).name, feasible, choice.ties};
}

void DomainOverlay::BeginParts(Buffers& b, const SignatureTable& signatures) {
  b.parts.Begin({layout_, signatures, labels_, b.answers, rows_->nodes(), rules_.max_score});
  labels_.Begin(rows_->nodes().group_count(), &b.answers);
}

// REQUIRES: b.answers.rows has one row of each group.
void DomainOverlay::AskLabelRules(Buffers& b) {
  usable_ = labels_.Evaluate(rows_->nodes(), &b.answers) && usable_;
}

// REQUIRES: the class is built.
void DomainOverlay::AskLabelRulesOfClass(Buffers& b) {
  if (labels_.empty()) return;
  for (const EquivalenceClass::Group& g : rows_->groups()) {
    if (g.size > 0) b.answers.rows.push_back(cache_->RowAt(g.buckets.ranks(0).Any()));
  }
  AskLabelRules(b);
}

// Adds for each group the part of its plain rows and those of its overlays.
void DomainOverlay::AddKeptParts(Buffers& b) {
  const std::vector<EquivalenceClass::Group>& groups = rows_->groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].size == 0 || b.answers.admits[i] == 0) continue;
    const auto group = static_cast<int32_t>(i);
    const uint32_t plain = groups[i].size - specials_.InGroup(i);
    if (plain > 0) b.parts.AddCandidate(group, 0, nullptr, plain);
    if (plain == groups[i].size) continue;
    for (const auto& [signature, overlay] : specials_.Overlays(group)) {
      b.parts.AddCandidate(group, signature, &overlay.buckets, overlay.size);
    }
  }
  b.parts.Admit({});
}

// Returns the best rows of the plain rows of a group: the bucket, with the ranks in *shadow left out unless it is null.
// Adds their score to *total. The score of a bucket whose rows are all special is skipped. REQUIRES: the group has a
// plain row.
const RankSet* DomainOverlay::BestPlainRows(const PartTable::Part& part, int64_t* total, const RankSet** shadow) const {
  const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(part.group)].buckets;
  const bool with_specials = specials_.InGroup(static_cast<size_t>(part.group)) > 0;
  for (size_t i = 0;; ++i) {
    if (with_specials) {
      *shadow = specials_.Shadow(part.group, static_cast<int32_t>(buckets.score(i)));
      if (*shadow != nullptr && (*shadow)->size() == buckets.ranks(i).size()) continue;
    }
    *total += buckets.score(i);
    return &buckets.ranks(i);
  }
}

// Finds the best total and the sets of rows that reach it (`in` without `out`), and takes the row that round robin
// chooses. In each part only the best bucket with a plain row can win.
DomainOverlay::Answer DomainOverlay::Choose(Buffers& b, uint64_t feasible, uint64_t* last_node_index) {
  int64_t best = std::numeric_limits<int64_t>::min();
  b.in.clear();
  b.out.clear();
  uint64_t ties = 0;
  for (size_t i = 0; i < b.parts.size(); ++i) {
    const PartTable::Part p = b.parts[i];
    int64_t total = p.total;
    const RankSet* rows = nullptr;
    const RankSet* shadow = nullptr;
    if (p.specials != nullptr) {
      total += p.specials->score(0);
      rows = &p.specials->ranks(0);
    } else {
      if (total + rows_->groups()[static_cast<size_t>(p.group)].buckets.top() < best) continue;
      rows = BestPlainRows(p, &total, &shadow);
    }
    if (total < best) continue;
    if (total > best) {
      best = total;
      b.in.clear();
      b.out.clear();
      ties = 0;
    }
    b.in.push_back(rows);
    ties += rows->size();
    if (shadow != nullptr) {
      b.out.push_back(shadow);
      ties -= shadow->size();
    }
  }
  const uint32_t limit = cache_->rank_limit();
  const uint32_t rank = SelectKth({b.in, {}}, {b.out, {}}, limit, static_cast<uint32_t>(*last_node_index % ties));
  if (feasible > 1) ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(cache_->RowAt(rank)).name, feasible, ties};
}

// ---- deciding by rows ---------------------------------------------------------------------------

DomainOverlay::Answer DomainOverlay::PlaceAmong(const Extra& extra, uint64_t* last_node_index) {
  const BorrowedBuffers borrowed;
  went_through_rows_ = true;
  bool keep = false;
  if (rows_->built()) {
    rows_->Refresh();
    if (extra.filter != nullptr) return PlaceFiltered(*borrowed, extra, last_node_index);
    keep = ChooseWay() == Way::kKept;
    const bool by_row = extra.narrow != nullptr || extra.score != nullptr;
    if (InWindow(extra, keep, by_row)) return PlaceInWindow(*borrowed, extra.walk, last_node_index);
  }
  return PlaceInRows(*borrowed, extra, keep, last_node_index);
}

bool DomainOverlay::Candidates(std::vector<Row>* rows) const {
  return std::ranges::any_of(checks_, [&](const auto& check) { return check->Candidates(rows); });
}

DomainOverlay::Answer DomainOverlay::PlaceAmongFew(std::shared_ptr<EquivalenceClass> few, const Extra& extra,
                                                   uint64_t* last_node_index) {
  BERTH_REQUIRES(few->nodes().built() && !few->built() && extra.walk == nullptr);
  const BorrowedBuffers borrowed;
  went_through_rows_ = true;  // where a pod was unfit, the reference scheduler will be asked about the next one at once
  rows_.swap(few);
  few_ = true;
  const Answer answer = PlaceInRows(*borrowed, extra, false, last_node_index);
  few_ = false;
  rows_.swap(few);
  return answer;
}

// Returns whether the rows of a walk can be counted, so that none of them is listed.
bool DomainOverlay::InWindow(const Extra& extra, bool keep, bool by_row) const {
  return extra.walk != nullptr && keep && !by_row && cache_->order() == NodeOrder::kZoneTree;
}

// Calls the filter for all rows that fit before anything else is found out about them. Often they all stay, and then
// there is nothing to call for single rows. REQUIRES: the class is up to date; there is a filter.
DomainOverlay::Answer DomainOverlay::PlaceFiltered(Buffers& b, const Extra& extra, uint64_t* last_node_index) {
  rows_->FittingRows(&b.candidates);
  const uint32_t fitting = b.candidates.Size();
  if (!(*extra.filter)(&b.candidates)) return {};
  Extra rest = extra;
  rest.filter = nullptr;
  const bool all_stay = b.candidates.Size() == fitting;
  const bool by_row = !all_stay || rest.narrow != nullptr || rest.score != nullptr;
  if (rest.walk == nullptr && !by_row) return PlaceByParts(b, last_node_index);
  if (!all_stay) rest.among = &b.candidates;
  const bool keep = ChooseWay() == Way::kKept;
  if (InWindow(rest, keep, by_row)) return PlaceInWindow(b, rest.walk, last_node_index);
  return PlaceInRows(b, rest, keep, last_node_index);
}

// Lists the rows, with the signatures of special rows, which are found anew unless `keep` says that they are kept.
void DomainOverlay::ListRows(Buffers& b, bool keep, const RowSet* among) {
  if (keep) specials_.Refresh(*rows_, &b.sums);
  b.list.List(*cache_, rows_.get(), among);
  const std::vector<TermLayout::Term>& sparse = layout_.sparse();
  if (keep || sparse.empty()) {
    MarkSpecials(b, keep);
  } else if (few_ || b.list.rows().size() * sparse.size() * kCostOfLookup < layout_.Counted()) {
    MarkListed(b);
  } else if (rows_->nodes().alone() || SparseSums::AreMany(layout_, cache_->row_count())) {
    MarkMany(b);
  } else {
    MarkSpecials(b, keep);
  }
}

// REQUIRES: kept special rows are up to date, and the list was begun.
void DomainOverlay::MarkSpecials(Buffers& b, bool keep) {
  if (keep) {
    for (const auto& [row, special] : specials_.rows()) b.list.Mark(row, special.signature);
    return;
  }
  specials_.Drop();
  signatures_.Reset(layout_.slots().size());
  b.sums.ForEach(layout_, cache_->row_count(), [&](Row row, std::span<const int64_t> values) {
    if (const int32_t signature = signatures_.Use(values); signature != 0) b.list.Mark(row, signature);
  });
}

// MarkSpecials where few rows are listed: looks at these alone.
void DomainOverlay::MarkListed(Buffers& b) {
  specials_.Drop();
  signatures_.Reset(layout_.slots().size());
  for (const Row row : b.list.rows()) {
    if (const int32_t signature = signatures_.Use(b.sums.Of(layout_, row)); signature != 0) b.list.Mark(row, signature);
  }
}

// Returns whether most rows differ from all others, so that it does not pay to ask which signatures are equal. Judges
// by some of the rows, and leaves their signatures in signatures_. REQUIRES: `sums` has the signatures of all rows.
bool DomainOverlay::MostDiffer(Buffers& b, const std::vector<int64_t>& sums) {
  const size_t width = layout_.slots().size(), rows = cache_->row_count(), step = rows / kSampledRows + 1;
  size_t sampled = 0;
  for (size_t row = 0; row < rows; row += step, ++sampled) signatures_.Use({&sums[(row + 1) * width], width});
  return 4 * signatures_.size() > 3 * sampled || !b.list.HasTable(rows_->nodes().group_count(), signatures_.size());
}

// MarkSpecials where many rows are special.
void DomainOverlay::MarkMany(Buffers& b) {
  const size_t width = layout_.slots().size(), rows = cache_->row_count();
  specials_.Drop();
  signatures_.Reset(width);
  std::vector<int64_t>* const sums = b.sums.OfAll(layout_, rows);
  if (rows_->nodes().alone() || MostDiffer(b, *sums)) {
    b.of_rows.Reset(width);
    b.of_rows.TakeAll(sums, rows);
    b.list.MarkAll();
    return;
  }
  SparseSums::ForEachIn(*sums, width,
                        [&](Row row, std::span<const int64_t> values) { b.list.Mark(row, signatures_.Use(values)); });
}

// PlaceAmong, with the special rows kept or found anew. REQUIRES: a class that is built is up to date.
DomainOverlay::Answer DomainOverlay::PlaceInRows(Buffers& b, const Extra& extra, bool keep, uint64_t* last_node_index) {
  if (extra.walk != nullptr && extra.filter == nullptr && extra.among == nullptr && rows_->built()) {
    if (!WalkRows(b, keep, extra.walk)) return {};
    if (extra.narrow == nullptr && extra.score == nullptr) return ChooseWalked(b, last_node_index);
    b.list.Take(b.walked, &b.parts);
  } else if (!ListParts(b, extra, keep)) {
    return {};
  }
  if (extra.narrow != nullptr && !b.list.Filter(*cache_, *extra.narrow)) return {};
  b.list.CountRows(&b.parts);
  if (on_filtered_ != nullptr) (*on_filtered_)();
  const uint64_t feasible = b.parts.Score();
  if (feasible == 0) return {Answer::Outcome::kUnfit, {}, 0, 0};
  if (feasible == 1) return {Answer::Outcome::kPlaced, cache_->row(b.list.rows()[0]).name, 1, 1};
  if (!b.list.FindTies(b.parts, extra.score)) return {};
  const bool by_rank = extra.walk != nullptr && cache_->order() != NodeOrder::kZoneTree;
  const Row chosen = by_rank ? b.list.ChosenByRank(*cache_, *last_node_index) : b.list.Chosen(*last_node_index);
  ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(chosen).name, feasible, b.list.ties()};
}

// Lists the rows of a walk with their parts. Returns false when the reference scheduler must decide.
bool DomainOverlay::WalkRows(Buffers& b, bool keep, SampledWalk* walk) {
  if (keep) specials_.Refresh(*rows_, &b.sums);
  b.list.Begin(*cache_);
  if (!keep) MarkSpecials(b, keep);
  if (!rows_->usable()) return false;
  BeginParts(b, signatures_);
  AskLabelRulesOfClass(b);
  const std::span<const int32_t> signatures = keep ? specials_.SignaturesByRow() : b.list.marked();
  b.walked.Walk(*cache_, *rows_, signatures, std::max(signatures_.size(), b.list.marked_signatures()), walk, &b.parts);
  return true;
}

// Scores the rows that a walk has found and chooses one of them.
DomainOverlay::Answer DomainOverlay::ChooseWalked(Buffers& b, uint64_t* last_node_index) {
  if (on_filtered_ != nullptr) (*on_filtered_)();
  const uint64_t feasible = b.parts.Score();
  if (feasible == 0) return {Answer::Outcome::kUnfit, {}, 0, 0};
  if (feasible == 1) return {Answer::Outcome::kPlaced, cache_->row(b.walked.rows()[0]).name, 1, 1};
  b.walked.FindTies(b.parts);
  const Row chosen = b.walked.Chosen(*cache_, *last_node_index);
  ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(chosen).name, feasible, b.walked.ties()};
}

// Lists the rows that fit with their parts, also by the rules that have to be called for each. Returns false when the
// reference scheduler must decide.
bool DomainOverlay::ListParts(Buffers& b, const Extra& extra, bool keep) {
  ListRows(b, keep, extra.among);
  if (!rows_->usable()) return false;
  if (extra.filter != nullptr && !b.list.Filter(*cache_, *extra.filter)) return false;
  BeginParts(b, b.list.marked_all() ? b.of_rows : signatures_);
  const size_t groups = rows_->nodes().group_count();
  if (!labels_.empty()) {
    b.list.AppendOneOfEach(groups, &b.answers.rows);
    AskLabelRules(b);
  }
  b.list.FindParts(rows_->nodes(), &b.parts);
  if (extra.walk != nullptr) b.list.KeepWalked(*cache_, extra.walk);
  return true;
}

size_t DomainOverlay::bytes() const {
  return sizeof(*this) + specials_.bytes() + signatures_.bytes();
}

}  // namespace berth::scheduler
