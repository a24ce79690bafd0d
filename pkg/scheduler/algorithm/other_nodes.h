// Priorities whose score for a node depends on other node objects (ClusterPart::kNodes), and which know when that
// changes scores. Everything here makes decisions faster and changes none of them: without it, every change of a node
// makes all answers invalid that are kept.
//
// Thread-safety: none, as in algorithm.h.
#pragma once

namespace berth::scheduler {

// A Scoring may be this, too.
class ReadsOtherNodes {
 public:
  virtual ~ReadsOtherNodes() = default;
  // Returns whether the score of a node whose own object has not changed since the last call may have changed. The
  // result of the first call has no meaning.
  virtual bool OthersChanged() = 0;
};

}  // namespace berth::scheduler
