// The numbers by which predicates tell the reasons of many rows apart (ColumnCheck::NumberReasons), for all predicates
// of all releases.
#include <catch2/catch.hpp>

#include <map>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/reference/lockstep.h"
#include "pkg/scheduler/registry/registry.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {
namespace {

// Compares the numbers of all rows, and the rows that the check leaves of all, with what it says of each row by itself.
// Returns how many rows failed.
size_t CompareNumbers(const Cache& cache, FitCheck* check) {
  std::vector<Row> rows;
  cache.listed().ForEach([&](Row row) { rows.push_back(row); });
  std::vector<uint32_t> numbers(rows.size(), ~0u);
  NumberReasons(*check, rows, nullptr, numbers);
  std::map<uint32_t, std::vector<FailureReason>> by_number;
  size_t failed = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool fits = check->Check(rows[i]) == Verdict::kFits;
    CHECK((numbers[i] == 0) == fits);
    if (fits) continue;
    ++failed;
    std::vector<FailureReason> reasons;
    check->Explain(rows[i], &reasons);
    CHECK(by_number.try_emplace(numbers[i], reasons).first->second == reasons);
  }
  RowSet fitting = cache.listed(), errors;
  check->Filter(&fitting, &errors);
  CHECK(errors.empty());
  CHECK(fitting.words().size() == cache.listed().words().size());
  for (size_t i = 0; i < rows.size(); ++i) CHECK(fitting.Has(rows[i]) == (numbers[i] == 0));
  return failed;
}

}  // namespace

TEST_CASE("rows whose reasons have the same number fail for the same reasons, and those with number 0 fit") {
  for (const release::Id& release : release::All()) {
    Registry registry;
    releases::Of(release).decides.register_algorithms(&registry);
    std::map<std::string, size_t> numbered;
    for (uint64_t seed : reference::Seeds(12)) {
      INFO("BERTH_RANDOM_SEED=" << seed << " release " << release.name);
      reference::Lockstep world(seed);
      ClaimBinder claims(&world.cache);
      PluginFactoryArgs args;
      args.cache = &world.cache;
      args.volume_binder = &world.binder;
      args.claim_binder = &claims;
      args.gates.volume_scheduling = true;
      for (const auto& [name, predicate] : registry.predicates()) {
        if (predicate.takes_arguments) continue;
        INFO(name);
        const FitPredicate rule = predicate.factory(args);
        for (int n = 20; n > 0; --n) {
          world.Change();
          const api::PodPtr pod = world.Pending();
          const std::unique_ptr<FitCheck> check = rule({*pod, *world.cache.Info(*pod), world.cache});
          if (ReasonBits(*check) == 0 || check->MayError()) continue;
          numbered[name] += CompareNumbers(world.cache, check.get());
        }
      }
    }
    CHECK(numbered["CheckNodeCondition"] + numbered["NodePorts"] > 0);
  }
}

}  // namespace berth::scheduler
