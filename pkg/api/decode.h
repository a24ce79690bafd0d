// Decodes objects from JSON as 1.10's decoder does: names of members may be in any case, unknown members are ignored,
// null counts as absent, and of duplicate members the last one is used. A value of the wrong type is an error that
// names the object, the JSON path and the value:
//   Pod "default/web-1": spec.containers[0].resources.requests.cpu: "12x": unable to parse quantity's suffix
// Thread-safety: thread-safe; there is no state.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "pkg/api/json.h"
#include "pkg/api/kinds.h"
#include "pkg/api/types.h"

namespace berth::api {

// The images of nodes, read once and shared by the versions of a node between which they did not change. A heartbeat
// repeats them all: given to Document::Parse as well as to the decoder, this has both pass over a list whose bytes are
// those of last time, by their length and 128 bits of hash. For documents that are events of a watch or elements of a
// list. Some 100 bytes a node, of nodes that are there; one thread.
class NodeImagesMemory final : public KnownParts {
 public:
  NodeImagesMemory() : KnownParts({"object", "status", "images"}) {}
  // How many lists were passed over.
  uint64_t taken() const { return taken_; }

  void Begin(std::string_view text) override;
  size_t SizeIfKnown(size_t at, Json around) override;
  // For DecodeNode: writes the images when the array was passed over.
  bool Take(Json array, NodeImages* out);
  // For DecodeNode: the array was read as these.
  void Remember(Json array, const NodeImages& images);

 private:
  using Digest = std::pair<uint64_t, uint64_t>;
  struct Known {
    size_t size;
    Digest digest;
    std::weak_ptr<const NodeImages::Shared> images;
  };
  absl::flat_hash_map<size_t, Known> by_hint_;
  size_t next_sweep_ = 1024;
  uint64_t taken_ = 0;
  // Of the document that is being read: the whole text, where its array begins (kNowhere: none was seen), and what the
  // array is known to be.
  static constexpr size_t kNowhere = ~size_t{0};
  std::string_view text_;
  size_t at_ = kNowhere, hint_ = 0;
  std::shared_ptr<const NodeImages::Shared> known_;
};

// The templates of pods that were decoded before. Of a pod whose template's text is known, as that of its next version
// or of another replica usually is, only the rest is read. A text is known by 128 bits of hash. Given to
// Document::Parse as well as to the decoder, for documents that are events of a watch or elements of a list, this has
// the spec of such a pod left unread too. It is given to the parser of all documents, or of none. Some 60 bytes for
// each template that is in use; one thread.
//
// Servers since 1.21 add a volume with a random name to nearly all pods, "kube-api-access-x7k2p". Texts that differ
// only in that name are the same.
class PodTemplateMemory final : public KnownParts {
 public:
  // What is known of a pod.
  struct Known {
    std::shared_ptr<const PodTemplate> tmpl;  // null: unknown
    uint64_t unread = 0;                      // Pod::unread of a pod without a node
    bool spec_is_unread = false;              // the document lacks the members of the spec
    std::string_view node_name;               // if spec_is_unread
    std::string_view text;                    // of the pod, if spec_is_unread
  };

  PodTemplateMemory() : KnownParts({"object", "spec"}, '{', Skipped::kUnread) {}
  // How often a template was known, and how often a spec was left unread.
  uint64_t taken() const { return taken_; }
  uint64_t left_unread() const { return left_unread_; }

  void Begin(std::string_view text) override;
  size_t SizeIfKnown(size_t at, Json around) override;
  // For DecodePod, once for each pod. What it returns is valid as long as the pod's text.
  Known Find(Json pod);
  // For DecodePod: the template of the pod that was asked for last, and its Pod::unread if it had no node.
  void Remember(Json pod, const std::shared_ptr<const PodTemplate>& made, uint64_t unread);

 private:
  using Digest = std::pair<uint64_t, uint64_t>;
  struct Entry {
    std::weak_ptr<const PodTemplate> tmpl;
    uint64_t unread;
    bool as_serialized;  // the spec is written as Json::Serialize writes it
  };
  static constexpr size_t kNowhere = ~size_t{0};
  template <typename Source>
  const Entry* Ask(Json pod, std::string_view spec, Source source);
  std::string_view SourceOf(Json value) const;

