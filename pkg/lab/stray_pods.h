// Pods of an input that nothing would place, or that stand on a node that the input lacks.
#pragma once
#include <string>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "pkg/api/json.h"
#include "pkg/lab/input_places.h"
#include "pkg/lab/scenario.h"

namespace berth::lab {

class Validator;

class StrayPods {
 public:
  void AddNode(const std::string& name) { nodes_.insert(name); }
  // Keeps the place of the field that Report would name, if the pod is a stray one as far as the nodes are known. `j`
  // is what the pod was decoded from.
  void Note(const api::Pod& pod, api::Json j, LineCounter* lines);
  // Tells the validator of bound pods whose node is missing, and of pending pods that another scheduler should place.
  void Report(const Scenario& scenario, const ObjectPlaces& places, Validator* validator) const;

 private:
  std::string FieldPlaceOf(const api::PodPtr& pod, const ObjectPlaces& places) const;

  absl::flat_hash_set<std::string> nodes_;                          // the names of all nodes read so far
  absl::flat_hash_map<const api::Pod*, std::string> field_places_;  // pods to "FILE:LINE:COLUMN"
};

}  // namespace berth::lab
