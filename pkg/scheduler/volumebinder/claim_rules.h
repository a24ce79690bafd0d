// What differs between releases in the binding of claims (ClaimBinder, VolumeBinder), as data.
#pragma once

namespace berth::scheduler {

struct ClaimRules {
  // Whether an unbound claim with a selected node is one that the volume controller binds (1.13). Otherwise it can only
  // be used on that node.
  bool selected_node_is_immediate = false;
  // Whether volumes are listed by spec.storageClassName of claim and volume before their classes are compared, which
  // may be those of the beta annotation (bug B-33, kept). Otherwise all volumes are listed. The only member that
  // VolumeBinder reads.
  bool lists_by_specification = false;
  // Whether nodes are looked at by labels alone: a term of a volume's node affinity that names nodes in matchFields is
  // compared with an empty name. Otherwise matchFields are ignored.
  bool names_are_empty = false;
  // Whether a pod that waits for its claims only waits until they are bound (1.13). Otherwise its node is looked at
  // again, and so is whether the volumes can be used there.
  bool waits_for_claims_alone = false;
  // Whether CSI drivers may replace in-tree plugins and publish storage capacities.
  bool knows_csi_drivers = true;
  // Whether volumeMode of claim and volume must be the same.
  bool compares_modes = true;
  // Whether a claim only gets a volume of its VolumeAttributesClass (1.34).
  bool compares_attributes = false;
};

}  // namespace berth::scheduler
