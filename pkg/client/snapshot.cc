// Objects are copied from the server's pages into the List as they are, apart from kind and apiVersion, so that a
// snapshot loses no field that a later version of this program might read.
#include "pkg/client/snapshot.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "pkg/api/json.h"
#include "pkg/client/api_error.h"
#include "pkg/client/framing.h"
#include "pkg/client/json_edit.h"
#include "pkg/client/resources.h"
#include "pkg/client/rest.h"
#include "pkg/http/event_loop.h"
#include "pkg/util/status.h"

namespace berth::client {
namespace {

constexpr int kMostAttempts = 3;  // for each kind, when its continue token has expired

// Whatever the release asks for first, a running cluster is asked for stable versions.
constexpr api::Dialect kStableVersions = {.version = {255}, .bookmarks = true, .lock = {}};

// Returns the resources that decisions of the release read. Pods are listed without a selector, including those that
// have ended: `schedsim` knows which of them count.
std::vector<Resource> ResourcesOf(release::Version version) {
  std::vector<Resource> all;
  api::WatchedKinds::ForEach([&]<typename T>() {
    // Releases before CSINodes set pods aside whose volumes a CSINode limits, so it is read for them too.
    const bool read = api::KindOf<T>::kDescription.followed.Has(version) || std::is_same_v<T, api::CsiNode>;
    if (read) all.push_back(ResourceOf<T>(kStableVersions));
  });
  return all;
}

// Kinds that no decision reads, but that say what becomes of manifests and of new nodes: classes and limits that
// admission fills in, and workloads whose pods new nodes get.
constexpr api::KindDescription kForOtherQuestions[] = {
    {"DaemonSet", "apps/v1 extensions/v1beta1", "daemonsets"},
    {"PriorityClass", "scheduling.k8s.io/v1 scheduling.k8s.io/v1beta1", "priorityclasses"},
    {"LimitRange", "v1", "limitranges"},
    {"ResourceQuota", "v1", "resourcequotas"},
    {"RuntimeClass", "node.k8s.io/v1 node.k8s.io/v1beta1", "runtimeclasses"},
};

class Lister {
 public:
  Lister(http::EventLoop* loop, RestClient* client, const SnapshotOptions& options, Snapshot* out)
      : loop_(loop), client_(client), options_(options), out_(out) {}

  // A kind that is not `needed` may be forbidden; it then counts as missing.
  absl::Status List(const Resource& resource, bool needed) {
    needed_ = needed;
    for (const std::string& path : resource.paths) {
      bool there = true;
      BERTH_RETURN_IF_ERROR(ListPath(resource, path, &there));
      if (there) return absl::OkStatus();
    }
    out_->missing.push_back(resource.name);
    return absl::OkStatus();
  }

 private:
  // Continue tokens expire while pages are read. What was added for the kind is then removed, and the kind is listed
  // again.
  absl::Status ListPath(const Resource& resource, const std::string& path, bool* there) {
    for (int attempt = 1;; ++attempt) {
      const size_t list_before = out_->list.size(), objects_before = out_->objects;
      bool expired = false;
      const absl::Status listed = Pages(resource, path, attempt < kMostAttempts, there, &expired);
      if (!expired) return listed;
      // The cluster changes faster than its pages can be read, so the list begins again. The last attempt asks for
      // everything at once.
      out_->list.resize(list_before);
      out_->objects = objects_before;
    }
  }

  absl::Status Pages(const Resource& resource, const std::string& path, bool paged, bool* there, bool* expired) {
    std::string next;
    do {
      Request request;
      request.target = path;
      if (paged) absl::StrAppend(&request.target, "?limit=", options_.page_size);
      if (!next.empty()) absl::StrAppend(&request.target, "&continue=", PercentEncode(next));
      request.timeout = options_.timeout;
      const Reply reply = DoBlocking(loop_->executor(), client_, request);
      if (reply.status == 404 || (reply.status == 403 && !needed_)) {
        *there = false;
        return absl::OkStatus();
      }
      if (reply.status == 410 && paged) {
        *expired = true;
        return absl::OkStatus();
      }
      if (const ApiError error = ErrorFrom(request, reply, resource.name); !error.message.empty()) {
        return util::Unavailable(absl::StrCat("cannot list ", resource.name, ": ", error.message));
      }
      auto page = Take(reply.body);
      if (!page.ok()) {
        return util::Unavailable(
            absl::StrCat("the server's list of ", resource.name, ": ", util::Message(page.status())));
      }
      next = *std::move(page);
    } while (!next.empty());
    return absl::OkStatus();
  }

  // Adds the items of a page. Returns the token with which the next page is read; empty after the last one.
  absl::StatusOr<std::string> Take(const std::string& body) {
    std::vector<std::string> items;
    ListFramer framer;
    BERTH_RETURN_IF_ERROR(framer.Feed(body, [&](std::string_view item) {
      items.emplace_back(item);
      return true;
    }));
    if (!framer.done()) return util::InvalidArgument("it is cut off");
    api::Document rest;
    BERTH_RETURN_IF_ERROR(rest.Parse(framer.rest()));
    // An element of a list has no kind and apiVersion; they follow from those of the list.
    std::string kind(rest.root().Find("kind").Text()), version(rest.root().Find("apiVersion").Text());
    if (!absl::EndsWith(kind, "List") || version.empty()) {
      return util::InvalidArgument(absl::StrCat("it is not a list: kind ", rest.root().Find("kind").Brief(),
                                                ", apiVersion ", rest.root().Find("apiVersion").Brief()));
    }
    kind.resize(kind.size() - 4);
    for (const std::string& item : items) {
      auto edit = JsonEdit::New(item);
      if (!edit.ok()) return edit.status();
      edit->SetFirst("apiVersion", JsonString(version));
      edit->SetFirst("kind", JsonString(kind));
      if (out_->objects++ > 0) out_->list += ",\n";
      out_->list += edit->text();
    }
    return std::string(rest.root().Find("metadata").Find("continue").Text());
  }

  http::EventLoop* loop_;
  RestClient* client_;
  const SnapshotOptions& options_;
  Snapshot* out_;
  bool needed_ = true;
};

}  // namespace

absl::StatusOr<Snapshot> SnapshotCluster(const RestConfig& config, const SnapshotOptions& options) {
  http::EventLoop loop("snapshot");
  auto client = RestClient::New(loop.executor(), config);
  if (!client.ok()) return client.status();
  loop.Start();
  Snapshot out;
  out.list = "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[\n";
  Lister lister(&loop, client->get(), options, &out);
  absl::Status status;
  for (const Resource& resource : ResourcesOf(options.version)) {
    if (status.ok()) status = lister.List(resource, true);
  }
  for (const api::KindDescription& kind : kForOtherQuestions) {
    if (status.ok()) status = lister.List(ResourceOf(kind, kStableVersions), false);
  }
  loop.Stop();
  client->reset();
  if (!status.ok()) return status;
  out.list += "\n]}\n";
  return out;
}

}  // namespace berth::client
