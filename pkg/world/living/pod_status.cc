#include "pkg/world/living/pod_status.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <string>

#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::world::living {
namespace {

constexpr char kNotReady[] = "ContainersNotReady", kCompleted[] = "PodCompleted";

// Makes the statuses of the containers of a list; `write` adds the state.
void WriteContainers(Value* pod, bool init, const std::function<void(const Value& container, Value* status)>& write) {
  const Value* containers = std::as_const(*pod).At({"spec", init ? "initContainers" : "containers"});
  if (containers == nullptr || containers->empty()) return;
  Value list = Value::Array();
  for (const Value& c : containers->items) {
    Value s = Value::Object();
    s.Set("name", Value::String(c.Str("name")));
    s.Set("state", Value::Object());
    s.Set("lastState", Value::Object());
    s.SetAll({{"ready", false}, {"restartCount", 0}, {"image", c.Str("image")}, {"imageID", ""}});
    write(c, &s);
    list.Append(std::move(s));
  }
  pod->Child("status").Set(init ? "initContainerStatuses" : "containerStatuses", std::move(list));
}

Value Terminated(int64_t exit_code, std::string_view since, absl::Time now) {
  return Value::Object({{"exitCode", exit_code},
                        {"reason", exit_code == 0 ? "Completed" : "Error"},
                        {"startedAt", since.empty() ? TimeText(now) : std::string(since)},
                        {"finishedAt", TimeText(now)}});
}

void SetContainerId(const Value& pod, Value* status) {
  status->Set("imageID", Value::String(absl::StrCat("simulated/", util::ToAbsl(status->Str("image")))));
  status->Set("containerID", Value::String(absl::StrCat("simulated://", util::ToAbsl(UidOf(pod)), "-",
                                                        util::ToAbsl(status->Str("name")))));
}

// Returns "containers with unready status: [a b]".
std::string Unready(const Value& pod) {
  std::string names;
  if (const Value* containers = pod.At({"spec", "containers"})) {
    for (const Value& c : containers->items) {
      absl::StrAppend(&names, names.empty() ? "" : " ", util::ToAbsl(c.Str("name")));
    }
  }
  return absl::StrCat("containers with unready status: [", names, "]");
}

void SetReadiness(bool ready, std::string_view reason, const std::string& message, absl::Time now, Value* pod) {
  for (std::string_view type : {"Ready", "ContainersReady"}) {
    SetCondition({type, ready ? "True" : "False", reason, message}, now, pod);
  }
}

std::string_view RunningSince(const Value& status) {
  return TextAt(status, {"state", "running", "startedAt"});
}

// Replaces the state of each container by `state`, and moves what it was to lastState if `keep`.
void EndContainers(int64_t exit_code, absl::Time now, Value* pod, const Value* waiting) {
  Value* list = pod->At({"status", "containerStatuses"});
  if (list == nullptr) return;
  for (Value& s : list->items) {
    Value ended = Value::Object();
    ended.Set("terminated", Terminated(exit_code, RunningSince(s), now));
    s.SetAll({{"ready", false}, {"started", false}});
    if (waiting == nullptr) {
      s.Set("state", std::move(ended));
      continue;
    }
    s.Set("lastState", std::move(ended));
    s.Set("state", Value::Object()).Set("waiting", *waiting);
  }
}

}  // namespace

