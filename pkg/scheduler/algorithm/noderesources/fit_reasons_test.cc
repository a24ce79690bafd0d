// Properties of the numbers by which NodeResourcesFit tells the reasons of many rows apart.
#include <map>

#include <catch2/catch.hpp>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/reference/lockstep.h"

namespace berth::scheduler::noderesources {
namespace {

using Texts = std::vector<std::pair<std::string, bool>>;  // the reasons of a row, and whether they are unresolvable

Texts ReasonsOf(FitCheck* check, Row row) {
  std::vector<FailureReason> reasons;
  check->Explain(row, &reasons);
  Texts out;
  for (const FailureReason& r : reasons) out.emplace_back(r.text.string(), r.unresolvable);
  return out;
}

// Compares the numbers of all rows with what the check says of each row by itself.
void CheckNumbers(const Cache& cache, FitCheck* check) {
  std::vector<Row> rows;
  cache.listed().ForEach([&](Row row) { rows.push_back(row); });
  std::vector<uint32_t> numbers(rows.size());
  NumberReasons(*check, rows, nullptr, numbers);
  std::map<uint32_t, Texts> by_number;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool fits = check->Check(rows[i]) == Verdict::kFits;
    CHECK((numbers[i] == 0) == fits);
    if (fits) continue;
    const Texts reasons = ReasonsOf(check, rows[i]);
    CHECK(by_number.try_emplace(numbers[i], reasons).first->second == reasons);
  }
  if (!ReadsOnlyAmounts(*check)) return;
  std::vector<uint32_t> with_nothing(rows.size());
  const std::vector<AddedAmounts> nothing(rows.size());
  NumberReasons(*check, rows, nothing.data(), with_nothing);
  CHECK(with_nothing == numbers);
}

}  // namespace

TEST_CASE("rows with the same number lack the same resources, and number 0 lacks none") {
  for (uint64_t seed : reference::Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Lockstep world(seed);
    for (int n = 60; n > 0; --n) world.Change();
    for (const bool final : {false, true}) {
      FitOptions options;
      options.too_small_is_final = final;
      const FitPredicate fit = Fit({}, options);
      for (int n = 10; n > 0; --n) {
        const api::PodPtr pod = world.Pending();
        const PodContext ctx{*pod, *world.cache.Info(*pod), world.cache};
        CheckNumbers(world.cache, fit(ctx).get());
      }
    }
  }
}

}  // namespace berth::scheduler::noderesources
