#include "pkg/scheduler/configuration/load.h"

#include <set>

#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/validation.h"
#include "pkg/util/status.h"

namespace berth::scheduler::configuration {
namespace {

// Notes settings that 1.29 honours and this scheduler accepts without effect.
void NoteWhatHasNoEffect(const KubeSchedulerConfiguration& c, std::vector<std::string>* notices) {
  const auto means_fewer = [](int64_t percentage) { return percentage != 0 && percentage != 100; };
  if (means_fewer(c.percentage_of_nodes_to_score)) notices->emplace_back(kPercentageNotice);
  for (const Profile& p : c.profiles) {
    if (!means_fewer(p.percentage_of_nodes_to_score.value_or(0))) continue;
    notices->push_back("percentageOfNodesToScore of profile " + p.scheduler_name.value_or("default-scheduler") +
                       " has no effect: that of all profiles counts, if any");
  }
  if (c.parallelism > 0 && c.parallelism != KubeSchedulerConfiguration().parallelism) {
    notices->emplace_back("parallelism has no effect: a decision takes one core");
  }
}

// Erases what building profiles says about the name of a plugin that validation has refused.
void DropRepeated(std::vector<Problem>* problems) {
  std::set<std::string> refused;
  for (const Problem& p : *problems) {
    if (p.kind == Problem::Kind::kValidation) refused.insert(p.path + ".name");
  }
  std::erase_if(*problems,
                [&](const Problem& p) { return p.kind == Problem::Kind::kProfile && refused.contains(p.path); });
}

}  // namespace

LoadedConfiguration Load(api::Json document, const PluginCatalogue& catalogue, const Gates& gates,
                         std::string_view text) {
  LoadedConfiguration out;
  out.configuration = Decode(document, catalogue.release(), gates, &out.problems, text);
  Validate(out.configuration, catalogue.release(), gates, &out.problems);
  out.profiles = ResolveProfiles(out.configuration, catalogue, gates, &out.problems, &out.notices);
  DropRepeated(&out.problems);
  NoteWhatHasNoEffect(out.configuration, &out.notices);
  return out;
}

absl::StatusOr<LoadedConfiguration> LoadOrError(api::Json document, const PluginCatalogue& catalogue,
                                                const Gates& gates, std::string_view text) {
  LoadedConfiguration out = Load(document, catalogue, gates, text);
  if (!out.problems.empty()) return util::InvalidArgument(ErrorText(out.problems));
  return out;
}

}  // namespace berth::scheduler::configuration
