#include "cmd/schedsim/capacity_nodes.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

#include "pkg/api/json_writer.h"
#include "pkg/explain/output.h"
#include "pkg/lab/edit.h"
#include "pkg/lab/mix.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using explain::Counted;
using explain::Page;
using explain::Style;
using lab::Mix;
using lab::NodeOffer;

constexpr size_t kMostNamedKinds = 10;

// Reads "TEMPLATE" or "TEMPLATE=PRICE". If a file with the whole value as its name exists, the value is that file.
absl::StatusOr<NodeOffer> ParseOffer(const std::string& text, bool* priced) {
  struct stat unused {};
  NodeOffer offer;
  const size_t equals = text.rfind('=');
  *priced = equals != std::string::npos && stat(text.c_str(), &unused) != 0;
  offer.name = *priced ? text.substr(0, equals) : text;
  if (!*priced) return offer;
  constexpr double kMost = 1e9;
  if (!offer.name.empty() && absl::SimpleAtod(text.substr(equals + 1), &offer.price) && offer.price > 0 &&
      offer.price <= kMost) {
    return offer;
  }
  return flags::InvalidValue("add-node", text, "must be TEMPLATE or TEMPLATE=PRICE, PRICE a number above 0");
}

absl::StatusOr<std::vector<NodeOffer>> OffersOf(const Invocation& options, bool* priced) {
  std::vector<NodeOffer> offers;
  size_t with_price = 0;
  for (const std::string& text : options.List("add-node")) {
    bool has_price = false;
    auto offer = ParseOffer(text, &has_price);
    if (!offer.ok()) return offer.status();
    with_price += has_price;
    offers.push_back(*std::move(offer));
  }
  *priced = with_price > 0;
  if (with_price == 0 || with_price == offers.size()) return offers;
  return util::InvalidArgument("--add-node: give a price for every TEMPLATE, or for none");
}

std::string Money(double price) {
  return absl::StrFormat("%g", std::round(price * 1e6) / 1e6);
}

int64_t NodesOf(const Mix& m) {
  return std::accumulate(m.nodes.begin(), m.nodes.end(), int64_t{0});
}

// Returns "3 nodes like a and 1 node like b".
std::string MixText(const Mix& m, const std::vector<NodeOffer>& offers) {
  std::vector<std::string> texts;
  for (size_t t = 0; t < offers.size(); ++t) {
    if (m.nodes[t] > 0) texts.push_back(absl::StrCat(Counted(m.nodes[t], "node"), " like ", offers[t].name));
  }
  return absl::StrJoin(texts, " and ");
}

// Returns "like a", "like a or b" or "like any of these".
std::string LikeAny(const std::vector<NodeOffer>& offers) {
  if (offers.size() > 3) return "like any of these";
  const auto name = [](std::string* out, const NodeOffer& o) { absl::StrAppend(out, o.name); };
  return absl::StrCat("like ", absl::StrJoin(offers, " or ", name));
}

void WriteCannotFit(const Mix& m, const std::vector<NodeOffer>& offers, Page* page) {
  if (m.cannot_fit.empty()) return;
  int64_t pods = 0;
  for (const auto& c : m.cannot_fit) pods += c.pods;
  page->Line(absl::StrCat(Counted(pods, "pod"), pods == 1 ? " stays" : " stay", " pending with any number of nodes ",
                          LikeAny(offers), ", because not even an empty one holds ", pods == 1 ? "it:" : "them:"),
             Style::kBad);
  for (size_t i = 0; i < std::min(m.cannot_fit.size(), kMostNamedKinds); ++i) {
    const auto& c = m.cannot_fit[i];
    page->Line(absl::StrCat("  ", c.pod, c.pods > 1 ? absl::StrCat(" and ", c.pods - 1, " more of its kind") : "", ": ",
                            c.error));
  }
  if (m.cannot_fit.size() > kMostNamedKinds) {
    page->Line(absl::StrCat("  and ",
                            Counted(static_cast<int64_t>(m.cannot_fit.size() - kMostNamedKinds), "other kind"),
                            " (-o json has all)"));
  }
}

// Returns "all 3 pods", "the pod", "the other 2 pods" or "the other pod".
std::string TheseOf(int64_t pods, bool others) {
  const std::string counted = pods == 1 ? "pod" : Counted(pods, "pod");
  return absl::StrCat(others ? "the other " : pods == 1 ? "the " : "all ", counted);
}

