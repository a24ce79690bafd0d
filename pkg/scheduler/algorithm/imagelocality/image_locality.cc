#include "pkg/scheduler/algorithm/imagelocality/image_totals.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"

namespace berth::scheduler::imagelocality {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kMinSize = 23 * kMiB, kMaxSize = 1000 * kMiB;  // bytes

// ImageLocalityPriority: the more bytes of the pod's images the node has, the higher the score. An image counts only if
// the container names it exactly as the node reports it, and once for each container that uses it. Sizes below 23 MiB
// score 0; between the bounds, the score is 1 to 10 because 1 is added after the integer division. Source:
// pkg/scheduler/algorithm/priorities/image_locality.go (1.10).
class ImageLocalityScoring final : public Scoring {
 public:
  ImageLocalityScoring(const PodContext& ctx, int64_t max_score) : ctx_(ctx), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    std::vector<const Cache::ImageNodes*> images;
    for (const api::Container& c : ctx_.pod.tmpl->containers) {
      if (const auto* nodes = ctx_.cache.Image(c.image)) images.push_back(nodes);
    }
    const std::vector<int64_t> totals = ImageTotals(
        ctx_.cache, rows, images, [](const auto&, const Cache::ImageNodes::Size& size) { return size.bytes; });
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = Score(totals[i]);
    return absl::OkStatus();
  }

 private:
  int64_t Score(int64_t total) const {
    if (total < kMinSize) return 0;
    if (total >= kMaxSize) return max_score_;
    return max_score_ * (total - kMinSize) / (kMaxSize - kMinSize) + 1;
  }

  PodContext ctx_;
  int64_t max_score_;
};

}  // namespace

PriorityFunction ImageLocality(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) { return std::make_unique<ImageLocalityScoring>(ctx, max); };
}

}  // namespace berth::scheduler::imagelocality
