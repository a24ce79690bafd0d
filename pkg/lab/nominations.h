// The nominations of the pods of an input, of which the release that decides says whether a pod's status has them or an
// annotation. That release may be known only behind the pods.
#pragma once
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/types.h"
#include "pkg/release/release.h"

namespace berth::lab {

class Nominations {
 public:
  // Returns the pod, which was decoded from `j`, in a form that Settle can complete. It is for pods that a server has
  // stored; others are not nominated.
  api::PodPtr Note(const api::PodPtr& pod, api::Json j);
  // Says that the pods noted since the last call belong to no Scenario.
  void KeepForPlain() { plain_ = noted_.size(); }
  // Completes the pods that were noted since the last call of KeepForPlain, as `release` sees them.
  void SettleScenario(const release::Id& release);
  // Completes all pods that are left.
  void SettlePlain(const release::Id& release);

 private:
  struct Noted {
    std::shared_ptr<api::Pod> pod;
    std::map<std::string_view, util::SharedSymbol> by_annotation;
  };
  std::vector<Noted> noted_;
  size_t plain_ = 0;  // how many of them belong to no Scenario
};

}  // namespace berth::lab
