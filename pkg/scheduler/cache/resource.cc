#include "pkg/scheduler/cache/resource.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <iterator>

#include "pkg/api/resource_names.h"
#include "pkg/scheduler/cache/scalar_lookup.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

const Symbol kCpu("cpu"), kMemory("memory"), kPods("pods"), kEphemeral("ephemeral-storage"),
    kNvidiaGpu("alpha.kubernetes.io/nvidia-gpu");

// Returns the member for the resource, or null when there is none. `pods` is not among them, because RaiseTo ignores
// it.
int64_t* Native(Resource* r, Symbol name) {
  if (name == kCpu) return &r->milli_cpu;
  if (name == kMemory) return &r->memory;
  if (name == kNvidiaGpu) return &r->nvidia_gpu;
  if (name == kEphemeral) return &r->ephemeral_storage;
  return nullptr;
}

int64_t Amount(Symbol name, const api::Quantity& q) {
  return name == kCpu ? q.MilliValue() : q.Value();
}

// Adds amounts to sorted scalars, as MutableScalar of one after another would, but sorts the new ones once: inserting
// each of them takes time with the square of their number. Sets *cut if an amount was cut.
void AddAll(std::vector<std::pair<Symbol, int64_t>> amounts, std::vector<std::pair<Symbol, int64_t>>* scalars,
            bool* cut) {
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(amounts.begin(), amounts.end(), before);
  std::vector<std::pair<Symbol, int64_t>> sums;
  sums.reserve(scalars->size() + amounts.size());
  std::merge(scalars->begin(), scalars->end(), amounts.begin(), amounts.end(), std::back_inserter(sums), before);
  scalars->clear();
  for (const auto& [name, amount] : sums) {
    if (scalars->empty() || scalars->back().first != name) {
      scalars->emplace_back(name, amount);
    } else {
      scalars->back().second = SaturatingAdd(scalars->back().second, amount, cut);
    }
  }
}

}  // namespace

bool ScalarResources::HasScalar(Symbol name) const {
  return std::any_of(scalars.begin(), scalars.end(), [&](const auto& s) { return s.first == name; });
}
int64_t* ScalarResources::MutableScalar(Symbol name) {
  std::vector<ScalarAmounts::Entry>& list = scalars.Edit();
  auto it = std::lower_bound(list.begin(), list.end(), name, [](const auto& s, Symbol n) { return s.first < n; });
  if (it == list.end() || it->first != name) it = list.insert(it, {name, 0});
  return &it->second;
}

bool Resource::Add(const api::ResourceList& list) {
  return Add(list, IsScalarResourceName);
}
bool Resource::Add(const api::ResourceList& list, bool (*is_scalar)(Symbol)) {
  constexpr size_t kFew = 64;
  bool cut = false;
  std::vector<std::pair<Symbol, int64_t>> many;
  for (const auto& [name, quantity] : list) {
    int64_t amount = Amount(name, quantity);
    bool counted = true;
    if (int64_t* native = Native(this, name)) {
      *native = SaturatingAdd(*native, amount, &cut);
      if (name == kNvidiaGpu && is_scalar(name)) *MutableScalar(name) = *native;
    } else if (name == kPods) {
      allowed_pods = SaturatingAdd(allowed_pods, amount, &cut);
    } else if (is_scalar(name) && list.size() > kFew) {
      many.emplace_back(name, amount);
    } else if (is_scalar(name)) {
      int64_t* scalar = MutableScalar(name);
      *scalar = SaturatingAdd(*scalar, amount, &cut);
    } else {
      counted = false;
    }
    cut |= counted && quantity.SaturatesValue();
  }
  if (!many.empty()) AddAll(std::move(many), &scalars.Edit(), &cut);
  return !cut;
}

void Resource::RaiseTo(const api::ResourceList& list, bool (*is_scalar)(Symbol)) {
  for (const auto& [name, quantity] : list) {
    int64_t amount = Amount(name, quantity);
    if (int64_t* native = Native(this, name)) {
      *native = std::max(*native, amount);
      if (name == kNvidiaGpu && is_scalar(name)) *MutableScalar(name) = *native;
    } else if (is_scalar(name) && amount > ScalarOf(*this, name)) {
      *MutableScalar(name) = amount;
    }
  }
}

void Resource::RaiseTo(const Resource& other) {
  milli_cpu = std::max(milli_cpu, other.milli_cpu);
  memory = std::max(memory, other.memory);
  nvidia_gpu = std::max(nvidia_gpu, other.nvidia_gpu);
  ephemeral_storage = std::max(ephemeral_storage, other.ephemeral_storage);
  for (const auto& [name, amount] : other.scalars) {
    if (amount > ScalarOf(*this, name)) *MutableScalar(name) = amount;
  }
}

// The results are stored by symbol, because the function is called for every resource of every object.
bool IsScalarResourceName(Symbol name) {
  thread_local absl::flat_hash_map<uint32_t, bool> known;
  auto [it, fresh] = known.try_emplace(name.id(), false);
  if (fresh) it->second = name.str().starts_with("hugepages-") || api::IsExtendedResourceName(name.str());
  return it->second;
}

bool IsScalarNameOutsideKubernetes(Symbol name) {
  const std::string_view text = name.str();
  const bool outside =
      text.find('/') != std::string_view::npos && text.find("kubernetes.io/") == std::string_view::npos;
  return outside || text.starts_with("hugepages-");
}

bool IsScalarOrOpaqueName(Symbol name) {
  return name.str().starts_with("pod.alpha.kubernetes.io/opaque-int-resource-") || IsScalarNameOutsideKubernetes(name);
}

bool IsScalarOrPrefixedName(Symbol name) {
  thread_local absl::flat_hash_map<uint32_t, bool> known;
  auto [it, fresh] = known.try_emplace(name.id(), false);
  if (fresh) {
    const std::string_view text = name.str();
    it->second = IsScalarResourceName(name) || text.find("kubernetes.io/") != std::string_view::npos ||
                 text.starts_with("attachable-volumes-");
  }
  return it->second;
}

}  // namespace berth::scheduler
