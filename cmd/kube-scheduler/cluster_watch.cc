#include "cmd/kube-scheduler/cluster_watch.h"

#include "pkg/api/decode.h"
#include "pkg/client/resources.h"

namespace berth::kube_scheduler {
namespace {

// Status updates of a placed pod that change nothing scheduling looks at.
bool PlacedAsBefore(const api::Pod& a, const api::Pod& b) {
  return !a.node_name.empty() && a.node_name == b.node_name && a.tmpl == b.tmpl && a.Finished() == b.Finished() &&
         a.meta.deletion_seconds == b.meta.deletion_seconds;
}

template <typename T>
using Decoder = absl::StatusOr<std::shared_ptr<const T>> (*)(api::Json, const api::DecodeOptions&);

template <typename T>
client::InformerOptions<T> To(Inbox* inbox, Decoder<T> decode, api::DecodeOptions options = {}) {
  client::InformerOptions<T> o;
  o.decode = [decode, options](api::Json j) { return decode(j, options); };
  o.on_batch = [inbox](client::InformerBatch<T> b) { inbox->PutNews(std::move(b)); };
  return o;
}

api::DecodeOptions WithJson() {
  api::DecodeOptions o;
  o.keep_raw = true;
  return o;
}

client::InformerOptions<api::Pod> PodOptions(Inbox* inbox) {
  auto o = To<api::Pod>(inbox, api::DecodePod, WithJson());
  o.unchanged = PlacedAsBefore;
  return o;
}

client::InformerOptions<api::Node> NodeOptions(Inbox* inbox, bool raw) {
  api::DecodeOptions decode;
  decode.keep_node_raw = raw;
  auto o = To<api::Node>(inbox, api::DecodeNode, decode);
  // Whoever passes whole nodes on wants every change.
  if (!raw) o.unchanged = [](const api::Node& a, const api::Node& b) { return a.SchedulesLike(b); };
  return o;
}

}  // namespace

struct ClusterWatch::Informers {
  template <typename T>
  static client::InformerOptions<T> With(client::InformerOptions<T> informer, const Options& o) {
    informer.reflector.random = o.random;
    return informer;
  }
  Informers(client::Executor* e, client::HttpClient* c, Inbox* i, const Options& o)
      : pods(e, c, client::PodsResource(), With(PodOptions(i), o)),
        nodes(e, c, client::NodesResource(), With(NodeOptions(i, o.node_json), o)),
        services(e, c, client::ServicesResource(), With(To<api::Service>(i, api::DecodeService), o)),
        rcs(e, c, client::ReplicationControllersResource(),
            With(To<api::ReplicationController>(i, api::DecodeReplicationController), o)),
        rss(e, c, client::ReplicaSetsResource(), With(To<api::ReplicaSet>(i, api::DecodeReplicaSet), o)),
        stss(e, c, client::StatefulSetsResource(), With(To<api::StatefulSet>(i, api::DecodeStatefulSet), o)),
        pvs(e, c, client::PersistentVolumesResource(),
            With(To<api::PersistentVolume>(i, api::DecodePersistentVolume, WithJson()), o)),
        pvcs(e, c, client::PersistentVolumeClaimsResource(),
             With(To<api::PersistentVolumeClaim>(i, api::DecodePersistentVolumeClaim), o)),
        pdbs(e, c, client::PodDisruptionBudgetsResource(),
             With(To<api::PodDisruptionBudget>(i, api::DecodePodDisruptionBudget), o)) {
    if (o.storage_classes) {
      classes.emplace(e, c, client::StorageClassesResource(),
                      With(To<api::StorageClass>(i, api::DecodeStorageClass), o));
    }
  }
  template <typename F>
  void Each(F f) {
    f("nodes", nodes);
    f("services", services);
    f("replicationcontrollers", rcs);
    f("replicasets", rss);
    f("statefulsets", stss);
    f("persistentvolumes", pvs);
    f("persistentvolumeclaims", pvcs);
    f("poddisruptionbudgets", pdbs);
    if (classes) f("storageclasses", *classes);
    f("pods", pods);
  }

  client::Informer<api::Pod> pods;
  client::Informer<api::Node> nodes;
  client::Informer<api::Service> services;
  client::Informer<api::ReplicationController> rcs;
  client::Informer<api::ReplicaSet> rss;
  client::Informer<api::StatefulSet> stss;
  client::Informer<api::PersistentVolume> pvs;
  client::Informer<api::PersistentVolumeClaim> pvcs;
  client::Informer<api::PodDisruptionBudget> pdbs;
  std::optional<client::Informer<api::StorageClass>> classes;
};

ClusterWatch::ClusterWatch(client::Executor* executor, client::HttpClient* client, Inbox* inbox, Options options)
    : informers_(std::make_unique<Informers>(executor, client, inbox, options)) {}

ClusterWatch::~ClusterWatch() = default;

void ClusterWatch::Start() {
  informers_->Each([](const char*, auto& i) { i.Start(); });
}

int ClusterWatch::resources() const {
  int n = 0;
  informers_->Each([&](const char*, auto&) { ++n; });
  return n;
}

std::vector<api::NodePtr> ClusterWatch::Nodes() const {
  std::vector<api::NodePtr> out;
  informers_->nodes.ForEach([&](const api::NodePtr& n) { out.push_back(n); });
  return out;
}

std::vector<api::PodPtr> ClusterWatch::Pods() const {
  std::vector<api::PodPtr> out;
  informers_->pods.ForEach([&](const api::PodPtr& p) { out.push_back(p); });
  return out;
}

std::vector<ClusterWatch::Stats> ClusterWatch::stats() const {
  std::vector<Stats> out;
  informers_->Each([&](const char* name, auto& i) { out.push_back({name, &i.stats(), i.dropped_updates()}); });
  return out;
}

}  // namespace berth::kube_scheduler
