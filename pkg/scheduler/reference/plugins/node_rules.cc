// The plugins that read the node object, its host ports and its images.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "pkg/scheduler/reference/plugins/cloned.h"

namespace berth::scheduler::reference::plugins {

bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node) {
  static const Symbol kName("metadata.name");
  if (!term.problems.empty() || (!term.has_expressions && term.fields.empty())) return false;
  if (term.has_expressions && !term.match.selector.Matches(node.labels)) return false;
  return std::all_of(term.fields.begin(), term.fields.end(), [&](const api::FieldRequirement& f) {
    std::string_view value = f.key == kName ? std::string_view(node.meta.name) : std::string_view();
    return (f.values[0].str() == value) == (f.op == "In");
  });
}

bool MeetsNodeAffinity(const api::PodTemplate& pod, const api::Node& node) {
  for (const auto& [key, value] : pod.node_selector) {
    if (node.labels.Get(key) != value) return false;
  }
  if (!pod.affinity.node || !pod.affinity.node->required) return true;
  const auto& terms = pod.affinity.node->required->terms;
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return TermMatches(term, node); });
}

bool Tolerates(const api::Toleration& t, const api::Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  if (t.op.empty() || t.op.str() == "Equal") return t.value == taint.value;
  return t.op.str() == "Exists";
}

const api::Taint* UntoleratedTaint(const api::PodTemplate& pod, const api::Node& node) {
  for (const api::Taint& taint : node.taints) {
    if (taint.effect.str() != "NoSchedule" && taint.effect.str() != "NoExecute") continue;
    if (std::none_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const auto& t) { return Tolerates(t, taint); })) {
      return &taint;
    }
  }
  return nullptr;
}

void ScaleToMaximum(bool reversed, std::vector<int64_t>* scores) {
  int64_t most = 0;
  for (int64_t s : *scores) most = std::max(most, s);
  for (int64_t& s : *scores) {
    if (most == 0) {
      if (reversed) s = 100;
      continue;
    }
    s = 100 * s / most;
    if (reversed) s = 100 - s;
  }
}

std::string Aggregate(const std::vector<std::string>& messages) {
  std::vector<std::string> distinct;
  for (const std::string& m : messages) {
    if (std::find(distinct.begin(), distinct.end(), m) == distinct.end()) distinct.push_back(m);
  }
  return distinct.size() == 1 ? distinct[0] : absl::StrCat("[", absl::StrJoin(distinct, ", "), "]");
}

namespace {

class NodeUnschedulable final : public Cloned<NodeUnschedulable> {
 public:
  Status Filter(const Cycle& c, const NodeInfo& info) override {
    if (!info.node().unschedulable) return {};
    const api::Taint cordon{Symbol("node.kubernetes.io/unschedulable"), Symbol(), Symbol("NoSchedule")};
    const auto& tolerations = c.tmpl().tolerations;
    bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(), [&](const auto& t) { return Tolerates(t, cordon); });
    return tolerated ? Status() : Status::Unresolvable("node(s) were unschedulable");
  }
};

class NodeName final : public Cloned<NodeName> {
 public:
  Status Filter(const Cycle& c, const NodeInfo& info) override {
    if (c.pod.node_name.empty() || c.pod.node_name == info.name()) return {};
    return Status::Unresolvable("node(s) didn't match the requested node name");
  }
};

class TaintToleration final : public Cloned<TaintToleration> {
 public:
  Status Filter(const Cycle& c, const NodeInfo& info) override {
    const api::Taint* taint = UntoleratedTaint(c.tmpl(), info.node());
    if (taint == nullptr) return {};
    return Status::Unresolvable(
        absl::StrCat("node(s) had untolerated taint {", taint->key.string(), ": ", taint->value.string(), "}"));
  }
  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    *score = 0;
    for (const api::Taint& taint : info.node().taints) {
      if (taint.effect.str() != "PreferNoSchedule") continue;
      bool tolerated = std::any_of(c.tmpl().tolerations.begin(), c.tmpl().tolerations.end(), [&](const auto& t) {
        return (t.effect.empty() || t.effect == taint.effect) && Tolerates(t, taint);
      });
      if (!tolerated) ++*score;
    }
    return {};
  }
  void Normalize(const Nodes&, std::vector<int64_t>* scores) override { ScaleToMaximum(true, scores); }
  std::string_view NeedsPreScore() const override {
    return "failed to read \"PreScoreTaintToleration\" from cycleState: not found";
  }
};

api::NodeSelectorTerm Decided(const configuration::NodeSelectorTerm& term) {
  auto raw = [](const std::vector<configuration::NodeSelectorRequirement>& list) {
    std::vector<api::RawRequirement> out;
    for (const auto& r : list) {
      api::RawRequirement& to = out.emplace_back(api::RawRequirement{Symbol(r.key), r.op, {}});
      for (const std::string& v : r.values) to.values.push_back(Symbol(v));
    }
    return out;
  };
  return api::MakeNodeSelectorTerm(raw(term.match_expressions), raw(term.match_fields));
}

