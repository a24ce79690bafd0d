// Place for templates whose pods come seldom: the special rows are found for one decision and not kept.
//
// Keeping the special rows of a template in buckets costs several times as much as looking at each of them once. It
// pays when the next pod of the template comes soon, because then few rows have changed. When many kinds of pods take
// turns, most rows of a template that are special have changed before its next pod comes. Then its special rows are
// listed anew for each decision, and the parts that they make have no buckets: the best rows of a part are found by
// going through the list.
#include <algorithm>
#include <limits>

#include "pkg/scheduler/core/incremental/domain_overlay.h"

namespace berth::scheduler {
namespace {

// Special rows are listed for one decision if there are at most this many, or at most one in this many nodes.
constexpr size_t kFewSpecials = 64, kNodesForOneSpecial = 8;
// What it costs to bring a special row up to date, and to list one for a decision, where looking whether a changed row
// may be special costs 1. Estimated from profiles with 100 to 1,000 templates.
constexpr uint64_t kCostOfUpdate = 64, kCostOfListing = 12;
// A table by group and signature is made if it has at most this many places, or this many for each special row.
constexpr size_t kLeastPlaces = 4096, kPlacesOfSpecial = 16;

}  // namespace

// Returns how the special rows are found, and notes that a decision is made now: they are kept if that pays, or if they
// are kept and easily brought up to date. REQUIRES: the class is up to date.
DomainOverlay::Way DomainOverlay::ChooseWay() {
  const bool decided = decided_ != 0;
  const uint64_t now = cache_->generation(), changes = now - decided_;
  decided_ = now;
  if (sparse_.empty()) return Way::kKept;
  size_t counted = 0;
  for (const Term& t : sparse_) counted += t.term->totals->numbers().size();
  const size_t nodes = cache_->node_count();
  // All rows that have changed are looked at, and those of them that are special, which are as many as among all nodes,
  // are brought up to date.
  const auto pays = [&](uint64_t since) {
    return since * (nodes + kCostOfUpdate * counted) <= kCostOfListing * counted * nodes;
  };
  if (epoch_ == rows_->epoch() && pays(now - seen_)) return Way::kKept;
  // Keeping begins when it would have cost at most half for the last two decisions, because the special rows must be
  // found from scratch first. Pods in random order come soon after one another now and then, too.
  const bool would_have_paid = decided && pays(2 * changes);
  const bool again = would_have_paid && would_have_paid_;
  would_have_paid_ = would_have_paid;
  if (again) return Way::kKept;
  return counted > std::max(kFewSpecials, nodes / kNodesForOneSpecial) ? Way::kByRow : Way::kListed;
}

// Lists the special rows that fit in scratch().found, apart from their parts, and counts them by group. Returns false
// when there are so many groups and signatures that the special rows must be kept in maps.
bool DomainOverlay::FindSpecials() {
  Scratch& s = scratch();
  const std::vector<EquivalenceClass::Group>& groups = rows_->groups();
  epoch_ = ~uint64_t{0};
  signatures_.Reset(slots_.size());
  specials_in_group_.assign(groups.size(), 0);
  s.top_specials.assign(groups.size(), 0);
  s.found.clear();
  AddUpSparse([&](Row row, std::span<const int64_t> sums) {
    rows_->Prefetch(row);
    if (const int32_t signature = signatures_.Use(sums); signature != 0)
      s.found.push_back({-1, 0, signature, kNoPart, row});
  });
  size_t fit = 0;
  for (FoundSpecial& f : s.found) {
    const EquivalenceClass::RowState state = rows_->state(f.row);
    if (state.group < 0) continue;
    const auto group = static_cast<size_t>(state.group);
    ++specials_in_group_[group];
    s.top_specials[group] += state.score == groups[group].buckets.top() ? 1 : 0;
    s.found[fit++] = {state.group, state.score, f.signature, kNoPart, f.row};
  }
  s.found.resize(fit);
  const size_t places = groups.size() * signatures_.size();
  if (places > std::max(kLeastPlaces, kPlacesOfSpecial * s.found.size())) return false;
  s.found_parts.assign(places, kNotLooked);
  return true;
}

// Adds the parts of the special rows and writes for each row which part it is in.
void DomainOverlay::AddFoundParts() {
  Scratch& s = scratch();
  s.part_best.assign(s.parts.size(), 0);
  const size_t signatures = signatures_.size();
  for (FoundSpecial& f : s.found) {
    int32_t& part = s.found_parts[static_cast<size_t>(f.group) * signatures + static_cast<size_t>(f.signature)];
    if (part == kNotLooked) {
      part = kNoPart;
      if (AddPart(f.group, f.signature, nullptr, 0)) {
        part = static_cast<int32_t>(s.parts.size()) - 1;
        s.part_best.push_back(f.score);
      }
    }
    f.part = part;
    if (part == kNoPart) continue;
    ++s.parts[static_cast<size_t>(part)].nodes;
    int64_t& best = s.part_best[static_cast<size_t>(part)];
    best = std::max<int64_t>(best, f.score);
  }
}

// Returns the index of the best bucket of the part's group that has a plain row. REQUIRES: there is one.
size_t DomainOverlay::BucketOf(const Part& part) const {
  const Scratch& s = scratch();
  const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(part.group)].buckets;
  if (s.top_specials[static_cast<size_t>(part.group)] < buckets.ranks(0).size()) return 0;
  for (size_t i = 1;; ++i) {
    const auto specials = std::count_if(s.found.begin(), s.found.end(), [&](const FoundSpecial& f) {
      return f.group == part.group && f.score == buckets.score(i);
    });
    if (static_cast<size_t>(specials) < buckets.ranks(i).size()) return i;
  }
}

