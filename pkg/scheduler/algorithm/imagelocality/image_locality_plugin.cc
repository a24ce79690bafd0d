// The plugin ImageLocality of releases 1.29 and 1.19. Source:
// pkg/scheduler/framework/plugins/imagelocality/image_locality.go.
#include <algorithm>

#include "pkg/scheduler/algorithm/imagelocality/image_totals.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/other_nodes.h"

namespace berth::scheduler::imagelocality {
namespace {

constexpr int64_t kMiB = 1024 * 1024;

// Which number of nodes with an image counts.
enum class Spread : uint8_t { kNow, kWhenNodeCame };
// Which images of a pod count.
enum class Images : uint8_t { kOfContainers, kAll };

class ImageScoring final : public Scoring, public ReadsOtherNodes {
 public:
  ImageScoring(const PodContext& ctx, Spread spread, int64_t max_score, Images which = Images::kOfContainers)
      : cache_(ctx.cache), spread_(spread), max_score_(max_score) {
    const api::PodTemplate& t = *ctx.pod.tmpl;
    if (which == Images::kAll) {
      for (const api::Container& c : t.init_containers) names_.push_back(ReportedName(c.image));
    }
    for (const api::Container& c : t.containers) names_.push_back(ReportedName(c.image));
    containers_ = static_cast<int64_t>(names_.size());
    if (which == Images::kAll) {
      for (Symbol image : t.image_volumes) names_.push_back(ReportedName(image));
    }
  }
  // The size of each image is multiplied by the fraction of all nodes that have it, so that pods do not all go to the
  // few nodes that pulled an image first. The fraction is computed before the multiplication and each product is
  // truncated, as upstream does. The upper bound grows with the number of containers; in 1.29 init containers do not
  // count, and the images of volumes never raise it. An image has the size that the first node reported (bug M-03).
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    std::vector<const Cache::ImageNodes*> images;
    for (const util::SharedSymbol& name : names_) {
      if (const auto* nodes = cache_.Image(name)) images.push_back(nodes);
    }
    if (images.empty()) {
      std::fill(scores.begin(), scores.end(), 0);
      return absl::OkStatus();
    }
    const double all = static_cast<double>(cache_.node_count());
    const std::vector<int64_t> totals = ImageTotals(cache_, rows, images, [&](const auto& nodes, const auto& on_node) {
      const size_t having = spread_ == Spread::kNow ? nodes.sizes.size() : on_node.nodes;
      const double spread = static_cast<double>(having) / all;
      return static_cast<int64_t>(static_cast<double>(nodes.first_size) * spread);
    });
    const int64_t least = 23 * kMiB, most = 1000 * kMiB * containers_;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t sum = totals[i] < least ? least : std::min(totals[i], most);
      scores[i] = most == least ? 0 : max_score_ * (sum - least) / (most - least);
    }
    return absl::OkStatus();
  }
  bool OthersChanged() override { return seen_.Changed(cache_, names_, spread_ == Spread::kNow); }

 private:
  const Cache& cache_;
  SeenImages seen_;
  Spread spread_;
  int64_t max_score_;
  std::vector<util::SharedSymbol> names_;  // of the images that count
  int64_t containers_ = 0;                 // how many of them are images of containers
};

}  // namespace

PriorityFunction SpreadImageLocality(const PluginFactoryArgs& args) {
  return
      [max = args.max_score](const PodContext& ctx) { return std::make_unique<ImageScoring>(ctx, Spread::kNow, max); };
}

PriorityFunction RememberedSpreadImageLocality(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ImageScoring>(ctx, Spread::kWhenNodeCame, max);
  };
}

PriorityFunction SpreadImageLocalityOfAll(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) {
    return std::make_unique<ImageScoring>(ctx, Spread::kNow, max, Images::kAll);
  };
}

}  // namespace berth::scheduler::imagelocality