  absl::flat_hash_map<Digest, Entry> by_digest_;
  size_t next_sweep_ = 1024;
  uint64_t taken_ = 0, left_unread_ = 0;
  // Of the document that is being read, if it was given to a parser: its text, where the first spec begins (kNowhere:
  // there was none), and what was found.
  std::string_view document_;
  size_t at_ = kNowhere;
  Known found_;
  // Of the pod that was asked for last: whether it can be known, and the text of its template, with its digest, and the
  // node's name, which that text lacks.
  bool asked_ = false;
  Digest digest_;
  std::string_view node_name_;
  std::string text_;
};

// What to do in addition to reading.
struct DecodeOptions {
  PodTemplateMemory* templates = nullptr;  // of Pods without server_defaults: see PodTemplateMemory
  NodeImagesMemory* images = nullptr;      // of Nodes: see NodeImagesMemory
  // Keep the JSON text in `raw`: of PersistentVolumes, of Pods without a node and of PersistentVolumeClaims without a
  // volume.
  bool keep_raw = false;
  bool keep_node_raw = false;  // keep the JSON text of Nodes
  // Fill in what the API server would on creation: namespace, uid, requests from limits, host ports under hostNetwork,
  // allocatable from capacity, selectors from templates, binding mode. If false, objects are taken as stored.
  bool server_defaults = false;
};

// Kinds of objects that occur in files only, in the notation of BERTH_WATCHED_KINDS.
#define BERTH_FILED_KINDS(X)                                                                                     \
  X(Deployment, "Deployment", "apps/v1 apps/v1beta2 apps/v1beta1 extensions/v1beta1")                            \
  X(PriorityClass, "PriorityClass", "scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1") \
  X(ConfigMap, "ConfigMap", "v1")

// Decode an object of a kind: DecodeService(j) or Decode<Service>(j).
template <typename T>
absl::StatusOr<Ptr<T>> Decode(Json j, const DecodeOptions& o = {});
#define BERTH_DECODED(type, ...)                                                  \
  absl::StatusOr<Ptr<type>> Decode##type(Json j, const DecodeOptions& o = {});    \
  template <>                                                                     \
  inline absl::StatusOr<Ptr<type>> Decode<type>(Json j, const DecodeOptions& o) { \
    return Decode##type(j, o);                                                    \
  }
BERTH_WATCHED_KINDS(BERTH_DECODED)
BERTH_FILED_KINDS(BERTH_DECODED)
#undef BERTH_DECODED

// Decodes only the metadata of any object.
absl::StatusOr<ObjectMeta> DecodeMeta(Json object);

// An object of any of these kinds.
using Object = WatchedKinds::With<Deployment, PriorityClass, ConfigMap>::Of<std::variant, Ptr>;
// Returns the kind of an object as the API names it: "CSINode".
std::string_view KindName(const Object& object);

// Decodes an object by its kind and apiVersion (any served version: apps/v1beta1, v1beta2, v1, extensions/v1beta1,
// policy/v1beta1, v1, storage.k8s.io/v1beta1, v1, ...). `default_kind` is for list elements without a kind ("Pod" in a
// PodList). Errors: kNotFound for any other kind, kInvalidArgument for everything else.
absl::StatusOr<Object> DecodeObject(Json j, std::string_view default_kind = {}, const DecodeOptions& o = {});

// Makes a DecidedSelector (labels.h) of a label selector object. Null: matches nothing; empty: everything.
DecidedSelector DecideLabelSelector(Json j);

// A requirement of a node selector as written: about labels (matchExpressions) or fields (matchFields).
struct RawRequirement {
  Symbol key;
  std::string op;
  std::vector<Symbol> values;
};
// Returns a term made of both lists, with its problems.
NodeSelectorTerm MakeNodeSelectorTerm(const std::vector<RawRequirement>& expressions,
                                      const std::vector<RawRequirement>& fields);

}  // namespace berth::api
