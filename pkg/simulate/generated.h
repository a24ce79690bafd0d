// Pods that arrive at random times.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/simulate/arrival_file.h"
#include "pkg/simulate/arrivals.h"

namespace berth::simulate {

// What `--generate` says, as KEY=VALUE,...:
//   rate=N/TIME or count=N   how many arrive: N in each TIME, or N in all
//   for=TIME                 over which time (needed)
//   from=TIME                when that begins; 0 if absent
//   spacing=random|even      random: as independent users would send them (a Poisson process); the default
//   duration=TIME            how long pods run, in the mean; endless if absent
//   spread=exponential|lognormal|fixed   how durations differ; exponential if absent
//   name=PREFIX              of their names: PREFIX-0, PREFIX-1, ...
//   template=, namespace=, priority=, and resources such as cpu=500m: as in a file of arrivals
class Generated {
 public:
  // An error names the key and the value. `known` must outlive the object.
  static absl::StatusOr<Generated> Parse(std::string_view spec, const KnownPods* known);

  // Returns the arrivals. Equal seeds give equal ones.
  std::unique_ptr<ArrivalSource> Arrivals(uint64_t seed) const;
  void AddTo(ArrivalFacts* facts) const;
  // Returns the pod that they are like if the input has it, and null otherwise.
  const api::Pod* Template() const { return template_.get(); }

 private:
  enum class Spread : uint8_t { kExponential, kLogNormal, kFixed };
  class Source;
  absl::Status Set(std::string_view key, std::string_view value);
  absl::Status Finish(const KnownPods* known);

  api::PodPtr pod_, template_;
  std::string name_ = "generated";
  int64_t count_ = 0;
  double per_ = 0;  // rate=N/TIME: microseconds from one arrival to the next
  Micros from_ = 0, for_ = 0, duration_ = kNever;
  bool even_ = false;
  Spread spread_ = Spread::kExponential;
  std::vector<std::pair<std::string, std::string>> columns_;  // of the pods
};

}  // namespace berth::simulate
