// ImageLocalityPriority from 1.12 on. Source: pkg/scheduler/algorithm/priorities/image_locality.go (1.13).
#include <algorithm>

#include "pkg/scheduler/algorithm/imagelocality/image_totals.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/other_nodes.h"

namespace berth::scheduler::imagelocality {
namespace {

constexpr int64_t kMost = int64_t{1000} * 1024 * 1024;  // bytes, whatever the number of containers

// As upstream, the fraction of nodes that have an image has the number of these nodes as it was when the node was last
// added or updated, and the number of all nodes as it is now. An image has the size that the first node reported.
class NotedImageScoring final : public Scoring, public ReadsOtherNodes {
 public:
  NotedImageScoring(const PodContext& ctx, int64_t max_score) : cache_(ctx.cache), max_score_(max_score) {
    for (const api::Container& c : ctx.pod.tmpl->containers) names_.push_back(ReportedName(c.image));
  }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    std::vector<const Cache::ImageNodes*> images;
    for (const util::SharedSymbol& name : names_) {
      if (const auto* nodes = cache_.Image(name)) images.push_back(nodes);
    }
    const double all = static_cast<double>(cache_.node_count());
    const std::vector<int64_t> totals =
        ImageTotals(cache_, rows, images, [all](const Cache::ImageNodes& nodes, const Cache::ImageNodes::Size& here) {
          const double spread = static_cast<double>(here.nodes) / all;
          return static_cast<int64_t>(static_cast<double>(nodes.first_size) * spread);
        });
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = max_score_ * (std::clamp(totals[i], kLeastBytes, kMost) - kLeastBytes) / (kMost - kLeastBytes);
    }
    return absl::OkStatus();
  }
  bool OthersChanged() override {
    return seen_.Changed([this](std::vector<int64_t>* numbers) { ListNoted(cache_, names_, numbers); });
  }

 private:
  const Cache& cache_;
  SeenImages seen_;
  int64_t max_score_;
  std::vector<util::SharedSymbol> names_;  // of the regular containers' images
};

}  // namespace

PriorityFunction NotedImageLocality(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) { return std::make_unique<NotedImageScoring>(ctx, max); };
}

}  // namespace berth::scheduler::imagelocality
