#include "cmd/kube-scheduler/flags.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <memory>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/flags/flag_set.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {

using flags::Value;

Value* Text(std::string* v, std::string type, Value::Set check) {
  std::string otherwise = v->empty() || type == "ip" ? *v : GoQuoted(*v);
  return new Value(
      std::move(type), std::move(otherwise),
      [v, check](const std::string& s) {
        if (check) BERTH_RETURN_IF_ERROR(check(s));
        *v = s;
        return absl::OkStatus();
      },
      [v] { return *v; });
}

Value* Bool(bool* v) {
  const auto text = [](bool on) { return std::string(on ? "true" : "false"); };
  return Variable(v, "", *v ? "true" : "", ParseBool, text)->WithoutValue("true");
}

Value* Int32(int32_t* v) {
  return Variable<int32_t>(v, "int32", *v == 0 ? "" : absl::StrCat(*v), [](const std::string& s, int32_t* to) {
    int64_t wide = 0;
    absl::Status st = ParseInt(s, 32, &wide);
    if (st.ok()) *to = static_cast<int32_t>(wide);
    return st;
  });
}

Value* Float32(float* v) {
  return Variable(v, "float32", *v == 0 ? "" : FormatGoFloat32(*v), ParseFloat32, FormatGoFloat32);
}

Value* Duration(absl::Duration* v) {
  const bool none = *v == absl::ZeroDuration();
  return Variable(v, "duration", none ? "" : FormatGoDuration(*v), ParseGoDuration, FormatGoDuration);
}

Value* List(std::vector<std::string>* v, absl::Status (*check)(const std::string&)) {
  const auto text = [v] { return absl::StrCat("[", absl::StrJoin(*v, ","), "]"); };
  return new Value(
      "strings", v->empty() ? "" : text(),
      [v, check, used = std::make_shared<bool>(false)](const std::string& s) {
        if (!*used) v->clear();
        *used = true;
        for (const auto& one : std::vector<std::string>(absl::StrSplit(s, ',', absl::SkipEmpty()))) {
          if (check != nullptr) BERTH_RETURN_IF_ERROR(check(one));
          v->push_back(one);
        }
        return absl::OkStatus();
      },
      text);
}

std::string WithHelp(std::string_view message) {
  return absl::StrCat(util::ToAbsl(message), ". ", flags::HelpHint("kube-scheduler"));
}

}  // namespace berth::kube_scheduler
