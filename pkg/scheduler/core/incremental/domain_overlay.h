// The top layer of the incremental scheduler: applies the rules about topology domains to the pods of one template. The
// layer below is the template's equivalence class, whose nodes are in groups (static_node_index.h).
//
// What it joins:
//   TermLayout     where the numbers of pods that the rules read are added up: dense and sparse terms, keys
//   LabelRules     the rules about nodes that read nothing but labels
//   KeptSpecials   the special rows, in buckets; or
//   FoundSpecials  the special rows, listed for one decision; or
//   RowList        all rows that fit, listed for one decision; or
//   WalkedRows     the rows that a walk of a sampler finds
//   PartTable      the parts that the rows make: which are admitted, and their scores
// The best scores of the parts are compared, and the row that round robin chooses among the ties is found by counting.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/scheduler/core/incremental/common_keys.h"
#include "pkg/scheduler/core/incremental/found_specials.h"
#include "pkg/scheduler/core/incremental/kept_specials.h"
#include "pkg/scheduler/core/incremental/row_list.h"

namespace berth::scheduler {

class DomainOverlay {
 public:
  struct Answer {
    enum class Outcome : uint8_t {
      kPlaced,
      kUnfit,      // no row fits
      kUndecided,  // the reference scheduler must decide, for example because a rule has an error to report
    };
    Outcome outcome = Outcome::kUndecided;
    Symbol host;
    size_t feasible = 0;
    size_t ties = 0;  // number of rows that share the best total
  };
  using Extra = RowList::Extra;

  // `cache`, `rules` and `common` must outlive the overlay.
  DomainOverlay(Cache* cache, const RuleSet& rules, CommonKeys* common, const api::PodPtr& pod);

  // Brings the terms and keys up to date. Returns false when the incremental scheduler cannot decide for this template.
  bool Prepare();
  // Returns the labels by which nodes must be grouped for this template.
  const std::vector<GroupKey>& keys() const { return layout_.keys(); }
  // Returns the rules about nodes that the overlay evaluates itself, once for each group.
  const LeftOut& left_out() const { return labels_.left_out(); }
  // Sets the class that the overlay builds on. REQUIRES: its index has the same keys() and left_out().
  void SetClass(std::shared_ptr<EquivalenceClass> rows);
  EquivalenceClass* rows() const { return rows_.get(); }
  const api::PodPtr& pod() const { return pod_; }

  // Chooses the best row and advances *last_node_index as selectHost of 1.10 does. REQUIRES: Prepare returned true.
  Answer Place(uint64_t* last_node_index);
  // The same by listing the rows that fit. Used for the first pod of a class, and with rules in `extra`.
  Answer PlaceAmong(const Extra& extra, uint64_t* last_node_index);
  // If the pods in topology domains leave few rows where the pod may go, writes a superset of these rows and returns
  // true. REQUIRES: Prepare returned true.
  bool Candidates(std::vector<Row>* rows) const;
  // The same as PlaceAmong, in a class of a few rows that exists for this decision alone and has all rows that fit.
  // REQUIRES: the class is not built, its index is and has the same keys() and left_out(), and there is no walk.
  Answer PlaceAmongFew(std::shared_ptr<EquivalenceClass> few, const Extra& extra, uint64_t* last_node_index);
  // Returns whether the last decision listed all rows that fit.
  bool went_through_rows() const { return went_through_rows_; }

  // Returns whether nobody but the cache and the overlay has the template: no pod of it is left.
  bool IsIdle() const { return pod_.use_count() == 1 && pod_->tmpl.use_count() <= 2; }

  size_t bytes() const;
  // Sets a function that Place and PlaceAmong call between filtering and scoring. May be null.
  void set_on_filtered(absl::FunctionRef<void()>* f) { on_filtered_ = f; }

