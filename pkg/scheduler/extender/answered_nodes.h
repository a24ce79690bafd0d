// Reads the whole nodes in an extender's answer to `filter`.
//
// An extender without nodeCacheCapable answers with whole nodes, some megabytes for thousands of them, of which only
// the names are needed. It writes a node that has not changed as it wrote it for the pod before. So the text of each
// node is kept, and a node in an answer that has the same bytes is not parsed again. Everything else in an answer, and
// every node whose bytes are new, is parsed and checked as ever.
//
// Memory: the texts of the nodes that were answered, once each. Thread-safety: none.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/extender/sent_nodes.h"

namespace berth::scheduler {

class AnsweredNodes final : public api::KnownParts {
 public:
  // A node in an answer.
  struct Node {
    size_t place;      // its index in the request, or SentNames::kNone
    std::string name;  // only if the request has no such node
  };

  AnsweredNodes() : KnownParts({"Nodes", "items"}) {}

  // Names the request whose answer is parsed next. `sent` must outlive the parsing.
  void Expect(const SentNodes& sent) { sent_ = &sent; }
  void Begin(std::string_view text) override;
  size_t SizeIfKnown(size_t at, api::Json around) override;
  // Returns the nodes of the array, in order, or null if they have to be read from the document. Valid until the next
  // answer is parsed. `items` is a value of the document that was parsed last.
  const std::vector<Node>* Read(api::Json items) const;
  // Returns how many nodes were recognised by their bytes.
  size_t recognised() const { return recognised_; }

 private:
  size_t Recognise(size_t at, SentNames* names);
  size_t Parse(size_t at, SentNames* names);

  static constexpr size_t kNowhere = ~size_t{0};
  absl::flat_hash_map<util::Symbol, std::string> texts_;  // by name
  size_t recognised_ = 0;
  api::Document element_;  // of one node; its memory is used again

  // Of the answer that is being parsed.
  const SentNodes* sent_ = nullptr;
  std::string_view text_;
  size_t array_ = kNowhere;  // where the array begins that was passed over
  std::vector<Node> nodes_;
};

}  // namespace berth::scheduler
