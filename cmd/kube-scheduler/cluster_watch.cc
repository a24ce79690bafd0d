// One informer for each kind that is followed, made from the list of kinds (pkg/api/kinds.h).
#include "cmd/kube-scheduler/cluster_watch.h"

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/api/nomination.h"
#include "pkg/client/resources.h"

namespace berth::kube_scheduler {
namespace {

// Returns whether an update of a placed pod changes nothing that scheduling reads.
bool PlacedAsBefore(const api::Pod& a, const api::Pod& b) {
  return !a.node_name.empty() && a.node_name == b.node_name && a.tmpl == b.tmpl && a.Finished() == b.Finished() &&
         a.meta.deletion_seconds == b.meta.deletion_seconds;
}

template <typename T>
bool InRelease(const ClusterWatch::Options& o) {
  return api::KindOf<T>::kDescription.followed.Has(o.dialect->version);
}

// Returns how objects of a kind are decoded.
template <typename T>
api::DecodeOptions DecodingOf(const ClusterWatch::Options& o) {
  api::DecodeOptions decode;
  // What is written back is written as a whole.
  decode.keep_raw = std::is_same_v<T, api::Pod> || std::is_same_v<T, api::PersistentVolume> ||
                    (o.dialect->writes_claims && std::is_same_v<T, api::PersistentVolumeClaim>);
  decode.keep_node_raw = o.node_json;
  return decode;
}

template <typename T>
client::InformerOptions<T> OptionsOf(Inbox* inbox, const ClusterWatch::Options& o) {
  client::InformerOptions<T> out;
  api::DecodeOptions decoding = DecodingOf<T>(o);
  if constexpr (std::is_same_v<T, api::Node>) {
    auto images = std::make_shared<api::NodeImagesMemory>();
    // JSON that is passed on whole must be parsed whole.
    if (!o.node_json) decoding.images = images.get();
    if (!o.node_json) out.known = std::move(images);
  }
  std::shared_ptr<api::PodTemplateMemory> templates;
  if constexpr (std::is_same_v<T, api::Pod>) out.known = templates = std::make_shared<api::PodTemplateMemory>();
  decoding.templates = templates.get();
  out.decode = [decoding, templates](api::Json j) { return api::Decode<T>(j, decoding); };
  if constexpr (std::is_same_v<T, api::Pod>) {
    if (const std::string_view annotation = o.dialect->nomination_annotation; !annotation.empty()) {
      out.decode = [decoding, templates, annotation](api::Json j) -> absl::StatusOr<api::PodPtr> {
        auto pod = api::DecodePod(j, decoding);
        return pod.ok() ? api::WithNominationFrom(annotation, *pod, j) : pod;
      };
    }
  }
  out.on_batch = [inbox](client::InformerBatch<T> b) { inbox->PutBatch(std::move(b)); };
  out.reflector.random = o.random;
  out.reflector.optional = !InRelease<T>(o);
  if constexpr (std::is_same_v<T, api::Pod>) out.unchanged = PlacedAsBefore;
  if constexpr (std::is_same_v<T, api::Node>) {
    // An extender that receives whole nodes needs every change.
    if (!o.node_json) out.unchanged = [](const api::Node& a, const api::Node& b) { return a.SchedulesLike(b); };
  }
  return out;
}

// Returns whether a kind is followed. CSINodes are followed in earlier releases too if the server has them, because
// they limit how many volumes a node can attach.
template <typename T>
bool Followed(const ClusterWatch::Options& o) {
  constexpr bool kOwns = std::is_same_v<T, api::ReplicationController> || std::is_same_v<T, api::ReplicaSet> ||
                         std::is_same_v<T, api::StatefulSet>;
  if (kOwns && !o.owners) return false;
  if constexpr (std::is_same_v<T, api::StorageClass>) return o.storage_classes;
  if constexpr (std::is_same_v<T, api::CsiNode>) return true;
  return InRelease<T>(o);
}

template <typename T>
using InformerPtr = std::unique_ptr<client::Informer<T>>;

}  // namespace

struct ClusterWatch::Informers {
  Informers(client::Executor* e, client::HttpClient* c, Inbox* inbox, const Options& o) {
    api::WatchedKinds::ForEach([&]<typename T>() {
      if (!Followed<T>(o)) return;
      Of<T>() = std::make_unique<client::Informer<T>>(e, c, client::ResourceOf<T>(*o.dialect), OptionsOf<T>(inbox, o));
    });
  }
  template <typename T>
  InformerPtr<T>& Of() {
    return std::get<InformerPtr<T>>(all);
  }
  // Calls f(plural, informer) for each kind that is followed, pods last.
  template <typename F>
  void Each(F f) {
    api::WatchedKinds::ForEach([&]<typename T>() {
      if (Of<T>() != nullptr) f(api::KindOf<T>::kDescription.plural, *Of<T>());
    });
  }

  api::WatchedKinds::Of<std::tuple, InformerPtr> all;  // null: not followed
};

ClusterWatch::ClusterWatch(client::Executor* executor, client::HttpClient* client, Inbox* inbox, Options options)
    : informers_(std::make_unique<Informers>(executor, client, inbox, options)) {}

ClusterWatch::~ClusterWatch() = default;

void ClusterWatch::Start() {
  informers_->Each([](std::string_view, auto& i) { i.Start(); });
}

int ClusterWatch::resources() const {
  int n = 0;
  informers_->Each([&](std::string_view, auto&) { ++n; });
  return n;
}

std::vector<api::NodePtr> ClusterWatch::Nodes() const {
  std::vector<api::NodePtr> out;
  informers_->Of<api::Node>()->ForEach([&](const api::NodePtr& n) { out.push_back(n); });
  return out;
}

std::vector<api::PodPtr> ClusterWatch::Pods() const {
  std::vector<api::PodPtr> out;
  informers_->Of<api::Pod>()->ForEach([&](const api::PodPtr& p) { out.push_back(p); });
  return out;
}

std::vector<ClusterWatch::Stats> ClusterWatch::stats() const {
  std::vector<Stats> out;
  informers_->Each([&](std::string_view name, auto& i) {
    out.push_back({std::string(name), &i.stats(), i.dropped_updates()});
  });
  return out;
}

}  // namespace berth::kube_scheduler