void WriteNodeStatus(std::string_view ip, std::string_view version, absl::Time now, Value* node) {
  Value& status = node->Child("status");
  struct Row {
    std::string_view type, status, reason, message;
  };
  static constexpr Row kRows[] = {
      {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
      {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
      {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
      {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
  };
  for (const Row& row : kRows) {
    const Value* old = ConditionOf(*node, row.type);
    // Pressure that somebody has written stays.
    if (old == nullptr || old->Str("status") == "Unknown" || row.type == "Ready") {
      SetCondition({row.type, row.status, row.reason, row.message}, now, node);
    }
    for (Value& c : status.Find("conditions")->items) {
      if (c.Str("type") == row.type) c.Set("lastHeartbeatTime", Value::String(TimeText(now)));
    }
  }
  if (status.Find("addresses") == nullptr) {
    Value& addresses = status.Set("addresses", Value::Array());
    for (auto [type, address] :
         {std::pair<std::string_view, std::string_view>("InternalIP", ip), {"Hostname", NameOf(*node)}}) {
      Value a = Value::Object({{"type", type}, {"address", address}});
      addresses.Append(std::move(a));
    }
  }
  Value& info = status.Child("nodeInfo");
  for (auto [member, text] : {std::pair<std::string_view, std::string_view>("kubeletVersion", version),
                              {"kubeProxyVersion", version},
                              {"osImage", "simulated"},
                              {"kernelVersion", "simulated"},
                              {"containerRuntimeVersion", "simulated://1.0"},
                              {"operatingSystem", "linux"},
                              {"architecture", "amd64"}}) {
    if (info.Str(member).empty()) info.Set(member, Value::String(text));
  }
  if (status.Find("allocatable") == nullptr) {
    if (const Value* capacity = status.Find("capacity")) {
      Value same = *capacity;
      status.Set("allocatable", std::move(same));
    }
  }
}

void WriteRejected(std::string_view reason, std::string_view message, absl::Time now, Value* pod) {
  Value& status = pod->Child("status");
  status.SetAll({{"phase", "Failed"}, {"reason", reason}, {"message", message}, {"startTime", TimeText(now)}});
}

void WriteCreating(std::string_view host_ip, absl::Time now, Value* pod) {
  Value& status = pod->Child("status");
  status.SetAll({{"startTime", TimeText(now)}, {"hostIP", host_ip}});
  status.Set("hostIPs", Value::Array()).Append(Value::Object());
  status.Find("hostIPs")->items[0].Set("ip", Value::String(host_ip));
  SetCondition({"PodReadyToStartContainers", "False", "", ""}, now, pod);
  SetCondition({"Initialized", "True", "", ""}, now, pod);
  SetReadiness(false, kNotReady, Unready(*pod), now, pod);
  auto waits = [](const Value&, Value* s) {
    s->Child("state").Child("waiting").Set("reason", Value::String("ContainerCreating"));
    s->Set("started", Value::Bool(false));
  };
  WriteContainers(pod, true, waits);
  WriteContainers(pod, false, waits);
}

void WriteRunning(std::string_view ip, bool ready, int64_t restarts, absl::Time now, Value* pod) {
  Value& status = pod->Child("status");
  status.SetAll({{"phase", "Running"}, {"podIP", ip}});
  status.Set("podIPs", Value::Array()).Append(Value::Object());
  status.Find("podIPs")->items[0].Set("ip", Value::String(ip));
  SetCondition({"PodReadyToStartContainers", "True", "", ""}, now, pod);
  SetReadiness(ready, ready ? "" : kNotReady, ready ? "" : Unready(*pod), now, pod);
  const std::string at = TimeText(now);
  std::vector<Value> last;
  if (const Value* old = pod->At({"status", "containerStatuses"})) {
    for (const Value& s : old->items) last.push_back(validation::OrEmpty(s.Find("lastState")));
  }
  auto runs = [&](Value* s) {
    s->Child("state").Child("running").Set("startedAt", Value::String(at));
    s->SetAll({{"ready", ready}, {"started", true}});
    SetContainerId(*pod, s);
  };
  WriteContainers(pod, true, [&](const Value& c, Value* s) {
    if (c.Str("restartPolicy") == "Always") return runs(s);
    s->Child("state").Set("terminated", Terminated(0, at, now));
    s->Set("ready", Value::Bool(true));
    SetContainerId(*pod, s);
  });
  size_t i = 0;
  WriteContainers(pod, false, [&](const Value&, Value* s) {
    runs(s);
    s->Set("restartCount", Value::Int(restarts));
    if (restarts > 0 && i < last.size()) s->Set("lastState", last[i]);
    ++i;
  });
}

void WriteResources(Value* pod) {
  Value* statuses = pod->At({"status", "containerStatuses"});
  const Value* containers = std::as_const(*pod).At({"spec", "containers"});
  if (statuses == nullptr || containers == nullptr) return;
  for (Value& s : statuses->items) {
    for (const Value& c : containers->items) {
      const Value* resources = c.Find("resources");
      if (c.Str("name") != s.Str("name") || resources == nullptr || resources->empty()) continue;
      s.Set("resources", *resources);
      if (const Value* requests = resources->Find("requests")) s.Set("allocatedResources", *requests);
    }
  }
}

bool HasItsResources(const Value& pod) {
  const Value* statuses = pod.At({"status", "containerStatuses"});
  const Value* containers = pod.At({"spec", "containers"});
  if (statuses == nullptr || containers == nullptr) return true;
  return std::all_of(statuses->items.begin(), statuses->items.end(), [&](const Value& s) {
    return std::all_of(containers->items.begin(), containers->items.end(), [&](const Value& c) {
      return c.Str("name") != s.Str("name") ||
             validation::OrEmpty(c.Find("resources")) == validation::OrEmpty(s.Find("resources"));
    });
  });
}

void WriteWaiting(int64_t exit_code, absl::Duration back_off, absl::Time now, Value* pod) {
  Value waiting = Value::Object(
      {{"reason", "CrashLoopBackOff"},
       {"message", absl::StrCat("back-off ", absl::FormatDuration(back_off), " restarting failed container")}});
  SetReadiness(false, kNotReady, Unready(*pod), now, pod);
  EndContainers(exit_code, now, pod, &waiting);
}

void WriteFinished(int64_t exit_code, absl::Time now, Value* pod) {
  pod->Child("status").Set("phase", Value::String(exit_code == 0 ? "Succeeded" : "Failed"));
  SetCondition({"PodReadyToStartContainers", "False", "", ""}, now, pod);
  const std::string_view reason = exit_code == 0 ? kCompleted : "PodFailed";
  SetReadiness(false, reason, "", now, pod);
  EndContainers(exit_code, now, pod, nullptr);
}

bool IsWaiting(const Value& pod) {
  const Value* list = pod.At({"status", "containerStatuses"});
  return list != nullptr && !list->empty() && list->items[0].At({"state", "waiting"}) != nullptr;
}

int64_t RestartsOf(const Value& pod) {
  const Value* list = pod.At({"status", "containerStatuses"});
  return list == nullptr || list->empty() ? 0 : NumberAt(list->items[0], {"restartCount"});
}

int64_t UnitsOf(std::string_view resource, const api::Quantity& amount) {
  return resource == "cpu" ? amount.MilliValue() : amount.Value();
}

}  // namespace berth::world::living
