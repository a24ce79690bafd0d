#include "pkg/lab/nominations.h"

#include <algorithm>

#include "pkg/api/nomination.h"
#include "pkg/releases/daemon_form.h"

namespace berth::lab {
namespace {

std::string_view NominationAnnotationOf(const release::Id& release) {
  return releases::DaemonFormOf(release).dialect.nomination_annotation;
}

// Returns the annotations that any release reads.
const std::vector<std::string_view>& NominationAnnotations() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const release::Id& id : release::All()) {
      const std::string_view name = NominationAnnotationOf(id);
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }();
  return kNames;
}

}  // namespace

api::PodPtr Nominations::Note(const api::PodPtr& pod, api::Json j) {
  if (!pod->node_name.empty()) return pod;
  Noted n;
  for (std::string_view name : NominationAnnotations()) {
    if (const std::string_view node = api::AnnotationOf(j, name); !node.empty()) {
      n.by_annotation[name] = util::SharedSymbol(node);
    }
  }
  if (n.by_annotation.empty() && pod->nominated_node_name.empty()) return pod;
  n.pod = std::make_shared<api::Pod>(*pod);
  noted_.push_back(std::move(n));
  return noted_.back().pod;
}

void Nominations::SettleScenario(const release::Id& release) {
  const std::string_view annotation = NominationAnnotationOf(release);
  for (size_t i = plain_; i < noted_.size() && !annotation.empty(); ++i) {
    noted_[i].pod->nominated_node_name = noted_[i].by_annotation[annotation];
  }
  noted_.resize(plain_);
}

void Nominations::SettlePlain(const release::Id& release) {
  plain_ = 0;
  SettleScenario(release);
}

}  // namespace berth::lab
