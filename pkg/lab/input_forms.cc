#include "pkg/lab/input_forms.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "pkg/lab/input_places.h"
#include "pkg/lab/scenario.h"
#include "pkg/lab/validate.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"
#include "pkg/world/kinds.h"

namespace berth::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKnownKinds[] = {"Pod",
                                            "Node",
                                            "Namespace",
                                            "Service",
                                            "ReplicationController",
                                            "ReplicaSet",
                                            "Deployment",
                                            "StatefulSet",
                                            "DaemonSet",
                                            "Job",
                                            "CronJob",
                                            "PersistentVolume",
                                            "PersistentVolumeClaim",
                                            "StorageClass",
                                            "CSINode",
                                            "CSIDriver",
                                            "CSIStorageCapacity",
                                            "VolumeAttachment",
                                            "PodDisruptionBudget",
                                            "PriorityClass",
                                            "RuntimeClass",
                                            "LimitRange",
                                            "ResourceQuota",
                                            "HorizontalPodAutoscaler",
                                            "ConfigMap",
                                            "Secret",
                                            "ServiceAccount",
                                            "Endpoints",
                                            "EndpointSlice",
                                            "Event",
                                            "Role",
                                            "RoleBinding",
                                            "ClusterRole",
                                            "ClusterRoleBinding",
                                            "Ingress",
                                            "IngressClass",
                                            "NetworkPolicy",
                                            "Lease",
                                            "ControllerRevision",
                                            "PodTemplate",
                                            "List",
                                            "Scenario",
                                            "ResourceClaim",
                                            "ResourceClaimTemplate",
                                            "DeviceClass",
                                            "ResourceSlice",
                                            "CustomResourceDefinition",
                                            "APIService",
                                            "ComponentStatus",
                                            "MutatingWebhookConfiguration",
                                            "ValidatingWebhookConfiguration",
                                            "ValidatingAdmissionPolicy",
                                            "ValidatingAdmissionPolicyBinding",
                                            "FlowSchema",
                                            "PriorityLevelConfiguration",
                                            "Binding",
                                            "PodSecurityPolicy"};

struct ExportedList {
  std::string_view member;
  ExportedKind kind;
};
constexpr ExportedList kExported[] = {
    {"pods", {"Pod", "v1"}},
    {"nodes", {"Node", "v1"}},
    {"pvs", {"PersistentVolume", "v1"}},
    {"pvcs", {"PersistentVolumeClaim", "v1"}},
    {"storageClasses", {"StorageClass", "storage.k8s.io/v1"}},
    {"priorityClasses", {"PriorityClass", "scheduling.k8s.io/v1"}},
    {"namespaces", {"Namespace", "v1"}},
};

bool IsObjectFile(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
}

