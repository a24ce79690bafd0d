// The incremental scheduler: makes the same decisions as the reference scheduler, from answers that it keeps between
// decisions.
//
// What is kept, from the bottom up, and which pods share it:
//   StaticNodeIndex    which nodes fit, their static scores and groups: pods alike in what rules about nodes read
//   RowAnswers         whether each row fits, and its score: pods alike in what rules about the pods on a node read
//   EquivalenceClass   the rows that fit, by group and score: pods alike in both
//   DomainOverlay      what depends on the pods in topology domains: pods of one template
// Each is brought up to date from the cache's log of changes when it is used. So the cost of a decision grows with the
// number of changes since the class was last used and with the number of groups, but not with the number of nodes. A
// rule's traits say to which of these it belongs (rule_set.h).
//
// Some pods need more: pods with volumes, pods for which nominated pods or extenders count, and all pods under rules
// without traits. They are decided from the same answers (those for the template without its volumes), but the rows
// that fit are listed and the remaining rules are called for each of them.
//
// What is kept is bounded in bytes. The overlay that was not used for the longest time is dropped first, with its
// class, index and answers unless others use them.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "pkg/scheduler/core/incremental/domain_overlay.h"
#include "pkg/scheduler/core/incremental/outcomes.h"

namespace berth::scheduler {

class IncrementalScheduler {
 public:
  using Answer = DomainOverlay::Answer;

  IncrementalScheduler(Cache* cache, const AlgorithmConfig* config);
  ~IncrementalScheduler();

  // Callbacks for what is not a configured rule, such as nominated pods and extenders. Null pointers are not called.
  using Filter = DomainOverlay::Extra::Filter;
  using Score = DomainOverlay::Extra::Score;
  struct Hooks {
    const Filter* filter = nullptr;                    // called with the rows that fit by the rules
    const Score* score = nullptr;                      // called if more than one row fits
    SampledWalk* walk = nullptr;                       // if not null, only the rows that it finds fit
    const Filter* narrow = nullptr;                    // called after `filter` and the walk
    absl::FunctionRef<void()>* on_filtered = nullptr;  // called between filtering and scoring
  };
  // Decides where the pod goes. Advances *last_node_index when it has chosen among several nodes, as selectHost of 1.10
  // does.
  Answer Place(const api::PodPtr& pod, const Hooks& hooks, uint64_t* last_node_index);
  // Returns whether Place would go through all rows for this pod, and would probably find that none fits, by what
  // became of the pods before it. Then the reference scheduler, which must say why, may as well be asked first.
  bool ExpectsUnfit(const api::PodPtr& pod);
  // Notes that the pod fits nowhere, which was found without Place.
  void NoteUnfit(const api::PodPtr& pod);

  // Return approximately how many bytes the kept answers take, and how many they may take.
  size_t bytes() const { return bytes_; }
  size_t limit() const;
  // See GenericScheduler::LimitKeptAnswers.
  void Limit(size_t bytes, size_t schedulers) {
    max_bytes_ = bytes;
    schedulers_ = schedulers;
  }

 private:
  struct Kept {
    std::unique_ptr<DomainOverlay> overlay;
    size_t bytes = 0;  // when they were counted last, with the overlay's share of class, index and answers
    uint64_t decisions = 0;
    Outcomes outcomes;
    std::list<const api::PodTemplate*>::iterator use;  // its position in uses_
  };
  Kept* OverlayOf(const api::PodPtr& pod);
  std::shared_ptr<EquivalenceClass> ClassOf(const api::PodPtr& pod, const DomainOverlay& overlay);
  std::shared_ptr<StaticNodeIndex> IndexOf(const api::PodPtr& pod, const DomainOverlay& overlay);
  std::shared_ptr<RowAnswers> AnswersOf(const api::PodPtr& pod);
  const api::PodPtr& WithoutVolumes(const api::PodPtr& pod);
  std::optional<std::vector<std::unique_ptr<FitCheck>>> CheckVolumes(const api::PodPtr& pod) const;
  // How a class is used by a decision.
  struct Use {
    bool again;      // whether it was used before
    bool new_ranks;  // whether nodes have got new ranks since
    uint64_t since;  // the number of changes since
  };
  Use NoteUse(EquivalenceClass* rows);
  bool BuildsClass(EquivalenceClass* rows, const Use& use);
  std::shared_ptr<EquivalenceClass> FewRowsFor(const DomainOverlay& overlay, const Use& use,
                                               std::span<const std::unique_ptr<FitCheck>> checks);
  // Returns whether at least one class in eight was used a second time, or too few were used to tell.
  bool ClassesAreUsedAgain() const { return classes_used_ < kFewClasses || classes_used_again_ * 8 >= classes_used_; }
  // Returns whether at least one new class in four found that another one had its index.
  bool IndexesAreShared() const { return indexes_shared_ * 4 >= indexes_used_; }
  Answer Decide(const api::PodPtr& pod, Kept* kept, const Hooks& hooks, uint64_t* last_node_index);
  bool ScoreOthers(const std::vector<WeightedScoring>& others, std::span<const Row> rows, std::span<int64_t> totals);
  void CountBytes(Kept* kept);
  void EvictOldest();
  // Takes an overlay out of the order of use and of the bytes that are counted.
  void Forget(Kept* kept);
  void DropIdle();
  void Clear();

  Cache* cache_;
  const AlgorithmConfig* config_;
  RuleSet rules_;
  CommonKeys common_keys_;
  KeyPartitions partitions_;
  RowAnswers::FirstColumns first_columns_;
  absl::flat_hash_map<const api::PodTemplate*, Kept> overlays_;  // each overlay holds a pod and thereby its template
  std::list<const api::PodTemplate*> uses_;                      // the keys of overlays_, the last used first
  size_t next_idle_sweep_ = 0;                                   // the number of overlays at which idle ones go
  // Finds the object that pods of several templates share: those alike in some parts, with the same keys and the same
  // rules left out. Holds weak pointers, so an object is destroyed when no overlay or class uses it any more.
  template <typename Shared>
  class SharedByTemplate {
   public:
    // Returns the object for pods that are like `pod` in these PodPart bits, or the result of `make` when there is
    // none.
    template <typename Make>
    std::shared_ptr<Shared> Get(uint32_t parts, const api::PodPtr& pod, Cache& cache, const std::vector<GroupKey>& keys,
                                const LeftOut& left_out, Make make);
    void Clear() { *this = {}; }

   private:
    struct Entry {
      std::shared_ptr<const api::PodTemplate> like;  // one of the templates whose pods share the object
      std::vector<GroupKey> keys;
      LeftOut left_out;
      std::weak_ptr<Shared> shared;
    };
    void Sweep();  // erases the entries whose object is gone

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
  absl::flat_hash_map<const api::PodTemplate*, WithoutVolumesEntry> without_volumes_;  // by the template with volumes
  EquivalenceClass::Scratch scratch_;
  std::vector<Row> few_;  // the rows of FewRowsFor
  size_t bytes_ = 0, max_bytes_ = 0, schedulers_ = 1;
  uint64_t avoided_version_ = 0;
  Outcomes first_outcomes_;  // of the first pods of templates
  bool any_unfit_ = false;   // whether any pod has fitted nowhere
  // How many classes were used, and how many of them a second time; how many were made, and how many of them with the
  // index of another one. The numbers are halved from time to time.
  static constexpr uint32_t kFewClasses = 128;
  uint32_t classes_used_ = 0, classes_used_again_ = 0, indexes_used_ = 0, indexes_shared_ = 0;
};

}  // namespace berth::scheduler
