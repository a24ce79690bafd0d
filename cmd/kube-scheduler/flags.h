// What flags set, read as Go reads it. The variables must outlive the flags; their contents are the defaults.
#pragma once
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pkg/flags/flag_set.h"

namespace berth::kube_scheduler {

// A variable that `read` sets unless it returns an error. `type` and `otherwise` are as for flags::Value.
template <typename T>
flags::Value* Variable(
    T* v, std::string type, std::string otherwise, absl::Status (*read)(const std::string&, T*),
    std::function<std::string(std::type_identity_t<T>)> text = [](T now) { return absl::StrCat(now); }) {
  return new flags::Value(
      std::move(type), std::move(otherwise), [v, read](const std::string& s) { return read(s, v); },
      [v, text] { return text(*v); });
}
// A text. `check`, which may be null, says what is wrong with one. The default is shown in quotes, but not that of
// "ip".
flags::Value* Text(std::string* v, std::string type = "string", flags::Value::Set check = {});
flags::Value* Bool(bool* v);
flags::Value* Int32(int32_t* v);
flags::Value* Float32(float* v);
flags::Value* Duration(absl::Duration* v);
// A list: the first use of the flag replaces the default, later ones add to it, as pflag's StringSlice does. `check` is
// for each text of it, and may be null.
flags::Value* List(std::vector<std::string>* v, absl::Status (*check)(const std::string&) = nullptr);

// Returns the message about a mistake in the command line, followed by where help is.
std::string WithHelp(std::string_view message);

}  // namespace berth::kube_scheduler
