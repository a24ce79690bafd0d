// Reads the arguments of a rule: the value of `argument` in its Policy entry.
//
//   Arguments arguments(args);
//   const int64_t max_skew = arguments.Integer("maxSkew", /*otherwise=*/1, /*min=*/1, /*max=*/1000);
//   const std::string label = arguments.Text("label", /*otherwise=*/"rack");
//   arguments.Finish();
//
// Every mistake is appended to PluginFactoryArgs::problems, such as "maxSkew: 0: must be a whole number from 1 to
// 1000", and the scheduler is then not built. Member names are case-sensitive.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// Parses the arguments and reads their members. Mistakes are reported when the members are read.
class Arguments {
 public:
  // `args` must outlive the object, which must not outlive the call of the factory.
  explicit Arguments(const PluginFactoryArgs& args);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Each of these returns the value of a member, or `otherwise` if the member is absent, null or not valid.
  int64_t Integer(std::string_view name, int64_t otherwise, int64_t min, int64_t max);
  bool Boolean(std::string_view name, bool otherwise);
  // An empty text is not valid.
  std::string Text(std::string_view name, std::string otherwise);

  // Reports the members that no call has read. Call it last.
  void Finish();

 private:
  api::Json Find(std::string_view name);
  void Report(std::string_view name, const api::Json& value, std::string_view right);

  const PluginFactoryArgs& args_;
  api::Document document_;
  std::vector<std::string> names_;  // the names that were read so far
};

}  // namespace berth::scheduler