// Returns the best total. Writes the best score of each part to scratch().part_best, and the buckets of plain parts
// that reach the best total to scratch().in.
int64_t DomainOverlay::FindWinners() {
  Scratch& s = scratch();
  int64_t best = std::numeric_limits<int64_t>::min();
  s.in.clear();
  for (size_t p = 0; p < s.parts.size(); ++p) {
    const Part& part = s.parts[p];
    const RankSet* rows = nullptr;
    if (part.signature == 0) {
      const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(part.group)].buckets;
      // A part that cannot win gets a score that no special row of its group has.
      s.part_best[p] = std::numeric_limits<int64_t>::max();
      if (part.total + buckets.top() < best) continue;
      const size_t bucket = BucketOf(part);
      s.part_best[p] = buckets.score(bucket);
      rows = &buckets.ranks(bucket);
    }
    const int64_t total = part.total + s.part_best[p];
    if (total > best) s.in.clear();
    if (total >= best && rows != nullptr) s.in.push_back(rows);
    best = std::max(best, total);
  }
  return best;
}

// As Choose, with the special rows of FindSpecials: those that reach the best total are more rows to choose from, and
// those in the buckets of plain parts that reach it are rows to leave out.
DomainOverlay::Answer DomainOverlay::ChooseOnce(uint64_t feasible, uint64_t* last_node_index) {
  Scratch& s = scratch();
  const int64_t best = FindWinners();
  uint64_t ties = 0;
  for (const RankSet* rows : s.in) ties += rows->size();
  s.won_in.clear();
  s.won_out.clear();
  auto wins = [&](int32_t part, int64_t score) {
    return part != kNoPart && s.part_best[static_cast<size_t>(part)] == score &&
           s.parts[static_cast<size_t>(part)].total + score == best;
  };
  for (const FoundSpecial& f : s.found) {
    if (wins(f.part, f.score)) s.won_in.push_back(cache_->Rank(f.row));
    if (wins(s.plain_part[static_cast<size_t>(f.group)], f.score)) s.won_out.push_back(cache_->Rank(f.row));
  }
  ties += s.won_in.size();
  ties -= s.won_out.size();
  const uint32_t limit = static_cast<uint32_t>(cache_->in_order().size());
  const uint32_t rank =
      SelectKth({s.in, s.won_in}, {{}, s.won_out}, limit, static_cast<uint32_t>(*last_node_index % ties));
  if (feasible > 1) ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(cache_->in_order()[rank]).name, feasible, ties};
}

}  // namespace berth::scheduler
