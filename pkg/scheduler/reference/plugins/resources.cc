#include "pkg/scheduler/reference/plugins/resources.h"

#include <absl/strings/numbers.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::scheduler::reference::plugins {
namespace {

constexpr int64_t kDefaultMilliCpu = 100;
constexpr int64_t kDefaultMemory = int64_t{200} * 1024 * 1024;

// Amounts in units of 10^-9, which hold every quantity exactly.
__extension__ using Nano = __int128;
constexpr Nano kUnit = 1'000'000'000, kMilli = 1'000'000;
using Quantities = std::map<Symbol, Nano>;

// Returns the power of ten or of two that a suffix of a canonical quantity stands for, in units of 10^-9.
Nano ScaleOf(std::string_view suffix) {
  constexpr std::string_view kSmall = "num", kLarge = "kMGTPE", kBinary = "KMGTPE";
  Nano scale = kUnit;
  int steps = 0;
  if (suffix.empty()) return scale;
  if (suffix[0] == 'e' && suffix.size() > 1) {
    int exponent = 0;
    CHECK(absl::SimpleAtoi(util::ToAbsl(suffix.substr(1)), &exponent));
    for (; exponent > 0; --exponent) scale *= 10;
    for (; exponent < 0; ++exponent) scale /= 10;
    return scale;
  }
  if (suffix.size() == 1 && kSmall.find(suffix[0]) != std::string_view::npos) {
    steps = 3 - static_cast<int>(kSmall.find(suffix[0]));
    for (; steps > 0; --steps) scale /= 1000;
    return scale;
  }
  const bool binary = suffix.ends_with('i');
  steps = 1 + static_cast<int>((binary ? kBinary : kLarge).find(suffix[0]));
  for (; steps > 0; --steps) scale *= binary ? 1024 : 1000;
  return scale;
}

// Returns the exact value of a quantity, from its text.
Nano Exact(const api::Quantity& q) {
  const std::string text = q.String();  // digits and a suffix, without a fraction
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  Nano value = 0;
  while (!digits.empty() && digits[0] >= '0' && digits[0] <= '9') {
    value = value * 10 + (digits[0] - '0');
    digits.remove_prefix(1);
  }
  value *= ScaleOf(digits);
  return negative ? -value : value;
}

// Returns amount / unit, rounded up and cut to the range of int64_t.
int64_t RoundedUp(Nano amount, Nano unit) {
  Nano rounded = amount / unit + (amount % unit > 0 ? 1 : 0);
  return static_cast<int64_t>(std::clamp<Nano>(rounded, INT64_MIN, INT64_MAX));
}

Symbol Cpu() {
  static const Symbol kName("cpu");
  return kName;
}
Symbol Memory() {
  static const Symbol kName("memory");
  return kName;
}

void AddTo(Quantities* sum, const Quantities& list) {
  for (const auto& [name, amount] : list) (*sum)[name] += amount;
}
void RaiseTo(Quantities* max, const Quantities& list) {
  for (const auto& [name, amount] : list) {
    auto [it, added] = max->try_emplace(name, amount);
    if (!added) it->second = std::max(it->second, amount);
  }
}

Quantities QuantitiesOf(const api::ResourceList& list, Missing missing) {
  Quantities out;
  for (const auto& [name, amount] : list) out[name] = Exact(amount);
  if (missing == Missing::kIsDefault) {
    out.try_emplace(Cpu(), kDefaultMilliCpu * kMilli);
    out.try_emplace(Memory(), kDefaultMemory * kUnit);
  }
  return out;
}

// Returns the pod-level requests of cpu, memory and huge pages; other names have no meaning there.
Quantities PodLevel(const api::PodTemplate& pod) {
  Quantities all = QuantitiesOf(pod.pod_requests, Missing::kIsZero), out;
  for (const auto& [name, amount] : all) {
    if (name == Cpu() || name == Memory() || name.str().starts_with("hugepages-")) out[name] = amount;
  }
  return out;
}

Resource Rounded(const Quantities& list) {
  static const Symbol kEphemeralStorage("ephemeral-storage"), kPods("pods");
  Resource out;
  for (const auto& [name, amount] : list) {
    if (name == Cpu()) {
      out.cpu = RoundedUp(amount, kMilli);
    } else if (name == Memory()) {
      out.memory = RoundedUp(amount, kUnit);
    } else if (name == kEphemeralStorage) {
      out.ephemeral_storage = RoundedUp(amount, kUnit);
    } else if (name == kPods) {
      out.pods = RoundedUp(amount, kUnit);
    } else if (IsScalarName(name.str())) {
      out.scalars[name] = RoundedUp(amount, kUnit);
    }
  }
  return out;
}

// Returns a + b, cut to the range of int64_t.
int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

NonZero NonZeroOf(const Quantities& requests) {
  auto cpu = requests.find(Cpu()), memory = requests.find(Memory());
  return {cpu == requests.end() ? kDefaultMilliCpu : RoundedUp(cpu->second, kMilli),
          memory == requests.end() ? kDefaultMemory : RoundedUp(memory->second, kUnit)};
}

}  // namespace

