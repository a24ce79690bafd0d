// The requests a scheduler makes besides list and watch, with their exact bodies.
//
// All are asynchronous: the callback comes on the I/O thread, never inside the call. Errors are ApiError: a lost answer
// to a write has `maybe_done` set, and only asking tells what happened.
//
// What is written back is the server's own JSON with our change put in, never something rebuilt from the fields we
// keep: labels, fields of newer releases and everything else we do not read stay as they are.
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

// What to change in a pod's status. Members that are absent stay as they are.
struct PodStatusChange {
  // The PodScheduled condition. Its times are written as given; empty: null.
  std::optional<api::PodCondition> scheduled;
  std::optional<std::string> nominated_node_name;  // "" takes it out
};

// `pod` (JSON) with the change applied. An error only when it is not a JSON object.
absl::StatusOr<std::string> ApplyPodStatus(std::string_view pod, const PodStatusChange& change);

// `pv` (JSON) bound to a claim: spec.claimRef, and the annotation pv.kubernetes.io/bound-by-controller if asked.
struct ClaimReference {
  std::string ns, name, uid, resource_version;
};
// Returns the claim, as the server sent it, with the annotation that names the node on which its volume is to be made.
absl::StatusOr<std::string> ApplySelectedNode(std::string_view claim, std::string_view node);
absl::StatusOr<std::string> ApplyClaimRef(std::string_view pv, const ClaimReference& claim, bool bound_by_controller);

// "2018-03-26T08:00:00Z", as the API writes times.
std::string FormatApiTime(absl::Time t);

struct UserInfo {
  bool authenticated = false;
  std::string name, uid, error;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};
// What a request to our own HTTP server wants to do; `path` for URLs that are no resources.
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
  // The client must outlive this object and its callbacks. `may_write`: called on the I/O thread right before a change
  // of an object (not a review) is sent; false: it fails without having been sent. Empty: always.
  explicit Requests(HttpClient* client, std::function<bool()> may_write = {})
      : client_(client), may_write_(std::move(may_write)) {}

  // POST pods/NAME/binding. The views are read during the call only. Pipelined.
  void Bind(const Binding& binding, Done<Nothing> done);

  // A pod and the JSON it came as (in pod->raw, also for a bound pod).
  void GetPod(std::string_view ns, std::string_view name, Done<api::PodPtr> done);
  // PUT pods/NAME/status. `body`: from ApplyPodStatus. Gives the pod as the server has it now.
  void PutPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done);
  // PATCH pods/NAME/status as a strategic merge (Kubernetes 1.29). `body`: from status_patch.h.
  void PatchPodStatus(std::string_view ns, std::string_view name, std::string body, Done<api::PodPtr> done);
  // Gracefully, with the pod's own period. With a uid only that very pod: another of its name is a 409.
  void DeletePod(std::string_view ns, std::string_view name, std::string_view uid, Done<Nothing> done);

  void GetNode(std::string_view name, Done<api::NodePtr> done);
  void GetConfigMap(std::string_view ns, std::string_view name, Done<std::shared_ptr<const api::ConfigMap>> done);
  void PutPersistentVolume(std::string_view name, std::string body,
                           Done<std::shared_ptr<const api::PersistentVolume>> done);
  void PutPersistentVolumeClaim(std::string_view ns, std::string_view name, std::string body, Done<Nothing> done);

  // Who is behind a bearer token; may this user do that (authentication.k8s.io/v1, authorization.k8s.io/v1, on 404
  // their v1beta1).
  void ReviewToken(std::string_view token, Done<UserInfo> done);
  void ReviewAccess(const AccessQuestion& question, Done<AccessAnswer> done);

  // Any object as its JSON text: what locks are made of. `resource` and `name` are for error texts.
  void Raw(Request request, std::string_view resource, std::string_view name, Done<std::string> done);

 private:
  HttpClient* client_;
  std::function<bool()> may_write_;
};

}  // namespace berth::client
