// Where the numbers of pods that the domain rules of a template read (algorithm/domain_rule.h) are added up. A layout
// depends on nothing but the rules' terms, the labels that they name and the number of nodes. Terms are of two kinds:
//   - The label of a dense term has few values, for example zones. All nodes of a group are in the same domain, so its
//     number is looked up once for each group.
//   - The domains of a sparse term are single nodes, or very small. A row whose number is not 0 is "special". There are
//     few such rows, because a number is 0 unless pods in the domain count. The sums of the sparse terms for a row are
//     its "signature", which has a value for each of slots().
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/static_node_index.h"

namespace berth::scheduler {

class TermLayout {
 public:
  // A rule that has terms, and the positions of its channels in channels().
  struct PlacedCheck {
    const DomainCheck* check;
    size_t first_channel, width;
    std::vector<size_t> slots;  // values of a signature that add to its channels
  };
  // The same for a priority with terms or keys.
  struct PlacedScoring {
    const DomainScoring* scoring;
    int64_t weight;
    size_t first_channel, width;
    std::vector<size_t> keys;   // indexes in keys()
    std::vector<size_t> slots;  // values of a signature that add to its channels
  };
  static constexpr size_t kNoKey = ~size_t{0};
  struct Term {
    const DomainTerm* term;
    size_t channel;  // index in channels()
    // Index in keys(): for a dense term, the label that makes its domains; for a sparse term, the label that nodes must
    // have, or kNoKey if they need none.
    size_t key;
    size_t slot;  // for a sparse term, index in the signature
  };

  // Lays out the terms of the rules, which must outlive the layout, in a cluster of `nodes` nodes. The keys in `first`
  // that have few values come first among keys().
  void Find(std::span<const std::unique_ptr<DomainCheck>> checks, std::span<const WeightedDomainScoring> scorings,
            std::span<const GroupKey> first, size_t nodes);
  // Returns the index of the key in keys(), and adds the key if there is none. A key for the values of a label also
  // says whether a node has the label.
  size_t KeyOf(const LabelColumn* column, bool presence_only);

  const std::vector<PlacedCheck>& checks() const { return checks_; }
  const std::vector<PlacedScoring>& scorings() const { return scorings_; }
  // Returns the predicates without terms. The sums of every node are 0, so each of them admits all nodes or none.
  const std::vector<const DomainCheck*>& checks_without_terms() const { return checks_without_terms_; }
  // Returns the channels of all placed rules, one rule after another.
  const std::vector<DomainChannel>& channels() const { return channels_; }
  // Returns the labels by which nodes must be grouped.
  const std::vector<GroupKey>& keys() const { return keys_; }
  // Returns the dense terms, sorted by channel and then by key.
  const std::vector<Term>& dense() const { return dense_; }
  const std::vector<Term>& sparse() const { return sparse_; }
  // A channel whose sum is incomplete for nodes without the label of this key.
  struct Need {
    size_t channel, key;
    friend auto operator<=>(const Need&, const Need&) = default;
  };
  // Returns what the terms need of nodes, sorted, each pair once.
  const std::vector<Need>& needs() const { return needs_; }
  // Returns for each value of a signature the channel that it adds to.
  const std::vector<size_t>& slots() const { return slots_; }
  // Returns the labels of the sparse terms whose domains are not single rows, each once.
  const std::vector<const LabelColumn*>& sparse_columns() const { return sparse_columns_; }
  // Returns how many numbers other than 0 the sparse terms have at present.
  size_t Counted() const;

  // Adds the value of a slot of a signature to the sum of the slot's channel.
  void AddSlot(std::span<const int64_t> signature, size_t slot, DomainSum* sum) const {
    if (channels_[slots_[slot]] == DomainChannel::kSum) {
      sum->value += signature[slot];
    } else if (signature[slot] > 0) {
      sum->value = 1;
    }
  }

 private:
  size_t PlaceChannels(const DomainRule& rule);
  void PlaceTerm(const DomainTerm& term, size_t channel);
  size_t SlotOf(size_t channel);
  void PlaceScoring(const WeightedDomainScoring& scoring);
  std::vector<size_t> SlotsOf(size_t first_channel, size_t width) const;
  void FindNeeds();

  size_t nodes_ = 0;
  std::vector<PlacedCheck> checks_;
  std::vector<PlacedScoring> scorings_;
  std::vector<const DomainCheck*> checks_without_terms_;
  std::vector<DomainChannel> channels_;
  std::vector<GroupKey> keys_;
  std::vector<Term> dense_, sparse_;
  std::vector<Need> needs_;
  std::vector<size_t> slots_;
  std::vector<const LabelColumn*> sparse_columns_;
  // Where something is found in the lists above when they are long: by label column, the index of its first key and of
  // the first that is one for the label's values; by channel, the index in slots_. Empty while the list is short.
  absl::flat_hash_map<const LabelColumn*, size_t> first_key_, first_value_key_;
  absl::flat_hash_map<size_t, size_t> slot_of_;
};

// Returns whether nodes can be grouped by the values of the label, because there are few of them.
bool IsDense(const LabelColumn& column, size_t nodes);

// The most groups for which nodes are grouped by labels.
inline constexpr size_t kMostValuesOfGroups = 1024;

}  // namespace berth::scheduler
