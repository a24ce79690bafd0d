// Containers: their names and environment, what they mount, and how they are probed.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

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
  if (name == "." || name == "..") problems.push_back(absl::StrCat("must not be '", util::ToAbsl(name), "'"));
  if (name.size() > 2 && name.starts_with("..")) problems.emplace_back("must not start with '..'");
  return problems;
}

void Variable(const Value& variable, const Path& at, Version release, FieldErrors* errors) {
  const std::string_view name = variable.Str("name");
  if (name.empty()) {
    errors->push_back(Required(at / "name"));
  } else {
    AddProblems(VariableNameProblems(name, release), at / "name", name, errors);
  }
  const Value* from = variable.Find("valueFrom");
  if (from == nullptr || !from->IsObject()) return;
  const std::string_view why =
      from->keys.empty() ? "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
      : !variable.Str("value").empty() ? "may not be specified when `value` is not empty"
      : from->keys.size() > 1          ? "may not have more than one field specified at a time"
                                       : "";
  if (!why.empty()) errors->push_back(Invalid(at / "valueFrom", "", why));
}

// Checks volumeMounts or volumeDevices, each of which names a volume and has a path of its own.
void Mounts(const Value& container, std::string_view list, std::string_view path_member, const Path& at,
            const std::set<std::string_view>& volumes, FieldErrors* errors) {
  std::set<std::string_view> paths;
  EachOf(container, list, at, [&](const Value& mount, const Path& here) {
    const std::string_view volume = mount.Str("name"), path = mount.Str(path_member);
    if (volume.empty()) {
      errors->push_back(Required(here / "name"));
    } else if (!volumes.contains(volume)) {
      errors->push_back(FieldNotFound(here / "name", volume));
    }
    if (path.empty()) {
      errors->push_back(Required(here / path_member));
    } else if (!paths.insert(path).second) {
      errors->push_back(Invalid(here / path_member, path, "must be unique"));
    }
  });
}

// Checks what a probe does, or what a hook of a container's life does: exactly one thing.
void Handler(const Value& handler, const Path& at, FieldErrors* errors) {
  bool any = false;
  for (std::string_view kind : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value* one = handler.Find(kind);
    if (one == nullptr || !one->IsObject()) continue;
    const Path here = at / kind;
    if (any) {
      errors->push_back(Forbidden(here, "may not specify more than 1 handler type"));
      continue;
    }
    any = true;
    if (kind == "exec" && OrEmpty(one->Find("command")).empty()) errors->push_back(Required(here / "command"));
    if (kind == "httpGet" || kind == "tcpSocket") ValidatePortOrName(one->Find("port"), here / "port", errors);
  }
  if (!any) errors->push_back(Required(at, "must specify a handler type"));
}

void Probe(const Value& container, std::string_view which, const Path& at, FieldErrors* errors) {
  const Value* probe = container.Find(which);
  if (probe == nullptr || !probe->IsObject()) return;
  const Path here = at / which;
  Handler(*probe, here, errors);
  ValidateNotNegative(
      *probe, {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}, here,
      errors);
  const int64_t successes = IntOf(*probe, "successThreshold");
  if (which != "readinessProbe" && successes != 1) {
    errors->push_back(InvalidRaw(here / "successThreshold", successes, "must be 1"));
  }
}

}  // namespace

void ValidateHooks(const Value& container, bool init, const Path& at, Version release, FieldErrors* errors) {
  // Init containers that are no sidecars have neither hooks nor probes.
  if (init && container.Str("restartPolicy") != "Always") {
    for (std::string_view member : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      const Value* given = container.Find(member);
      if (given == nullptr || !given->IsObject()) continue;
      const Path here = at / member;
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
  ValidateWord(container, "terminationMessagePolicy", at, {"File", "FallbackToLogsOnError"}, errors);
}

void ValidateInsideOfContainer(const Value& container, const Path& at, const std::set<std::string_view>& volumes,
                               Version release, FieldErrors* errors) {
  EachOf(container, "env", at, [&](const Value& v, const Path& here) { Variable(v, here, release, errors); });
  Mounts(container, "volumeMounts", "mountPath", at, volumes, errors);
  if (kChecksNewPodFields.Has(release)) Mounts(container, "volumeDevices", "devicePath", at, volumes, errors);
  ValidateWord(container, "imagePullPolicy", at, {"Always", "IfNotPresent", "Never"}, errors);
}

}  // namespace berth::validation
