#include "pkg/simulate/generated.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cmath>

#include "pkg/simulate/row_pods.h"
#include "pkg/simulate/times.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

// SplitMix64: small, and the same everywhere.
class SimulatedChance {
 public:
  explicit SimulatedChance(uint64_t seed) : state_(seed) {}
  // Returns a number above 0 and at most 1.
  double Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 1) * 0x1p-53;
  }
  // Returns a number of the normal distribution (Box and Muller).
  double Normal() { return std::sqrt(-2 * std::log(Next())) * std::cos(2 * 3.14159265358979323846 * Next()); }

 private:
  uint64_t state_;
};

absl::Status Bad(std::string_view key, std::string_view value, std::string_view what) {
  return util::InvalidArgument(absl::StrCat(util::ToAbsl(key), "=", util::ToAbsl(value), ": ", util::ToAbsl(what)));
}

}  // namespace

class Generated::Source final : public ArrivalSource {
 public:
  Source(const Generated& what, uint64_t seed) : what_(what), chance_(seed) {}

  bool Next(Arrival* out) override {
    if (next_ == what_.count_) return false;
    const auto all = static_cast<double>(what_.for_);
    if (what_.even_) {
      at_ = all * static_cast<double>(next_) / static_cast<double>(what_.count_);
    } else {
      // The next of so many times that are equally likely everywhere in what is left.
      const auto left = static_cast<double>(what_.count_ - next_);
      at_ += (all - at_) * (1 - std::pow(chance_.Next(), 1 / left));
    }
    out->at = what_.from_ + static_cast<Micros>(at_);
    out->duration = Duration();
    out->pod = what_.pod_;
    out->as_is = false;
    out->name = absl::StrCat(what_.name_, "-", next_++);
    return true;
  }

 private:
  Micros Duration() {
    if (what_.duration_ == kNever || what_.spread_ == Spread::kFixed) return what_.duration_;
    const auto mean = static_cast<double>(what_.duration_);
    // The logarithm has the standard deviation 1, so that its mean is half below that of the mean.
    const double drawn = what_.spread_ == Spread::kExponential ? -mean * std::log(chance_.Next())
                                                               : mean * std::exp(chance_.Normal() - 0.5);
    return static_cast<Micros>(drawn);
  }

  const Generated& what_;
  SimulatedChance chance_;
  int64_t next_ = 0;
  double at_ = 0;
};

absl::Status Generated::Set(std::string_view key, std::string_view value) {
  const auto time = [&](Micros* out) -> absl::Status {
    auto parsed = ParseTime(value);
    if (!parsed.ok()) return Bad(key, value, util::Message(parsed.status()));
    *out = *parsed;
    return absl::OkStatus();
  };
  if (key == "for") return time(&for_);
  if (key == "from") return time(&from_);
  if (key == "duration") return time(&duration_);
  if (key == "name") {
    name_ = value;
    if (absl::Status s = CheckName({}, value); !s.ok()) return Bad(key, value, util::Message(s));
  } else if (key == "count") {
    if (absl::Status s = ReadCount({}, value, 1, &count_); !s.ok()) return Bad(key, value, util::Message(s));
  } else if (key == "rate") {
    const size_t slash = value.find('/');
    double number = 0;
    Micros each = 0;
    // "100/h" is as good as "100/1h".
    const std::string per = slash == std::string_view::npos ? "" : std::string(value.substr(slash + 1));
    const bool unit = !per.empty() && per.find_first_of("0123456789") == std::string::npos;
    const auto parsed = ParseTime(unit ? "1" + per : per);
    if (parsed.ok()) each = *parsed;
    if (each <= 0 || !absl::SimpleAtod(util::ToAbsl(value.substr(0, slash)), &number) || number <= 0) {
      return Bad(key, value, "must be N/TIME, such as 100/h");
    }
    per_ = static_cast<double>(each) / number;
  } else if (key == "spacing") {
    if (value != "random" && value != "even") return Bad(key, value, "must be random or even");
    even_ = value == "even";
  } else if (key == "spread") {
    if (value != "exponential" && value != "lognormal" && value != "fixed") {
      return Bad(key, value, "must be exponential, lognormal or fixed");
    }
    spread_ = value == "fixed" ? Spread::kFixed : value == "lognormal" ? Spread::kLogNormal : Spread::kExponential;
  } else {
    columns_.emplace_back(key, value);
  }
  return absl::OkStatus();
}

absl::Status Generated::Finish(const KnownPods* known) {
  if (for_ <= 0) return util::InvalidArgument("give for=TIME, the time over which pods arrive");
  if ((count_ > 0) == (per_ > 0)) return util::InvalidArgument("give either rate=N/TIME or count=N");
  if (per_ > 0) {
    const double pods = static_cast<double>(for_) / per_;
    constexpr int64_t kMost = 100 * kMostPodsAtOnce;  // They need no memory before they arrive.
    if (pods > static_cast<double>(kMost)) {
      return util::InvalidArgument(absl::StrCat("these are more than ", kMost, " pods"));
    }
    count_ = std::llround(pods);
  }
  std::vector<std::string_view> names = {"time", "duration", "name"}, fields = {"0", "", name_};
  for (const auto& [key, value] : columns_) {
    names.push_back(key);
    fields.push_back(value);
  }
  auto columns = RolesOf(names);
  if (!columns.ok()) return columns.status();
  RowPods pods(&*columns, known);
  auto pod = pods.Of(fields, {"--generate", 0, {}});
  if (!pod.ok()) return pod.status();
  pod_ = *std::move(pod);
  for (const auto& [key, value] : columns_) {
    if (key == "template" && !value.empty()) template_ = known->templates.find(value)->second;
  }
  if (template_ != nullptr && template_->tmpl->controller) template_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<Generated> Generated::Parse(std::string_view spec, const KnownPods* known) {
  Generated g;
  const auto fail = [&](const absl::Status& s) {
    return util::InvalidArgument(absl::StrCat("--generate ", util::ToAbsl(spec), ": ", util::Message(s)));
  };
  for (absl::string_view part : absl::StrSplit(util::ToAbsl(spec), ',', absl::SkipEmpty())) {
    const size_t equals = part.find('=');
    if (equals == absl::string_view::npos) {
      return fail(util::InvalidArgument(absl::StrCat(part, ": must be KEY=VALUE")));
    }
    if (absl::Status s = g.Set(util::FromAbsl(part.substr(0, equals)), util::FromAbsl(part.substr(equals + 1)));
        !s.ok()) {
      return fail(s);
    }
  }
  if (absl::Status s = g.Finish(known); !s.ok()) return fail(s);
  return g;
}

std::unique_ptr<ArrivalSource> Generated::Arrivals(uint64_t seed) const {
  return std::make_unique<Source>(*this, seed);
}

void Generated::AddTo(ArrivalFacts* facts) const {
  Arrival a;
  a.at = from_ + for_;
  a.duration = duration_;
  a.pod = pod_;
  facts->Add(a, count_);
}

}  // namespace berth::simulate