// Returns what a folder contains, by name.
absl::StatusOr<std::vector<fs::directory_entry>> EntriesOf(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  if (error) return util::InvalidArgument(absl::StrCat(folder.string(), ": ", error.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

// Returns whether `kubectl cluster-info dump --output-directory` has written the folder.
bool IsDump(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "nodes.json", ignored)) return false;
  const auto entries = EntriesOf(folder);
  return entries.ok() && std::any_of(entries->begin(), entries->end(), [&](const fs::directory_entry& entry) {
           return fs::exists(entry.path() / "pods.json", ignored);
         });
}

// Adds the files of a folder in the order of their names, with folders among them, as kubectl walks. Like kubectl, it
// does not follow links to folders, which may lead in a circle.
absl::Status AddFolder(const fs::path& folder, bool recursive, std::vector<std::string>* out) {
  auto entries = EntriesOf(folder);
  if (!entries.ok()) return entries.status();
  for (const fs::directory_entry& entry : *entries) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      if (recursive && !entry.is_symlink(ignored)) BERTH_RETURN_IF_ERROR(AddFolder(entry.path(), recursive, out));
    } else if (IsObjectFile(entry.path())) {
      out->push_back(entry.path().string());
    }
  }
  return absl::OkStatus();
}

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// Returns whether the API group is one of Kubernetes itself.
bool IsGroupOfKubernetes(std::string_view group) {
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

using DuplicateFound = std::function<void(const std::string&, api::Json, api::Json)>;

// REQUIRES: the document's depth is limited, as that of api::Document is.
void FindDuplicates(api::Json j, const std::string& path, const DuplicateFound& f) {
  size_t index = 0;
  absl::flat_hash_map<std::string_view, api::Json> seen;
  for (auto [key, value] : j.Children()) {
    const bool member = j.IsObject();
    if (member) {
      auto [it, is_new] = seen.try_emplace(key, value);
      if (!is_new) f(absl::StrCat(path, path.empty() ? "" : ".", util::ToAbsl(key)), it->second, value);
    }
    if (value.IsObject() || value.IsArray()) {
      FindDuplicates(
          value,
          member ? absl::StrCat(path, path.empty() ? "" : ".", util::ToAbsl(key)) : absl::StrCat(path, "[", index, "]"),
          f);
    }
    ++index;
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& given, bool recursive) {
  std::vector<std::string> out;
  for (const std::string& file : given) {
    std::error_code ignored;
    if (file == "-" || !fs::is_directory(file, ignored)) {
      out.push_back(file);
      continue;
    }
    const size_t before = out.size();
    BERTH_RETURN_IF_ERROR(AddFolder(file, recursive || IsDump(file), &out));
    if (out.size() == before) {
      return util::InvalidArgument(absl::StrCat(file, ": is a folder without a file that ends in .json, .yaml or .yml",
                                                recursive ? "" : " (-R reads the folders in it, too)"));
    }
  }
  return out;
}

std::vector<std::string_view> DocumentsOf(api::InputText& input) {
  constexpr std::string_view kLogs = "==== START logs for", kEndOfLogs = "==== END logs for";
  const std::string_view text = input.text();
  std::vector<std::string_view> out;
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return {text};
  size_t begin = 0;
  // Line ends are rarer than braces, so the search goes from one to the next.
  for (size_t end = text.find('\n', first); end != std::string_view::npos; end = text.find('\n', end + 1)) {
    input.DoneTo(end);
    if (end + 1 == text.size()) continue;
    if (text[end + 1] == '=' && text.substr(end + 1).starts_with(kLogs)) {
      out.push_back(text.substr(begin, end + 1 - begin));
      const size_t last = text.find(kEndOfLogs, end);
      const size_t after = last == std::string_view::npos ? last : text.find('\n', last);
      if (after == std::string_view::npos) {
        input.Rewind();
        return out;
      }
      begin = after + 1;
      end = after;
      continue;
    }
    if (text[end - 1] != '}' || text[end + 1] != '{') continue;
    if (end + 1 > begin) out.push_back(text.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  if (text.substr(begin).find_first_not_of(" \t\r\n") != std::string_view::npos) out.push_back(text.substr(begin));
  input.Rewind();
  return out;
}

bool LooksLikeScenario(std::string_view text) {
  return text.find("\"Scenario\"") != std::string_view::npos;
}

size_t NextScenarioLine(std::string_view text) {
  for (size_t at = text.find("\n{"); at != std::string_view::npos; at = text.find("\n{", at + 1)) {
    std::string_view line = text.substr(at + 1);
    if (LooksLikeScenario(line.substr(0, line.find('\n')))) return at + 1;
  }
  return text.size();
}

std::string MoveDown(std::string_view message, size_t lines) {
  constexpr std::string_view kLine = "line ";
  size_t number = 0;
  const char* begin = message.data() + kLine.size();
  if (message.substr(0, kLine.size()) != kLine) return std::string(message);
  auto [end, error] = std::from_chars(begin, message.data() + message.size(), number);
  if (error != std::errc()) return std::string(message);
  return absl::StrCat("line ", number + lines, std::string(end, message.data() + message.size()));
}

bool LooksLikeSimulatorExport(std::string_view text) {
  size_t at = text.find_first_not_of(" \t\r\n{\"");
  if (at == std::string_view::npos) return false;
  const std::string_view rest = text.substr(at);
  auto begins = [&](const ExportedList& e) {
    return rest.starts_with(e.member) && rest.size() > e.member.size() &&
           (rest[e.member.size()] == '"' || rest[e.member.size()] == ':');
  };
  if (!rest.starts_with("schedulerConfig") && std::none_of(std::begin(kExported), std::end(kExported), begins)) {
    return false;
  }
  const auto has = [&](std::string_view member) {
    return rest.starts_with(member) || rest.find(absl::StrCat("\"", util::ToAbsl(member), "\"")) != rest.npos ||
           rest.find(absl::StrCat("\n", util::ToAbsl(member), ":")) != rest.npos;
  };
  int64_t lists = 0;
  for (std::string_view member : {"pvs", "pvcs", "storageClasses", "priorityClasses", "schedulerConfig"}) {
    lists += has(member);
  }
  return lists >= 2 || (has("pods") && has("nodes") && !LooksLikeScenario(text));
}

ExportedKind KindOfExported(std::string_view member) {
  for (const ExportedList& e : kExported) {
    if (e.member == member) return e.kind;
  }
  return {};
}

std::string WhatItIs(api::Json j, std::string_view kind, std::string_view version) {
  const std::string_view group = GroupOf(version);
  if (kind == "Config" && version == "v1") {
    return "is a kubeconfig, which says how to reach a cluster: schedsim snapshot --kubeconfig reads the cluster";
  }
  if (kind == "Policy" && (group.empty() || group == "kubescheduler.config.k8s.io")) {
    return "is a Policy of the scheduler, not an object of a cluster: give it with --policy-config-file";
  }
  if (kind == "KubeSchedulerConfiguration") {
    return "is a configuration of the scheduler, not an object of a cluster: give it with --config";
  }
  if (kind == "Template" && j.Find("objects").IsArray()) {
    return "is a Template of OpenShift, whose objects are not read: render it first (oc process)";
  }
  const bool makes_pods = j.Find("spec").Find("template").Find("spec").Find("containers").IsArray() ||
                          (kind == "Job" && j.Find("spec").Find("tasks").IsArray());
  if (kind == "Kustomization" && group == "kustomize.config.k8s.io") {
    return "is a Kustomization, whose objects are not read: render it first (kubectl kustomize)";
  }
  if (kind == "Status" && version == "v1") {
    return "is the answer to a request that failed, not an object of a cluster";
  }
  if (kind == "Table" && group == "meta.k8s.io") {
    return "is a table that a server has made for people: give the objects that kubectl get -o json prints";
  }
  if (!KindMeant(j, kind).empty()) return "";
  if (!world::IsOwnGroup(kind, version) || makes_pods) {
    if (!world::IsOwnGroup(kind, version) && group.find('.') == std::string_view::npos) {
      return absl::StrCat("skipped an object of kind ", util::ToAbsl(kind), ": apiVersion \"", util::ToAbsl(version),
                          "\" has no such kind, ", world::ResourceText(kind), " has");
    }
    return absl::StrCat("skipped an object of kind ", util::ToAbsl(kind), " of ", util::ToAbsl(version),
                        makes_pods
                            ? ": its controller makes pods, which are not known here"
                            : ": it is not Kubernetes' kind of that name, and what it creates is not known here");
  }
  return "";
}

std::string WhatConfigMapHolds(api::Json j) {
  for (auto [key, value] : j.Find("data").Children()) {
    const std::string_view text = value.Text();
    const bool policy = key == "policy.cfg" || text.find("\"kind\": \"Policy\"") != std::string_view::npos ||
                        text.find("\"kind\":\"Policy\"") != std::string_view::npos ||
                        text.find("kind: Policy\n") != std::string_view::npos;
    const bool configuration = text.find("KubeSchedulerConfiguration") != std::string_view::npos;
    if (!policy && !configuration) continue;
    return absl::StrCat("is a ConfigMap whose key ", util::ToAbsl(key), " holds a ",
                        policy ? "Policy" : "configuration",
                        " of the scheduler: write its text to a file and give that with ",
                        policy ? "--policy-config-file" : "--config");
  }
  return "";
}

void NoteDuplicates(api::Json j, std::string_view kind, LineCounter* lines, Validator* validator) {
  EachDuplicate(j, [&](const std::string& path, api::Json first, api::Json second) {
    const uint32_t line = lines->LineAt(first.begin_offset());
    validator->Add(lines->LineAndColumnAt(second.begin_offset()), absl::StrCat("twice ", path),
                   absl::StrCat(util::ToAbsl(kind), " \"", util::ToAbsl(j.Find("metadata").Find("name").Text()), "\": ",
                                path, ": the key occurs twice, first in line ", line, "; the second one counts"));
  });
}

std::string KindMeant(api::Json j, std::string_view kind) {
  if (kind.empty() || !IsGroupOfKubernetes(GroupOf(j.Find("apiVersion").Text()))) return "";
  if (std::find(std::begin(kKnownKinds), std::end(kKnownKinds), kind) != std::end(kKnownKinds)) return "";
  return std::string(util::Nearest(kind, {std::begin(kKnownKinds), std::end(kKnownKinds)}));
}

void EachDuplicate(api::Json object, const DuplicateFound& f) {
  FindDuplicates(object, "", f);
}

uint8_t NotesOfPod(api::Json j) {
  uint8_t notes = 0;
  if (!j.Find("metadata").Find("annotations").FindExact("kubernetes.io/config.mirror").IsNull()) notes |= kMirrorPod;
  for (auto volume : j.Find("spec").Find("volumes").Children()) {
    if (!volume.value.Find("emptyDir").IsNull()) notes |= kEmptyDirPod;
  }
  for (auto condition : j.Find("status").Find("conditions").Children()) {
    if (condition.value.Find("type").Text() == "Ready" && condition.value.Find("status").Text() != "True") {
      notes |= kNotReadyPod;
    }
  }
  return notes;
}

std::string WhyUnreadable(std::string_view text) {
  const size_t at = text.find("{{");
  if (at == std::string_view::npos || text.find("}}", at) == std::string_view::npos) return "";
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return absl::StrCat("line ", line,
                      ": {{ ... }} is a template of Helm, which has to be rendered first (helm template)");
}

}  // namespace berth::lab