bool IsExtendedName(std::string_view name) {
  if (name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos) return false;
  if (name.starts_with("requests.")) return false;
  return api::QualifiedNameProblems("requests." + std::string(name)).empty();
}

bool IsScalarName(std::string_view name) {
  return IsExtendedName(name) || name.starts_with("hugepages-") ||
         name.find("kubernetes.io/") != std::string_view::npos || name.starts_with("attachable-volumes-");
}

void Resource::Add(const Resource& o, int sign) {
  cpu = Sum(cpu, sign * o.cpu);
  memory = Sum(memory, sign * o.memory);
  ephemeral_storage = Sum(ephemeral_storage, sign * o.ephemeral_storage);
  for (const auto& [name, amount] : o.scalars) scalars[name] = Sum(scalars[name], sign * amount);
}

Resource ResourceOf(const api::ResourceList& list) {
  return Rounded(QuantitiesOf(list, Missing::kIsZero));
}

Resource RequestOf(const api::PodTemplate& pod, Missing missing) {
  Quantities main, sidecars, most;
  for (const api::Container& c : pod.containers) AddTo(&main, QuantitiesOf(c.requests, missing));
  for (const api::Container& c : pod.init_containers) {
    Quantities requests = QuantitiesOf(c.requests, missing);
    Quantities running = sidecars;
    AddTo(&running, requests);
    if (c.restart_always) {
      AddTo(&main, requests);
      sidecars = running;
    }
    RaiseTo(&most, running);
  }
  RaiseTo(&main, most);
  RaiseTo(&main, PodLevel(pod));
  AddTo(&main, QuantitiesOf(pod.overhead, Missing::kIsZero));
  Resource out = Rounded(main);
  out.cpu = std::max<int64_t>(out.cpu, 0);
  out.memory = std::max<int64_t>(out.memory, 0);
  out.ephemeral_storage = std::max<int64_t>(out.ephemeral_storage, 0);
  for (auto& [name, amount] : out.scalars) amount = std::max<int64_t>(amount, 0);
  return out;
}

NonZero NonZeroOf(const api::PodTemplate& pod) {
  NonZero sum, most;
  for (const api::Container& c : pod.containers) {
    NonZero one = NonZeroOf(QuantitiesOf(c.requests, Missing::kIsZero));
    sum = {Sum(sum.cpu, one.cpu), Sum(sum.memory, one.memory)};
  }
  Quantities sidecars;
  for (const api::Container& c : pod.init_containers) {
    Quantities running = sidecars;
    AddTo(&running, QuantitiesOf(c.requests, Missing::kIsZero));
    if (c.restart_always) sidecars = running;
    NonZero one = NonZeroOf(running);
    most = {std::max(most.cpu, one.cpu), std::max(most.memory, one.memory)};
  }
  Quantities overhead = QuantitiesOf(pod.overhead, Missing::kIsZero);
  NonZero out{std::max(sum.cpu, most.cpu), std::max(sum.memory, most.memory)};
  Quantities whole = PodLevel(pod);
  if (whole.contains(Cpu())) out.cpu = RoundedUp(whole[Cpu()], kMilli);
  if (whole.contains(Memory())) out.memory = RoundedUp(whole[Memory()], kUnit);
  if (overhead.contains(Cpu())) out.cpu = Sum(out.cpu, RoundedUp(overhead[Cpu()], kMilli));
  if (overhead.contains(Memory())) out.memory = Sum(out.memory, RoundedUp(overhead[Memory()], kUnit));
  return out;
}

}  // namespace berth::scheduler::reference::plugins
