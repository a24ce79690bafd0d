#include "pkg/api/nomination.h"

#include <memory>

namespace berth::api {

std::string_view AnnotationOf(Json object, std::string_view name) {
  return object.Find("metadata").Find("annotations").FindExact(name).Text();
}

PodPtr WithNominationFrom(std::string_view annotation, const PodPtr& pod, Json object) {
  const std::string_view node = AnnotationOf(object, annotation);
  if (!pod->node_name.empty() || pod->nominated_node_name.str() == node) return pod;
  auto copy = std::make_shared<Pod>(*pod);
  copy->nominated_node_name = util::SharedSymbol(node);
  return copy;
}

}  // namespace berth::api
