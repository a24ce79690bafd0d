// The requests that a scheduler makes besides list and watch, with the exact bodies of Kubernetes.
//
// All methods are asynchronous: the callback runs on the I/O thread, never inside the call. Errors are ApiErrors. If
// the response to a write is lost, `maybe_done` is set, and only reading the object tells whether the write happened.
//
// Objects that are written back are the server's own JSON with our change applied. Labels, fields of newer releases and
// everything else that we do not read are therefore preserved.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/client/api_error.h"
#include "pkg/client/http.h"

namespace berth::client {

template <typename T>
using Done = std::function<void(ApiResult<T>)>;
struct Nothing {};

struct Binding {
  std::string_view ns, pod, uid, node;
};

// A change of a pod's status. Members without a value leave their field as it is.
struct PodStatusChange {
  // The PodScheduled condition. Its times are written as given; an empty time becomes null.
  std::optional<api::PodCondition> scheduled;
  std::optional<std::string> nominated_node_name;  // "" removes it
};

// Returns the JSON of `pod` with the change applied. It is an error if `pod` is not a JSON object.
absl::StatusOr<std::string> ApplyPodStatus(std::string_view pod, const PodStatusChange& change);

// The claim that ApplyClaimRef writes into a volume.
struct ClaimReference {
  std::string ns, name, uid, resource_version;
};
// Returns `claim`, the JSON that the server sent, with the annotation that names the node for which its volume is to be
// provisioned.
absl::StatusOr<std::string> ApplySelectedNode(std::string_view claim, std::string_view node);
// Returns the JSON of `pv` with spec.claimRef set and, if `bound_by_controller` is true, with the annotation
// pv.kubernetes.io/bound-by-controller.
absl::StatusOr<std::string> ApplyClaimRef(std::string_view pv, const ClaimReference& claim, bool bound_by_controller);

// Returns a time in the API's form, "2018-03-26T08:00:00Z".
std::string FormatApiTime(absl::Time t);

struct UserInfo {
  bool authenticated = false;
  std::string name, uid, error;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};
// A request to this process's own HTTP server whose sender must be authorized. `path` is that of a URL that is not a
// resource.
struct AccessQuestion {
  UserInfo user;
  std::string verb, path;
};
struct AccessAnswer {
  bool allowed = false;
  std::string reason;
};

class Requests {
 public:
  // `client` must outlive this object and its callbacks. `may_write` is called on the I/O thread right before a request
  // that changes an object is sent; if it returns false, the request fails without having been sent. Reviews and Raw do
  // not call it. If empty, every request is sent.
  explicit Requests(HttpClient* client, std::function<bool()> may_write = {})
      : client_(client), may_write_(std::move(may_write)) {}

  // POST pods/NAME/binding. The views are only used during the call. Bindings are pipelined.
  void Bind(const Binding& binding, Done<Nothing> done);

  // Gets a pod together with its JSON, which is in pod->raw even if the pod is bound.
  void GetPod(std::string_view ns, std::string_view name, Done<api::PodPtr> done);
  // PUT pods/NAME/status. `body` comes from ApplyPodStatus. The result is the pod as the server has it now.
  void PutPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done);
  // PATCH pods/NAME/status as a strategic merge (Kubernetes 1.29). `body` comes from status_patch.h.
  void PatchPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done);
  // PATCH pods/NAME/status as a merge (Kubernetes 1.8). `body` comes from AnnotationPatch of status_patch.h.
  void MergePodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done);
  // Deletes a pod with its own grace period. If `uid` is not empty, only the pod with that uid is deleted; a different
  // pod of the same name is a 409.
  void DeletePod(std::string_view ns, std::string_view name, std::string_view uid, Done<Nothing> done);

  void GetNode(std::string_view name, Done<api::NodePtr> done);
  void GetConfigMap(std::string_view ns, std::string_view name, Done<std::shared_ptr<const api::ConfigMap>> done);
  void PutPersistentVolume(std::string_view name, std::string body,
                           Done<std::shared_ptr<const api::PersistentVolume>> done);
  void PutPersistentVolumeClaim(std::string_view ns, std::string_view name, std::string body, Done<Nothing> done);

  // ReviewToken returns the user of a bearer token, and ReviewAccess whether a user may perform an action. They use
  // authentication.k8s.io/v1 and authorization.k8s.io/v1, or their v1beta1 if the server answers 404.
  void ReviewToken(std::string_view token, Done<UserInfo> done);
  void ReviewAccess(const AccessQuestion& question, Done<AccessAnswer> done);

  // Sends any request and returns the body of the response; used for lock objects. `resource` and `name` are for error
  // texts.
  void Raw(Request request, std::string_view resource, std::string_view name, Done<std::string> done);

 private:
  void SendPodStatusPatch(std::string_view ns, std::string_view name, std::string_view content_type, std::string body,
                          Done<api::PodPtr> done);

  HttpClient* client_;
  std::function<bool()> may_write_;
};

}  // namespace berth::client
