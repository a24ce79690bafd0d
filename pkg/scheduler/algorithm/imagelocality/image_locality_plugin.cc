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
    const std::vector<int64_t> totals = ImageTotals(cache_, rows, images, [&](const auto& nodes, const auto& on_node) {
      return BytesOf(nodes, spread_ == Spread::kNow ? nodes.sizes.size() : static_cast<size_t>(on_node.nodes));
    });
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = ScoreOf(totals[i]);
    return absl::OkStatus();
  }
  bool OthersChanged() override {
    return seen_.Changed([this](std::vector<int64_t>* numbers) {
      if (spread_ == Spread::kNow) {
        ListScores(numbers);
      } else {
        ListNoted(cache_, names_, numbers);
      }
    });
  }

 private:
  // Returns the bytes of an image that count if so many nodes have it.
  int64_t BytesOf(const Cache::ImageNodes& nodes, size_t having) const {
    const double spread = static_cast<double>(having) / static_cast<double>(cache_.node_count());
    return static_cast<int64_t>(static_cast<double>(nodes.first_size) * spread);
  }
  int64_t ScoreOf(int64_t total) const {
    const int64_t most = 1000 * kMiB * containers_;
    const int64_t sum = total < kLeastBytes ? kLeastBytes : std::min(total, most);
    return most == kLeastBytes ? 0 : max_score_ * (sum - kLeastBytes) / (most - kLeastBytes);
  }
  // Lists for SeenImages the scores of nodes by which of the images they have, of which a few give few combinations, or
  // the bytes of many images. One node more or less in the cluster changes the bytes, but seldom a score.
  void ListScores(std::vector<int64_t>* numbers) const {
    constexpr size_t kFew = 4;
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < names_.size(); ++i) {
      const Cache::ImageNodes* nodes = cache_.Image(names_[i]);
      if (nodes == nullptr) continue;
      numbers->push_back(static_cast<int64_t>(i));
      bytes.push_back(BytesOf(*nodes, nodes->sizes.size()));
    }
    if (bytes.size() > kFew) {
      numbers->insert(numbers->end(), bytes.begin(), bytes.end());
      return;
    }
    for (size_t have = 1; have < size_t{1} << bytes.size(); ++have) {
      int64_t total = 0;
      for (size_t k = 0; k < bytes.size(); ++k) {
        if ((have >> k & 1) != 0) total = SaturatingAdd(total, bytes[k]);
      }
      numbers->push_back(ScoreOf(total));
    }
  }

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
