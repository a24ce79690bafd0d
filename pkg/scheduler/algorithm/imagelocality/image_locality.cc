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
  ImageLocalityScoring(const PodContext& ctx, int64_t max_score, bool first_entry_counts)
      : ctx_(ctx), max_score_(max_score), first_entry_counts_(first_entry_counts) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    std::vector<const Cache::ImageNodes*> images;
    for (const api::Container& c : ctx_.pod.tmpl->containers) {
      if (const auto* nodes = ctx_.cache.Image(c.image)) images.push_back(nodes);
    }
    if (images.empty()) {
      std::fill(scores.begin(), scores.end(), 0);
      return absl::OkStatus();
    }
    const std::vector<int64_t> totals = ImageTotals(
        ctx_.cache, rows, images, [](const auto&, const Cache::ImageNodes::Size& size) { return size.bytes; });
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = Score(first_entry_counts_ && totals[i] != 0 ? TotalOfFirst(rows[i]) : totals[i]);
    }
    return absl::OkStatus();
  }

 private:
  // The index has the last entry of the node's list that has a name.
  int64_t TotalOfFirst(Row row) const {
    int64_t total = 0;
    for (const api::Container& c : ctx_.pod.tmpl->containers) {
      for (const api::NodeImage& image : ctx_.cache.row(row).node->images) {
        if (std::find(image.names.begin(), image.names.end(), Symbol(c.image)) == image.names.end()) continue;
        total = SaturatingAdd(total, image.size_bytes);
        break;
      }
    }
    return total;
  }
  int64_t Score(int64_t total) const {
    if (total < kMinSize) return 0;
    if (total >= kMaxSize) return max_score_;
    return max_score_ * (total - kMinSize) / (kMaxSize - kMinSize) + 1;
  }

  PodContext ctx_;
  int64_t max_score_;
  bool first_entry_counts_;  // 1.8: of several images with one name, the first one
};

}  // namespace

PriorityFunction ImageLocality(const PluginFactoryArgs& args) {
  return
      [max = args.max_score](const PodContext& ctx) { return std::make_unique<ImageLocalityScoring>(ctx, max, false); };
}

PriorityFunction ImageLocalityOfFirst(const PluginFactoryArgs& args) {
  return
      [max = args.max_score](const PodContext& ctx) { return std::make_unique<ImageLocalityScoring>(ctx, max, true); };
}

}  // namespace berth::scheduler::imagelocality
