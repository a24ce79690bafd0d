// Reads a rule's own arguments: what stands under `argument` in its Policy entry.
//
//   Arguments arguments(args);
//   const int64_t max_skew = arguments.Integer("maxSkew", /*otherwise=*/1, /*min=*/1, /*max=*/1000);
//   const std::string label = arguments.Text("label", /*otherwise=*/"rack");
//   arguments.Finish();
//
// Every mistake is appended to PluginFactoryArgs::problems as "maxSkew: 0: must be a whole number from 1 to 1000"; the
// scheduler is then not built. Names are matched exactly.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

class Arguments {
 public:
  // REQUIRES: `args` outlives this object, which lives while a factory runs.
  explicit Arguments(const PluginFactoryArgs& args);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Each returns the value of a member, or `otherwise` when the member is absent, null or wrong.
  int64_t Integer(std::string_view name, int64_t otherwise, int64_t min, int64_t max);
  bool Boolean(std::string_view name, bool otherwise);
  // The text must not be empty.
  std::string Text(std::string_view name, std::string otherwise);

  // Reports members that were not read. Call it last.
  void Finish();

 private:
  api::Json Find(std::string_view name);
  void Report(std::string_view name, const api::Json& value, std::string_view right);

  const PluginFactoryArgs& args_;
  api::Document document_;
  std::vector<std::string> names_;  // read so far
};

}  // namespace berth::scheduler
