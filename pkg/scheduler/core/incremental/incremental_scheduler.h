// Decisions from answers that are kept between them, identical to those of the reference scheduler.
//
// What is kept, from the bottom up:
//   StaticNodeIndex    for pods alike in what rules about node objects read: which nodes fit, static scores, groups
//   RowAnswers         for pods alike in what rules about the pods on each node read: fits and score, by row
//   EquivalenceClass   for pods alike in both: rows that fit, by group and score
//   DomainOverlay      for pods of one template: what depends on pods in topology domains
// Each is brought up to date from the cache's log of changes when it is used, so that a decision costs as much as has
// changed since the class was used last, plus the number of groups. rule_set.h says which rule goes where, by its
// traits.
//
// A pod with volumes is decided as one of its template without them, among the rows that the rules about volumes leave;
// so is a pod beside nominated pods, and one with rules that have no traits: only those are called for every row.
//
// What is kept is bounded in bytes; the overlay that was not used for the longest time goes first, with its class and
// index where nobody else uses them. Used on the cache's thread.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "pkg/scheduler/core/incremental/domain_overlay.h"

namespace berth::scheduler {

class IncrementalScheduler {
 public:
  using Answer = DomainOverlay::Answer;

  IncrementalScheduler(Cache* cache, const AlgorithmConfig* config);
  ~IncrementalScheduler();

  // What others than the configured rules have to say about a pod, such as nominated pods and extenders. Null: nothing.
  using Filter = DomainOverlay::Extra::Filter;
  using Score = DomainOverlay::Extra::Score;
  struct Around {
    const Filter* filter = nullptr;                    // called with the rows that fit as far as the rules go
    const Score* score = nullptr;                      // called when more than one row fits
    absl::FunctionRef<void()>* on_filtered = nullptr;  // called when the rows that fit are known
  };
  // Advances *last_node_index as selectHost of 1.10 does.
  Answer Place(const api::PodPtr& pod, const Around& around, uint64_t* last_node_index);

  // What is kept, approximately, and how much may be, in bytes.
  size_t bytes() const { return bytes_; }
  size_t limit() const;
  // `bytes` for `schedulers` schedulers together; 0: a quarter of what the cluster takes, at least 64 MiB.
  void Limit(size_t bytes, size_t schedulers) {
    max_bytes_ = bytes;
    schedulers_ = schedulers;
  }
  size_t overlays() const { return overlays_.size(); }

 private:
  struct Kept {
    std::unique_ptr<DomainOverlay> overlay;
    size_t bytes = 0;  // as they were counted last, with the class and the index
    uint64_t decisions = 0;
    std::list<const api::PodTemplate*>::iterator use;
  };
  Kept* OverlayOf(const api::PodPtr& pod);
  std::shared_ptr<EquivalenceClass> ClassOf(const api::PodPtr& pod, const DomainOverlay& overlay);
  std::shared_ptr<StaticNodeIndex> IndexOf(const api::PodPtr& pod, const DomainOverlay& overlay);
  std::shared_ptr<RowAnswers> AnswersOf(const api::PodPtr& pod);
  const api::PodPtr& WithoutVolumes(const api::PodPtr& pod);
  std::optional<std::vector<std::unique_ptr<FitCheck>>> CheckVolumes(const api::PodPtr& pod) const;
  Answer Decide(const api::PodPtr& pod, Kept* kept, const Around& around, uint64_t* last_node_index);
  bool ScoreOthers(const std::vector<WeightedScoring>& others, std::span<const Row> rows, std::span<int64_t> totals);
  void CountBytes(Kept* kept);
  void EvictOldest();
  void Clear();

  Cache* cache_;
  const AlgorithmConfig* config_;
  RuleSet rules_;
  CommonKeys common_keys_;
  absl::flat_hash_map<const api::PodTemplate*, Kept> overlays_;
  std::list<const api::PodTemplate*> uses_;  // of overlays_, most recent first
  // What pods of several templates share, as long as somebody uses it.
  template <typename Shared>
  class SharedByTemplate {
   public:
    // Returns what there is for pods that are alike in these parts, or what `make` returns.
    template <typename Make>
    std::shared_ptr<Shared> Get(uint32_t parts, const api::PodPtr& pod, Cache& cache, const std::vector<GroupKey>& keys,
                                const LeftOut& left_out, Make make);
    void Clear() { *this = {}; }

   private:
    struct Entry {
      std::shared_ptr<const api::PodTemplate> like;  // stands for all whose pods share it
      std::vector<GroupKey> keys;
      LeftOut left_out;
      std::weak_ptr<Shared> shared;
    };
    void Sweep();  // erases the entries that nobody uses

    absl::flat_hash_map<size_t, std::vector<Entry>> by_hash_;
    size_t entries_ = 0, next_sweep_ = 1;
  };
  SharedByTemplate<EquivalenceClass> classes_;
  SharedByTemplate<StaticNodeIndex> indexes_;
  SharedByTemplate<RowAnswers> answers_;
  struct WithoutVolumesEntry {
    std::shared_ptr<const api::PodTemplate> with;
    api::PodPtr without;
  };
  absl::flat_hash_map<const api::PodTemplate*, WithoutVolumesEntry> without_volumes_;  // by template with them
  EquivalenceClass::Scratch scratch_;
  size_t bytes_ = 0, max_bytes_ = 0, schedulers_ = 1;
  uint64_t avoided_version_ = 0;
};

}  // namespace berth::scheduler