 private:
  // How the special rows of a decision are found.
  enum class Way : uint8_t {
    kKept,    // they are kept, and brought up to date
    kListed,  // they are few, and listed for one decision
    kByRow,   // most rows are special: all rows are listed
  };
  // What a decision works with. All overlays of a thread share it, so that decisions allocate nothing.
  struct Buffers {
    SparseSums sums;
    SignatureTable of_rows;  // a signature for each row, if the list says so (RowList::marked_all)
    LabelRules::Answers answers;
    PartTable parts;
    FoundSpecials found;
    RowList list;
    WalkedRows walked;
    RowSet candidates;
    std::vector<const RankSet*> in, out;  // arguments of SelectKth
    std::vector<uint32_t> below;          // by bucket in the order of the parts: its rows before the start of a walk
  };
  // Buffers of the thread that are one decision's for as long as this exists. A rule of an embedding program that
  // decides in another cluster, while its own decision goes on, gets other ones.
  class BorrowedBuffers {
   public:
    BorrowedBuffers();
    ~BorrowedBuffers();
    BorrowedBuffers(const BorrowedBuffers&) = delete;
    Buffers& operator*() const { return *buffers_; }

   private:
    std::unique_ptr<Buffers> buffers_;
  };

  void PrepareRules();
  void FindTerms();
  bool NodesHaveChanged(uint64_t since) const;
  Way ChooseWay();
  void BeginParts(Buffers& b, const SignatureTable& signatures);
  void AskLabelRules(Buffers& b);
  void AddKeptParts(Buffers& b);
  Answer Choose(Buffers& b, uint64_t feasible, uint64_t* last_node_index);
  const RankSet* BestPlainRows(const PartTable::Part& part, int64_t* total, const RankSet** shadow) const;
  // Ranks from `start` on and below `end`; if it wraps, from `start` on and then from 0 to below `end`.
  struct Window {
    uint32_t start, end;
    bool wraps;
    uint32_t Count(const RankSet& ranks) const {
      return ranks.CountBelow(end) - ranks.CountBelow(start) + (wraps ? ranks.size() : 0);
    }
  };
  template <typename F>
  void ForEachBucket(const PartTable::Part& part, F f) const;
  Window FindWindow(Buffers& b, SampledWalk* walk) const;
  void CountInWindow(Buffers& b, const Window& window) const;
  Answer ChooseInWindow(Buffers& b, const Window& window, uint64_t feasible, uint64_t* last_node_index) const;
  Answer PlaceInWindow(Buffers& b, SampledWalk* walk, uint64_t* last_node_index);
  void AskLabelRulesOfClass(Buffers& b);
  void MarkSpecials(Buffers& b, bool keep);
  void MarkListed(Buffers& b);
  bool MostDiffer(Buffers& b, const std::vector<int64_t>& sums);
  void MarkMany(Buffers& b);
  void ListRows(Buffers& b, bool keep, const RowSet* among);
  bool WalkRows(Buffers& b, bool keep, SampledWalk* walk);
  Answer ChooseWalked(Buffers& b, uint64_t* last_node_index);
  bool ListParts(Buffers& b, const Extra& extra, bool keep);
  Answer PlaceInRows(Buffers& b, const Extra& extra, bool keep, uint64_t* last_node_index);
  Answer PlaceByParts(Buffers& b, uint64_t* last_node_index);
  bool InWindow(const Extra& extra, bool keep, bool by_row) const;
  Answer PlaceFiltered(Buffers& b, const Extra& extra, uint64_t* last_node_index);

  Cache* cache_;
  const RuleSet& rules_;
  CommonKeys& common_;
  api::PodPtr pod_;
  PodContext ctx_;
  bool usable_ = true;
  std::vector<std::unique_ptr<DomainCheck>> checks_;
  std::vector<WeightedDomainScoring> scorings_;

  TermLayout layout_;
  LabelRules labels_;
  size_t nodes_then_ = 0;  // the number of nodes when the layout was found
  bool found_ = false;     // whether the layout was found

  std::shared_ptr<EquivalenceClass> rows_;
  SignatureTable signatures_;  // of the special rows, kept or of the last decision
  KeptSpecials specials_;
  uint64_t decided_ = 0;  // the cache's generation at the last decision by parts
  // For how many decisions in a row keeping the special rows would have been worth while (ChooseWay).
  uint64_t would_have_paid_ = 0;
  bool went_through_rows_ = false;
  bool few_ = false;  // whether the class in rows_ is one of PlaceAmongFew
  absl::FunctionRef<void()>* on_filtered_ = nullptr;
};

}  // namespace berth::scheduler
