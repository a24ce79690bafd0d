#include <absl/container/flat_hash_map.h>

#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"

namespace berth::scheduler::imagelocality {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kMinSize = 23 * kMiB, kMaxSize = 1000 * kMiB;  // bytes

class ImageLocalityScoring final : public Scoring {
 public:
  ImageLocalityScoring(const PodContext& ctx, int64_t max_score) : ctx_(ctx), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      const api::Node& node = *ctx_.cache.row(rows[i]).node;
      int64_t total = 0;
      if (!node.images.empty()) {
        for (const api::Container& c : ctx_.pod.tmpl->containers) total = SaturatingAdd(total, SizeOf(node, c.image));
      }
      scores[i] = Score(total);
    }
    return absl::OkStatus();
  }

 private:
  // Of several entries for a name the last counts.
  static int64_t SizeOf(const api::Node& node, Symbol image) {
    int64_t size = 0;
    for (const api::NodeImage& i : node.images) {
      for (Symbol name : i.names) {
        if (name == image) size = i.size_bytes;
      }
    }
    return size;
  }
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