void WriteMix(const Mix& m, const std::vector<NodeOffer>& offers, bool priced, Page* page) {
  WriteCannotFit(m, offers, page);
  const bool others = !m.cannot_fit.empty();
  int64_t without = 0;
  for (const auto& c : m.cannot_fit) without += c.pods;
  const int64_t nodes = NodesOf(m), pods = m.pods - without;
  if (!m.enough) {
    page->Line(absl::StrCat("No number of nodes ", LikeAny(offers), " is enough: even with ", nodes, " of them ",
                            Counted(m.pending, "pod"), m.pending == 1 ? " stays" : " stay", " pending, first ",
                            m.first_pending, ": ", m.error),
               Style::kBad);
    return;
  }
  if (nodes == 0) {
    if (others && pods == 0) return;
    std::string text = absl::StrCat(TheseOf(pods, others), pods == 1 ? " fits" : " fit", " without a new node.");
    text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
    page->Line(text, Style::kGood);
    return;
  }
  page->Line(absl::StrCat(MixText(m, offers), nodes == 1 ? " is" : " are", " needed for ", TheseOf(pods, others),
                          " to fit; ", m.pending_before, " would be pending without."),
             Style::kGood);
  if (priced) {
    page->Line(
        absl::StrCat("They cost ", Money(m.price), ". No mix that is enough costs less than ", Money(m.bound), "."));
  }
  if (m.pending == 0) return;
  page->Line(absl::StrCat("With one fewer", offers.size() > 1 ? absl::StrCat(" like ", offers[m.fewer].name) : "", " ",
                          Counted(m.pending, "pod"), m.pending == 1 ? " stays" : " stay", " pending, first ",
                          m.first_pending, ": ", m.error));
}

void WriteMixJson(const Mix& m, const std::vector<NodeOffer>& offers, JsonWriter* out) {
  const auto number = [&](const char* name, double value) { out->Key(name).Literal(absl::StrFormat("%.6f", value)); };
  const bool all = m.enough && m.cannot_fit.empty();
  out->Object().Member("addNode", offers[0].name).Member("pods", m.pods).Member("pendingWithout", m.pending_before);
  out->Member("enough", all).Member("enoughForOthers", m.enough).Member("nodes", NodesOf(m));
  out->Member("pendingWithOneFewer", m.pending);
  if (!m.first_pending.empty()) {
    out->Member("firstPending", m.first_pending).Member("error", m.error);
  } else if (!m.cannot_fit.empty()) {
    out->Member("firstPending", m.cannot_fit[0].pod).Member("error", m.cannot_fit[0].error);
  }
  out->Key("mix").Array();
  for (size_t t = 0; t < offers.size(); ++t) {
    out->Object().Member("template", offers[t].name).Member("nodes", m.nodes[t]);
    number("price", offers[t].price);
    out->End();
  }
  out->End();
  number("price", m.price);
  number("bound", m.bound);
  out->Key("cannotFit").Array();
  for (const auto& c : m.cannot_fit) {
    out->Object().Member("pod", c.pod).Member("pods", c.pods).Member("error", c.error).End();
  }
  out->End().End();
}

}  // namespace

absl::Status CheckOffers(const Invocation& options) {
  bool priced = false;
  return OffersOf(options, &priced).status();
}

absl::Status AnswerNodes(const Invocation& options, const lab::Scenario& scenario,
                         const std::vector<lab::PodShare>& pods, const std::function<void(size_t)>& step, Page* page,
                         JsonWriter* data, std::vector<lab::BarGroup>* picture) {
  bool priced = false;
  auto offers = OffersOf(options, &priced);
  if (!offers.ok()) return offers.status();
  for (NodeOffer& offer : *offers) {
    auto node = lab::NodeTemplate(offer.name, scenario);
    if (!node.ok()) return util::InvalidArgument(absl::StrCat("--add-node: ", util::Message(node.status())));
    offer.like = *std::move(node);
  }
  auto mix = lab::CheapestMix(scenario, pods, options.Get<int64_t>("replicas"), *offers, step);
  if (!mix.ok()) return mix.status();
  lab::BarGroup& bars = picture->emplace_back();
  bars.title = "Nodes needed";
  if (priced) absl::StrAppend(&bars.title, ", for ", Money(mix->price));
  if (mix->bound > 0 && priced) absl::StrAppend(&bars.title, " (no mix costs less than ", Money(mix->bound), ")");
  for (size_t t = 0; t < offers->size(); ++t) {
    bars.bars.push_back({(*offers)[t].name, static_cast<double>(mix->nodes[t]),
                         absl::StrCat(mix->nodes[t], priced ? absl::StrCat(" at ", Money((*offers)[t].price)) : "")});
  }
  if (options.output == "table" || options.output == "wide") {
    WriteMix(*mix, *offers, priced, page);
  } else {
    WriteMixJson(*mix, *offers, data);
  }
  return absl::OkStatus();
}

}  // namespace berth::schedsim
