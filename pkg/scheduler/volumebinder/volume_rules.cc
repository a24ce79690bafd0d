#include "pkg/scheduler/volumebinder/volume_rules.h"

#include <algorithm>
#include <vector>

#include "pkg/util/symbol.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;
using util::Symbol;

// Every term must match, although terms should be alternatives (bug B-32, kept). A term that cannot be parsed does not
// match.
bool AllTermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Labels& labels) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const api::NodeSelectorTerm& t) { return t.match.ok() && t.match.selector.Matches(labels); });
}

bool Includes(const std::vector<Symbol>& have, const std::vector<Symbol>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](Symbol m) { return std::find(have.begin(), have.end(), m) != have.end(); });
}

}  // namespace

bool UsableOn(const PersistentVolume& v, const api::Labels& node) {
  return !v.annotation_affinity_bad && AllTermsMatch(v.annotation_affinity, node) &&
         AllTermsMatch(v.node_affinity, node);
}

// Because all terms must match, a requirement of any of them applies to every node.
const api::Requirement* NarrowestRequirement(const PersistentVolume& v) {
  const api::Requirement* narrowest = nullptr;
  for (const auto* terms : {&v.annotation_affinity, &v.node_affinity}) {
    for (const api::NodeSelectorTerm& t : *terms) {
      for (const api::Requirement& r : t.match.selector.requirements()) {
        if (r.op == api::Operator::kIn && (narrowest == nullptr || r.values.size() < narrowest->values.size()))
          narrowest = &r;
      }
    }
  }
  return narrowest;
}

bool RefersTo(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  return v.claim_ref && v.claim_ref->ns == c.meta.ns.str() && v.claim_ref->name == c.meta.name &&
         (v.claim_ref->uid.empty() || v.claim_ref->uid == c.meta.uid);
}

const api::Quantity& CapacityOf(const PersistentVolume& v) {
  static const api::Quantity kNone;
  return v.capacity ? *v.capacity : kNone;
}

bool Suits(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  return !v.claim_ref && (!c.selector || c.selector->selector.Matches(v.labels)) && v.Class() == c.Class() &&
         Includes(v.access_modes, c.access_modes) && !(CapacityOf(v) < c.request);
}

}  // namespace berth::scheduler
