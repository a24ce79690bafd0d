// Clusters as texts: what a cluster was made of, and where its pods are now.
#include <absl/container/flat_hash_map.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <string>
#include <utility>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/json_writer.h"
#include "pkg/capi/berth.h"
#include "pkg/capi/calls.h"
#include "pkg/capi/cluster.h"
#include "pkg/util/status.h"

namespace berth::capi {
namespace {

using api::Json;
using api::JsonWriter;

// The list that stands for the pending pods of the inputs.
constexpr int64_t kOfInputs = -1;

// What a snapshot says of the objects that are on nodes.
struct Found {
  absl::flat_hash_map<std::string, api::NodePtr> nodes;  // by name
  absl::flat_hash_map<std::string, api::PodPtr> pods;    // by uid
  std::vector<api::Object> others;
};

absl::Status WrongSnapshot(const lab::NamedText& text, std::string_view why) {
  return util::InvalidArgument(absl::StrCat(text.name, ": this is not a snapshot of a cluster: ", util::ToAbsl(why)));
}

void WriteTexts(const char* key, const std::vector<lab::NamedText>& texts, JsonWriter* w) {
  w->Key(key).Array();
  for (const lab::NamedText& t : texts) w->Object().Member("name", t.name).Member("text", *t.text).End();
  w->End();
}

absl::StatusOr<std::vector<lab::NamedText>> ReadTexts(const lab::NamedText& from, Json root, const char* key) {
  std::vector<lab::NamedText> texts;
  const Json value = root.FindExact(key);
  if (!value.IsArray()) return WrongSnapshot(from, absl::StrCat(key, " must be a list"));
  for (auto [index, t] : value.Children()) {
    const Json text = t.FindExact("text");
    if (!text.IsString()) return WrongSnapshot(from, absl::StrCat(key, ": each must have a text"));
    texts.push_back({std::string(t.FindExact("name").Text()), std::make_shared<const std::string>(text.Text())});
  }
  return texts;
}

void Collect(const std::vector<api::Object>& objects, Found* found) {
  for (const api::Object& o : objects) {
    if (const auto* pod = std::get_if<api::PodPtr>(&o)) {
      found->pods[(*pod)->meta.uid] = *pod;
    } else if (const auto* node = std::get_if<api::NodePtr>(&o)) {
      found->nodes[(*node)->meta.name] = *node;
    } else {
      found->others.push_back(o);
    }
  }
}

// Reads the objects that were applied after the cluster was opened.
absl::Status CollectApplied(const Cluster& c, Found* found) {
  for (const lab::NamedText& text : c.past.applied) {
    auto scenarios = ReadObjects(c, text);
    if (!scenarios.ok()) return scenarios.status();
    for (const lab::Scenario& s : *scenarios) {
      if (!s.error.empty()) return util::InvalidArgument(s.error);
      Collect(s.cluster, found);
    }
  }
  return absl::OkStatus();
}

// Returns the pod of an entry: [node, uid], or [node, list, index].
absl::StatusOr<api::PodPtr> PodOf(const lab::NamedText& from, const Past& past, const Found& found, Json entry) {
  std::vector<Json> of;
  if (entry.IsArray()) {
    for (auto [index, value] : entry.Children()) of.push_back(value);
  }
  if (of.size() < 2 || of.size() > 3 || !of[0].IsString()) return WrongSnapshot(from, "pods: an entry is wrong");
  const util::Symbol node{of[0].Text()};
  if (of.size() == 2) {
    const auto pod = found.pods.find(std::string(of[1].Text()));
    if (pod == found.pods.end()) {
      return WrongSnapshot(from, absl::StrCat("pods: its inputs have no pod ", of[1].Brief()));
    }
    return pod->second->node_name == node ? pod->second : PlacedAs(pod->second, node);
  }
  const int64_t list = of[1].IsInt() ? of[1].Int() : INT64_MAX, index = of[2].IsInt() ? of[2].Int() : -1;
  if (list < kOfInputs || list >= static_cast<int64_t>(past.placed.size())) {
    return WrongSnapshot(from, "pods: there is no such list");
  }
  const Source& source = list == kOfInputs ? *past.pending : *past.placed[static_cast<size_t>(list)];
  if (index < 0 || index >= static_cast<int64_t>(source.pods.size())) {
    return WrongSnapshot(from, "pods: there is no pod of such a number in its list");
  }
  return PlacedAs(source.pods[static_cast<size_t>(index)], node);
}

// Makes the objects of the cluster out of what was found: those that the snapshot names, in its order.
absl::Status Choose(const lab::NamedText& from, Json root, Found found, Cluster* c) {
  std::vector<api::Object>& objects = c->scenario->cluster;
  objects.clear();
  for (auto [index, name] : root.FindExact("nodes").Children()) {
    const auto node = found.nodes.find(std::string(name.Text()));
    if (node == found.nodes.end()) {
      return WrongSnapshot(from, absl::StrCat("nodes: its inputs have no node ", name.Brief()));
    }
    objects.emplace_back(node->second);
  }
  for (api::Object& o : found.others) objects.push_back(std::move(o));
  for (auto [index, entry] : root.FindExact("pods").Children()) {
    auto pod = PodOf(from, c->past, found, entry);
    if (!pod.ok()) return pod.status();
    objects.emplace_back(std::move(*pod));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Unsigned(const lab::NamedText& from, Json root, const char* key) {
  uint64_t value = 0;
  if (!absl::SimpleAtoi(util::ToAbsl(root.FindExact(key).Text()), &value)) {
    return WrongSnapshot(from, absl::StrCat(key, " must be a number as a text"));
  }
  return value;
}

}  // namespace

absl::StatusOr<std::string> SnapshotOf(Cluster& from) {
  std::vector<lab::NamedText> lists;
  struct Place {
    int64_t list, index;
    const api::PodTemplate* tmpl;
  };
  absl::flat_hash_map<std::string_view, Place> places;  // by uid
  for (const auto& source : from.past.placed) {
    const bool of_inputs = source == from.past.pending;
    if (!of_inputs && source->text.text == nullptr) {
      return util::InvalidArgument(
          "pods of the list of another cluster's pending pods were placed: a snapshot cannot have them; read them by "
          "berth_read_pods");
    }
    const int64_t list = of_inputs ? kOfInputs : static_cast<int64_t>(lists.size());
    for (size_t i = 0; i < source->pods.size(); ++i) {
      places[source->pods[i]->meta.uid] = {list, static_cast<int64_t>(i), source->pods[i]->tmpl.get()};
    }
    if (!of_inputs) lists.push_back(source->text);
  }
  JsonWriter w(JsonWriter::Layout::kIndented);
  w.Object().Member("apiVersion", "berth/v1").Member("kind", "Snapshot").Member("options", from.past.options);
  WriteTexts("inputs", from.past.inputs, &w);
  WriteTexts("applied", from.past.applied, &w);
  WriteTexts("lists", lists, &w);
  const scheduler::Cache& cache = from.cache();
  w.Key("nodes").Array();
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    if (cache.row(r).node != nullptr) w.Text(cache.row(r).node->meta.name);
  }
  w.End().Key("pods").Array();
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    for (const scheduler::PlacedPod& p : cache.row(r).pods) {
      const auto place = places.find(p.pod->meta.uid);
      w.Array().Text(p.pod->node_name.str());
      if (place != places.end() && place->second.tmpl == p.pod->tmpl.get()) {
        w.Number(place->second.list).Number(place->second.index);
      } else {
        w.Text(p.pod->meta.uid);
      }
      w.End();
    }
  }
  w.End().Member("turn", absl::StrCat(from.simulation->turn())).Member("random", absl::StrCat(from.own.random)).End();
  return w.Finish();
}

absl::StatusOr<std::shared_ptr<Cluster>> Restore(const lab::NamedText& text) {
  api::Document document;
  if (absl::Status s = document.Parse(*text.text); !s.ok()) return WrongSnapshot(text, util::Message(s));
  const Json root = document.root();
  if (!root.IsObject() || root.FindExact("apiVersion").Text() != "berth/v1" ||
      root.FindExact("kind").Text() != "Snapshot") {
    return WrongSnapshot(text, "apiVersion must be berth/v1 and kind Snapshot");
  }
  auto inputs = ReadTexts(text, root, "inputs"), applied = ReadTexts(text, root, "applied"),
       lists = ReadTexts(text, root, "lists");
  for (const auto* texts : {&inputs, &applied, &lists}) {
    if (!texts->ok()) return texts->status();
  }
  auto turn = Unsigned(text, root, "turn"), random = Unsigned(text, root, "random");
  if (!turn.ok()) return turn.status();
  if (!random.ok()) return random.status();
  auto c = std::make_shared<Cluster>();
  NoteInUse(c.get());
  BERTH_RETURN_IF_ERROR(ReadInputs(root.FindExact("options").Text(), *inputs, c.get()));
  c->past.applied = std::move(*applied);
  for (lab::NamedText& list : *lists) {
    auto pods = ReadPods(*c, list);
    if (!pods.ok()) return pods.status();
    c->past.placed.push_back(std::make_shared<const Source>(Source{std::move(list), std::move(*pods)}));
  }
  Found found;
  Collect(c->scenario->cluster, &found);
  BERTH_RETURN_IF_ERROR(CollectApplied(*c, &found));
  BERTH_RETURN_IF_ERROR(Choose(text, root, std::move(found), c.get()));
  c->past.placed.push_back(c->past.pending);
  BERTH_RETURN_IF_ERROR(c->Build());
  c->simulation->set_turn(*turn);
  c->own.random = *random;
  return c;
}

}  // namespace berth::capi

using namespace berth::capi;  // NOLINT: the rest of this file defines functions of C

extern "C" {

int32_t berth_snapshot(berth_cluster* cluster, const char** text, size_t* size) {
  return WithCluster(cluster, [&](Cluster& c) {
    if (text == nullptr || size == nullptr) return Null("text or size");
    auto made = SnapshotOf(c);
    if (!made.ok()) return Fail(made.status());
    c.snapshot = std::move(*made);
    *text = c.snapshot.c_str();
    *size = c.snapshot.size();
    return int32_t{BERTH_OK};
  });
}

int32_t berth_restore(const char* text, size_t size, berth_cluster** out) {
  return Guarded([&] {
    if (out == nullptr) return Null("out");
    auto own = TextOf(text, size, "the snapshot");
    if (!own.ok()) return Fail(own.status());
    auto made = Restore(*own);
    if (!made.ok()) return Fail(made.status());
    *out = static_cast<berth_cluster*>(Enter(std::move(*made)));
    return int32_t{BERTH_OK};
  });
}

}  // extern "C"
