// A column of a label says the same whether it is asked for before or after the nodes came.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include <catch2/catch.hpp>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

// Returns the rows with the value, in ascending order.
std::vector<Row> RowsOf(const LabelColumn& column, Symbol value) {
  std::vector<Row> rows = column.RowsWith(value);
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

TEST_CASE("a label column that is made late is as one that has followed each change") {
  const Symbol early("early"), late("late");
  size_t with_label = 0, without = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    reference::Random random(seed);
    Cache cache;
    const LabelColumn& followed = cache.Label(early);
    const auto change = [&] {
      const std::string name = absl::StrCat("n", random.Between(0, 30));
      const int value = random.Between(0, 4);
      if (random.Between(0, 3) == 0) {
        cache.RemoveNode(name);
      } else if (value == 0) {
        cache.AddNode(testing::NodeOf(name));
      } else {
        cache.AddNode(testing::NodeOf(name, absl::StrCat("'early':'v", value, "','late':'v", value, "'")));
      }
    };
    for (int n = random.Between(0, 60); n > 0; --n) change();
    const LabelColumn& made = cache.Label(late);
    for (int step = 0; step < 20; ++step, change()) {
      CHECK(made.rows_with_label() == followed.rows_with_label());
      CHECK(made.distinct() == followed.distinct());
      for (Row row = 0; row < cache.row_count(); ++row) {
        CHECK(made[row] == followed[row]);
        ++(made.Domain(row) == LabelColumn::kNoDomain ? without : with_label);
      }
      for (const char* value : {"v1", "v2", "v3", "v4"}) {
        CHECK(RowsOf(made, Symbol(value)) == RowsOf(followed, Symbol(value)));
      }
    }
  }
  CHECK(with_label > 1000);
  CHECK(without > 1000);
}

}  // namespace berth::scheduler
