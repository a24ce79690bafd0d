// The queueing hint of the plugin NodeResourcesFit. Source: isSchedulableAfterPodEvent, isSchedulableAfterNodeChange
// and isSchedulableAfterDeviceClassEvent in pkg/scheduler/framework/plugins/noderesources/fit.go (1.36).
#include <absl/container/flat_hash_map.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/util/status.h"

namespace berth::scheduler::noderesources {
namespace {

// Returns whether `f` holds for one of the pairs of amounts of the resources that the pod requests.
template <typename F>
bool AnyRequested(const Resource& request, const Resource& a, const Resource& b, F f) {
  return (request.milli_cpu > 0 && f(a.milli_cpu, b.milli_cpu)) || (request.memory > 0 && f(a.memory, b.memory)) ||
         (request.ephemeral_storage > 0 && f(a.ephemeral_storage, b.ephemeral_storage)) ||
         std::any_of(request.scalars.begin(), request.scalars.end(),
                     [&](const auto& r) { return r.second > 0 && f(a.Scalar(r.first), b.Scalar(r.first)); });
}

class RoomHint {
 public:
  explicit RoomHint(FitOptions options) : options_(std::move(options)) {}

  bool MayHelp(const api::Pod& pod, const ClusterEvent& e) {
    using enum ClusterEvent::Kind;
    if (hints::IsAboutTaints(e) || hints::IsOwn(e)) return true;
    if (e.kind == kAssignedPodDelete) return e.Before<api::Pod>() == nullptr || hints::HadPlace(*e.Before<api::Pod>());
    const Resource& request = RequestOf(pod.tmpl);
    if (e.kind == kAssignedPodScaleDown) return Shrank(request, e);
    if (e.kind == kDevicesChange) return IsForDevices(request, e);
    return NodeMayHelp(request, e);
  }

 private:
  bool NodeMayHelp(const Resource& request, const ClusterEvent& e) const {
    const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
    if (after == nullptr) return true;
    const Resource has = AllocatableOf(*after);
    const bool too_small = has.allowed_pods < 1 || AnyRequested(WithoutIgnored(request), WithoutIgnored(request), has,
                                                                [](int64_t want, int64_t have) { return want > have; });
    if (too_small || before == nullptr) return !too_small;
    const Resource had = AllocatableOf(*before);
    return has.allowed_pods > had.allowed_pods ||
           AnyRequested(request, had, has, [](int64_t was, int64_t is) { return is > was; });
  }
  // Returns whether a bound pod needs less of a resource that is requested.
  bool Shrank(const Resource& request, const ClusterEvent& e) {
    const auto *before = e.Before<api::Pod>(), *after = e.After<api::Pod>();
    if (before == nullptr || after == nullptr) return true;
    if (before->node_name.empty()) return false;
    const Resource wanted = request, was = RequestOf(before->tmpl), is = RequestOf(after->tmpl);
    return AnyRequested(wanted, was, is, [](int64_t a, int64_t b) { return a > b; });
  }
  // Returns whether a class of devices stands for a resource that is requested. Slices of devices do not matter.
  static bool IsForDevices(const Resource& request, const ClusterEvent& e) {
    if (e.Has<api::ResourceSlice>()) return false;
    const api::DeviceClass* devices = e.After<api::DeviceClass>();
    if (devices == nullptr) return true;
    const std::string implied = absl::StrCat("deviceclass.resource.kubernetes.io/", devices->meta.name);
    return std::any_of(request.scalars.begin(), request.scalars.end(), [&](const auto& r) {
      return r.second > 0 && (r.first == devices->extended_resource || r.first.str() == implied);
    });
  }
  Resource WithoutIgnored(Resource request) const {
    const auto is_ignored = [&](const auto& r) {
      const auto& names = options_.ignored_resources;
      const auto& groups = options_.ignored_resource_groups;
      const std::string_view name = r.first.str();
      return std::find(names.begin(), names.end(), name) != names.end() ||
             std::find(groups.begin(), groups.end(), name.substr(0, name.find('/'))) != groups.end();
    };
    std::erase_if(request.scalars.Edit(), is_ignored);
    return request;
  }
  static Resource AllocatableOf(const api::Node& node) {
    Resource out;
    out.Add(api::ResourceList(node.allocatable.begin(), node.allocatable.end()), IsScalarOrPrefixedName);
    return out;
  }
  // Returns what pods of the template request. Many pods that wait share few templates.
  const Resource& RequestOf(const std::shared_ptr<const api::PodTemplate>& tmpl) {
    static constexpr size_t kMostTemplates = 1000;
    if (const auto known = requests_.find(tmpl); known != requests_.end()) return known->second;
    if (requests_.size() >= kMostTemplates) requests_.clear();
    TemplateInfo info;
    DescribeWithPodLevel(*tmpl, &info);
    return requests_.emplace(tmpl, std::move(info.request)).first->second;
  }

  const FitOptions options_;
  absl::flat_hash_map<std::shared_ptr<const api::PodTemplate>, Resource> requests_;
};

}  // namespace

QueueingHint RoomMade(FitOptions options) {
  auto hint = std::make_shared<RoomHint>(std::move(options));
  return [hint](const api::Pod& pod, const ClusterEvent& e) { return hint->MayHelp(pod, e); };
}

}  // namespace berth::scheduler::noderesources
