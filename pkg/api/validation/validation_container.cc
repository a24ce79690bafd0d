// Containers: their names and environment, what they mount, and how they are probed.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

bool IsPrintableAscii(char c) {
  return c >= ' ' && c <= '~';
}

// Returns what is wrong with the name of an environment variable in the release.
std::vector<std::string> VariableNameProblems(std::string_view name, Version release) {
  if (kRelaxedVariableNames.Has(release)) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) { return IsPrintableAscii(c) && c != '='; });
    if (plain) return {};
    return {"a valid environment variable name must consist only of printable ASCII characters other than '='"};
  }
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto known = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  std::vector<std::string> problems;
  if (!std::all_of(name.begin(), name.end(), known) || (name.front() >= '0' && name.front() <= '9')) {
    problems.emplace_back(
        "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must "
        "not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is "
        "'[-._a-zA-Z][-._a-zA-Z0-9]*')");
  }
  if (name == ".") problems.emplace_back("must not be '.'");
  if (name == "..") problems.emplace_back("must not be '..'");
  if (name.size() > 2 && name.starts_with("..")) problems.emplace_back("must not start with '..'");
  return problems;
}

void Variables(const Value& container, const Path& at, Version release, FieldErrors* errors) {
  const Value& list = OrEmpty(container.Find("env"));
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& variable = list.items[i];
    const Path here = at[i];
    const std::string_view name = variable.Str("name");
    if (name.empty()) errors->push_back(Required((here / "name").str()));
    for (const std::string& p : name.empty() ? std::vector<std::string>() : VariableNameProblems(name, release)) {
      errors->push_back(Invalid((here / "name").str(), name, p));
    }
    const Value* from = variable.Find("valueFrom");
    if (from == nullptr || !from->IsObject()) continue;
    const std::string at_from = (here / "valueFrom").str();
    if (from->keys.empty()) {
      errors->push_back(Invalid(at_from, "",
                                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                                "`secretKeyRef`"));
    } else if (!variable.Str("value").empty()) {
      errors->push_back(Invalid(at_from, "", "may not be specified when `value` is not empty"));
    } else if (from->keys.size() > 1) {
      errors->push_back(Invalid(at_from, "", "may not have more than one field specified at a time"));
    }
  }
}

void Mounts(const Value& container, const Path& at, const std::set<std::string_view>& volumes, FieldErrors* errors) {
  const Value& mounts = OrEmpty(container.Find("volumeMounts"));
  std::set<std::string_view> paths;
  for (size_t k = 0; k < mounts.items.size(); ++k) {
    const Path mount = at[k];
    const std::string_view volume = mounts.items[k].Str("name"), path = mounts.items[k].Str("mountPath");
    if (volume.empty()) {
      errors->push_back(Required((mount / "name").str()));
    } else if (!volumes.contains(volume)) {
      errors->push_back(FieldNotFound((mount / "name").str(), volume));
    }
    if (path.empty()) {
      errors->push_back(Required((mount / "mountPath").str()));
    } else if (!paths.insert(path).second) {
      errors->push_back(Invalid((mount / "mountPath").str(), path, "must be unique"));
    }
  }
}

void Devices(const Value& container, const Path& at, const std::set<std::string_view>& volumes, FieldErrors* errors) {
  const Value& devices = OrEmpty(container.Find("volumeDevices"));
  std::set<std::string_view> paths;
  for (size_t k = 0; k < devices.items.size(); ++k) {
    const Path here = at[k];
    const std::string_view volume = devices.items[k].Str("name"), path = devices.items[k].Str("devicePath");
    if (volume.empty()) {
      errors->push_back(Required((here / "name").str()));
    } else if (!volumes.contains(volume)) {
      errors->push_back(FieldNotFound((here / "name").str(), volume));
    }
    if (path.empty()) {
      errors->push_back(Required((here / "devicePath").str()));
    } else if (!paths.insert(path).second) {
      errors->push_back(Invalid((here / "devicePath").str(), path, "must be unique"));
    }
  }
}

// Checks what a probe does, or what a hook of a container's life does: exactly one thing.
void Handler(const Value& handler, const Path& at, FieldErrors* errors) {
  bool any = false;
  for (std::string_view kind : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value* one = handler.Find(kind);
    if (one == nullptr || !one->IsObject()) continue;
    const Path here = at / kind;
    if (any) {
      errors->push_back(Forbidden(here.str(), "may not specify more than 1 handler type"));
      continue;
    }
    any = true;
    if (kind == "exec" && OrEmpty(one->Find("command")).empty()) errors->push_back(Required((here / "command").str()));
    if (kind == "httpGet" || kind == "tcpSocket") ValidatePortOrName(one->Find("port"), here / "port", errors);
  }
  if (!any) errors->push_back(Required(at.str(), "must specify a handler type"));
}

void Probe(const Value& container, std::string_view which, const Path& at, FieldErrors* errors) {
  const Value* probe = container.Find(which);
  if (probe == nullptr || !probe->IsObject()) return;
  const Path here = at / which;
  Handler(*probe, here, errors);
  for (std::string_view member :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    const int64_t n = OrEmpty(probe->Find(member)).AsInt();
    if (n >= 0) continue;
    errors->push_back(InvalidRaw((here / member).str(), std::to_string(n), "must be greater than or equal to 0"));
  }
  const int64_t successes = OrEmpty(probe->Find("successThreshold")).AsInt();
  if (which != "readinessProbe" && successes != 1) {
    errors->push_back(InvalidRaw((here / "successThreshold").str(), std::to_string(successes), "must be 1"));
  }
}

void OneOfTexts(const Value& holder, std::string_view key, const Path& at, const std::vector<std::string>& allowed,
                FieldErrors* errors) {
  const std::string_view value = holder.Str(key);
  if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  errors->push_back(NotSupported((at / key).str(), value, allowed));
}

}  // namespace

void ValidateHooks(const Value& container, bool init, const Path& at, Version release, FieldErrors* errors) {
  // Init containers that are no sidecars have neither hooks nor probes.
  if (init && container.Str("restartPolicy") != "Always") {
    for (std::string_view member : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      const Value* given = container.Find(member);
      if (given == nullptr || !given->IsObject()) continue;
      const std::string here = (at / member).str();
      errors->push_back(kSidecars.Has(release)
                            ? Forbidden(here, "may not be set for init containers without restartPolicy=Always")
                            : InvalidRaw(here, ToSortedJson(*given), "must not be set for init containers"));
    }
  } else {
    const Value& hooks = OrEmpty(container.Find("lifecycle"));
    const Path lifecycle = at / "lifecycle";
    for (std::string_view which : {"postStart", "preStop"}) {
      const Value* hook = hooks.Find(which);
      if (hook != nullptr && hook->IsObject()) Handler(*hook, lifecycle / which, errors);
    }
    for (std::string_view which : {"livenessProbe", "readinessProbe", "startupProbe"}) {
      Probe(container, which, at, errors);
    }
  }
  OneOfTexts(container, "terminationMessagePolicy", at, {"File", "FallbackToLogsOnError"}, errors);
}

void ValidateInsideOfContainer(const Value& container, const Path& at, const std::set<std::string_view>& volumes,
                               Version release, FieldErrors* errors) {
  Variables(container, at / "env", release, errors);
  Mounts(container, at / "volumeMounts", volumes, errors);
  if (kChecksNewPodFields.Has(release)) Devices(container, at / "volumeDevices", volumes, errors);
  OneOfTexts(container, "imagePullPolicy", at, {"Always", "IfNotPresent", "Never"}, errors);
}

}  // namespace berth::validation