class NodeAffinity final : public Cloned<NodeAffinity> {
 public:
  explicit NodeAffinity(const configuration::NodeAffinityArgs& args) {
    if (!args.added_affinity) return;
    if (args.added_affinity->required) {
      added_required_.emplace();
      for (const auto& term : args.added_affinity->required->node_selector_terms) {
        added_required_->push_back(Decided(term));
      }
    }
    for (const auto& term : args.added_affinity->preferred) {
      added_preferred_.push_back({term.weight, Decided(term.preference)});
    }
  }

  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>* names) override {
    const api::PodTemplate& pod = c.tmpl();
    bool required = pod.affinity.node && pod.affinity.node->required;
    if (!added_required_ && !required && pod.node_selector.empty()) return Status::Skip();
    if (!required || pod.affinity.node->required->terms.empty()) return {};
    std::set<Symbol> all;
    for (const api::NodeSelectorTerm& term : pod.affinity.node->required->terms) {
      std::optional<std::set<Symbol>> named;
      for (const api::FieldRequirement& f : term.fields) {
        if (f.key.str() != "metadata.name" || f.op != "In") continue;
        std::set<Symbol> here(f.values.begin(), f.values.end());
        if (named) std::erase_if(here, [&](Symbol n) { return !named->contains(n); });
        named = std::move(here);
      }
      if (!named) return {};  // this term can match any node
      all.insert(named->begin(), named->end());
    }
    if (all.empty()) return Status::Unresolvable("pod affinity terms conflict");
    *names = std::move(all);
    return {};
  }

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    if (added_required_ && std::none_of(added_required_->begin(), added_required_->end(),
                                        [&](const auto& term) { return TermMatches(term, info.node()); })) {
      return Status::Unresolvable("node(s) didn't match scheduler-enforced node affinity");
    }
    if (MeetsNodeAffinity(c.tmpl(), info.node())) return {};
    return Status::Unresolvable("node(s) didn't match Pod's node affinity/selector");
  }

  Status PreScore(const Cycle& c, const Nodes&) override {
    std::vector<std::string> problems;
    if (!c.tmpl().affinity.node) return {};
    const auto& terms = c.tmpl().affinity.node->preferred;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (!Counts(terms[i])) continue;
      for (const std::string& p : terms[i].preference.problems) problems.push_back(absl::StrCat("[", i, "].", p));
    }
    return problems.empty() ? Status() : Status::Error(Aggregate(problems));
  }

  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    *score = 0;
    auto add = [&](const std::vector<api::PreferredSchedulingTerm>& terms) {
      for (const auto& term : terms) {
        if (Counts(term) && TermMatches(term.preference, info.node())) *score += term.weight;
      }
    };
    add(added_preferred_);
    if (c.tmpl().affinity.node) add(c.tmpl().affinity.node->preferred);
    return {};
  }
  void Normalize(const Nodes&, std::vector<int64_t>* scores) override { ScaleToMaximum(false, scores); }

 private:
  static bool Counts(const api::PreferredSchedulingTerm& t) {
    return t.weight != 0 && (t.preference.has_expressions || !t.preference.fields.empty());
  }
  std::optional<std::vector<api::NodeSelectorTerm>> added_required_;
  std::vector<api::PreferredSchedulingTerm> added_preferred_;
};

class NodePorts final : public Cloned<NodePorts> {
 public:
  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    wanted_ = HostPortsOf(c.tmpl());
    return wanted_.empty() ? Status::Skip() : Status();
  }
  Status Filter(const Cycle&, const NodeInfo& info) override {
    static const Symbol kAnyAddress("0.0.0.0");
    for (const auto& [ip, protocol, port] : wanted_) {
      for (const auto& [used_ip, used_protocol, used_port] : info.ports()) {
        if (port != used_port || protocol != used_protocol) continue;
        if (ip == used_ip || ip == kAnyAddress || used_ip == kAnyAddress) {
          return Status::Unschedulable("node(s) didn't have free ports for the requested pod ports");
        }
      }
    }
    return {};
  }
  std::string_view NeedsPreFilter() const override {
    return "reading \"PreFilterNodePorts\" from cycleState: not found";
  }

 private:
  std::vector<HostPort> wanted_;
};

class ImageLocality final : public Cloned<ImageLocality> {
 public:
  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    constexpr int64_t kMiB = 1024 * 1024;
    double total = static_cast<double>(c.world.nodes().size());
    int64_t sum = 0;
    if (names_.empty()) {
      for (const api::Container& container : c.tmpl().containers) names_.push_back(FullName(container.image));
    }
    for (Symbol name : names_) {
      bool here = std::any_of(info.node().images.begin(), info.node().images.end(), [&](const auto& image) {
        return std::find(image.names.begin(), image.names.end(), name) != image.names.end();
      });
      if (!here) continue;
      const World::Image* image = c.world.FindImage(name);
      double spread = static_cast<double>(image->nodes) / total;
      sum += static_cast<int64_t>(static_cast<double>(image->size_bytes) * spread);
    }
    int64_t least = 23 * kMiB, most = 1000 * kMiB * static_cast<int64_t>(c.tmpl().containers.size());
    sum = sum < least ? least : std::min(sum, most);
    *score = most == least ? 0 : 100 * (sum - least) / (most - least);
    return {};
  }

 private:
  static Symbol FullName(Symbol image) {
    std::string_view text = image.str();
    auto last = [&](char ch) {
      size_t at = text.rfind(ch);
      return at == std::string_view::npos ? -1 : static_cast<int64_t>(at);
    };
    return last(':') <= last('/') ? Symbol(std::string(text) + ":latest") : image;
  }

  std::vector<Symbol> names_;  // the names of the pod's images
};

}  // namespace

std::unique_ptr<Plugin> MakeNodeUnschedulable() {
  return std::make_unique<NodeUnschedulable>();
}
std::unique_ptr<Plugin> MakeNodeName() {
  return std::make_unique<NodeName>();
}
std::unique_ptr<Plugin> MakeTaintToleration() {
  return std::make_unique<TaintToleration>();
}
std::unique_ptr<Plugin> MakeNodeAffinity(const configuration::NodeAffinityArgs& args) {
  return std::make_unique<NodeAffinity>(args);
}
std::unique_ptr<Plugin> MakeNodePorts() {
  return std::make_unique<NodePorts>();
}
std::unique_ptr<Plugin> MakeImageLocality() {
  return std::make_unique<ImageLocality>();
}

}  // namespace berth::scheduler::reference::plugins
