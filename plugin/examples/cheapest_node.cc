// CheapestNodePriority: the same priority function as CheapestNodePriorityPlain, in the prepared form. It reads the
// column of the label instead of the labels of each node, and parses each distinct price once.
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <memory>
#include <span>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/factory/factory.h"
#include "plugin/examples/node_price.h"

namespace plugin::examples {
namespace {

using berth::scheduler::Cache;
using berth::scheduler::PodContext;
using berth::scheduler::PriorityFunction;
using berth::scheduler::Row;
using berth::scheduler::Scoring;
using berth::util::Symbol;

class PriceScoring final : public Scoring {
 public:
  explicit PriceScoring(const PodContext& ctx) : column_(ctx.cache.Label(PriceLabel())) {}

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      Symbol text = column_[rows[i]];
      if (text == Cache::kNoValue) {
        scores[i] = kNoPrice;
        continue;
      }
      auto [known, added] = prices_.try_emplace(text, kNoPrice);
      if (added) known->second = PriceOf(text.str());
      scores[i] = known->second;
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    int64_t dearest = 0;
    for (int64_t price : scores) dearest = std::max(dearest, price);
    for (int64_t& s : scores) s = PriceScore(s, dearest);
    return absl::OkStatus();
  }

 private:
  const Cache::LabelColumn& column_;
  // Prices by the text of the label.
  absl::flat_hash_map<Symbol, int64_t> prices_;
};

const std::string kRegistered = berth::scheduler::RegisterPriorityFunction(
    "CheapestNodePriority", PriorityFunction([](const PodContext& ctx) { return std::make_unique<PriceScoring>(ctx); }),
    /*weight=*/1);

}  // namespace
}  // namespace plugin::examples
