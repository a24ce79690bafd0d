#include "pkg/lab/scenario.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "pkg/api/input_text.h"
#include "pkg/api/json.h"
#include "pkg/api/stream.h"
#include "pkg/explain/output.h"
#include "pkg/lab/budgets.h"
#include "pkg/lab/completeness.h"
#include "pkg/lab/input_forms.h"
#include "pkg/lab/input_places.h"
#include "pkg/lab/nominations.h"
#include "pkg/lab/order.h"
#include "pkg/lab/plain_objects.h"
#include "pkg/lab/stray_pods.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"
#include "pkg/world/workload.h"

namespace berth::lab {
namespace {

using api::Json;

std::string DescriptionOf(const api::Object& object) {
  return std::visit(
      [&](const auto& o) { return absl::StrCat(std::string(api::KindName(object)), " \"", o->meta.Key(), "\""); },
      object);
}

// Builds Scenarios from the values that the reader finds. `current_` is the value that is being read; `plain_` collects
// the objects of all inputs that stand outside of Scenarios.
class Collector final : public api::JsonSink {
 public:
  Collector(const ReadOptions& options, Input* out)
      : options_(options),
        defaults_(options_.defaults),
        out_(out),
        validator_(options.validate, options.defaults.release->version),
        plain_(&options_, out) {
    Restart();
  }

  // Must be called before each text is read. `text` is a part of `input`, which must outlive the reading of the part.
  void StartText(const std::string& file, std::string_view text, size_t lines, api::InputText* input) {
    simulator_export_ = LooksLikeSimulatorExport(text);
    lines_.Start(file, text, lines);
    input_ = input;
    before_ = static_cast<size_t>(text.data() - input->text().data());
    places_.StartFile(file);
  }

  bool Split(std::string_view inside, std::string_view key) override {
    if (simulator_export_) return false;
    return (inside.empty() && (key == "items" || key == "pods")) || (inside == "cluster" && key == "items");
  }

  absl::Status Element(std::string_view inside, std::string_view key, api::Document& element) override {
    bool pods = inside.empty() && key == "pods";
    if (!pods && element.root().FindExact("kind").IsNull()) {
      kindless_.push_back(std::move(element));  // the kind is that of the list, which may come later
      return absl::OkStatus();
    }
    const From from = pods ? From::kScenarioPods : inside == "cluster" ? From::kCluster : From::kList;
    Note(Take(element.root(), pods ? "Pod" : "", from, &current_));
    input_->DoneTo(before_ + element.root().begin_offset());
    return absl::OkStatus();
  }

  absl::Status Value(api::Document& rest) override {
    std::string_view kind = rest.root().Find("kind").Text();
    if (kind == "Scenario") {
      current_.is_scenario = true;
      TakeKindless("", From::kCluster);
      Note(ReadFields(rest.root()));
      current_.error = util::Message(first_error_);
      nominations_.SettleScenario(*current_.algorithm.release);
      if (options_.as_queue) OrderAsQueue(ByPriority(current_.algorithm), &current_);
      out_->scenarios.push_back(std::move(current_));
    } else if (absl::EndsWith(util::ToAbsl(kind), "List") && !rest.root().Find("items").IsNull()) {
      list_version_ = rest.root().Find("apiVersion").Text();
      TakeKindless(kind.substr(0, kind.size() - 4), From::kList);
      BERTH_RETURN_IF_ERROR(first_error_);
      plain_.AppendList(&current_);
      plain_.AppendWorkloads(std::move(workloads_));
    } else if (simulator_export_ && kind.empty()) {
      BERTH_RETURN_IF_ERROR(TakeExport(rest.root()));
      plain_.AppendWorkloads(std::move(workloads_));
    } else {
      BERTH_RETURN_IF_ERROR(Take(rest.root(), "", From::kDocument, plain_.scenario()));
      plain_.AppendWorkloads(std::move(workloads_));
    }
    Restart();
    return absl::OkStatus();
  }

  // Takes a document that is not valid JSON. Among Scenarios, only that document fails.
  bool Broken(std::string_view document, const std::string& error) {
    if (!plain_.empty() || (out_->scenarios.empty() && !LooksLikeScenario(document))) return false;
    current_.error = error;
    current_.is_scenario = true;
    out_->scenarios.push_back(std::move(current_));
    Restart();
    return true;
  }

  absl::Status Finish() {
    NoteReplaced();
    absl::Status s = FinishPlain();
    for (const std::string& w : validator_.Warnings()) out_->warnings.push_back(w);
    for (const std::string& m : validator_.Errors()) out_->mistakes.push_back(m);
    return s;
  }

 private:
  // Completes the scenario of the plain objects.
  absl::Status FinishPlain() {
    if (plain_.empty() && !out_->scenarios.empty()) return absl::OkStatus();
    nominations_.SettlePlain(*defaults_.release);
    BERTH_RETURN_IF_ERROR(CheckUnique(*plain_.scenario()));
    return plain_.Finish(places_, strays_, &validator_);
  }
  void NoteReplaced() {
    const char* flag = defaults_.profiles ? "--config"
                       : defaults_.policy ? "--policy-config-file"
                                          : "--algorithm-provider";
    for (const auto& [what, r] : replaced_) {
      out_->warnings.push_back(
          absl::StrCat(flag, " replaces ", what, " of ",
                       r.scenarios == 1 ? absl::StrCat("Scenario ", r.first.empty() ? "without a name" : r.first)
                                        : absl::StrCat(r.scenarios, " Scenarios, the first of which is ", r.first)));
    }
  }
  void Restart() {
    nominations_.KeepForPlain();
    current_ = Scenario{};
    current_.algorithm = defaults_;
    workloads_ = Expander();
    first_error_ = absl::OkStatus();
    kindless_.clear();
  }
  void Note(const absl::Status& s) {
    if (first_error_.ok()) first_error_ = s;
  }
  // Where an object comes from.
  enum class From {
    kDocument,      // it is a document of its own
    kList,          // an item of a List
    kCluster,       // an item of a Scenario's cluster
    kScenarioPods,  // a pod of a Scenario
  };

  void TakeKindless(std::string_view kind, From from) {
    for (api::Document& d : kindless_) Note(Take(d.root(), kind, from, &current_));
  }

  // Takes the lists of a file that kube-scheduler-simulator has exported.
  absl::Status TakeExport(Json j) {
    for (auto [member, value] : j.Children()) {
      if (member == "schedulerConfig" && value.IsObject()) {
        out_->warnings.push_back(
            absl::StrCat(lines_.At(value.begin_offset()),
                         ": the schedulerConfig of the export of kube-scheduler-simulator does not "
                         "decide here: write it to a file (jq .schedulerConfig) and give that with "
                         "--config"));
      }
      const auto [kind, version] = KindOfExported(member);
      list_version_ = version;
      for (auto item : value.Children()) {
        if (!kind.empty()) BERTH_RETURN_IF_ERROR(Take(item.value, kind, From::kList, plain_.scenario()));
      }
    }
    return absl::OkStatus();
  }

  // Takes the items of a List inside a List.
  absl::Status TakeList(Json list, From from, Scenario* to) {
    const std::string_view kind = list.Find("kind").Text();
    for (auto item : list.Find("items").Children()) {
      list_version_ = list.Find("apiVersion").Text();
      BERTH_RETURN_IF_ERROR(Take(item.value, kind.substr(0, kind.size() - 4), from, to));
    }
    return absl::OkStatus();
  }

  // Returns the version of an object. An item of a typed list that does not name its kind has that of the list.
  std::string_view VersionOf(Json j) const {
    const std::string_view own = j.Find("apiVersion").Text();
    return own.empty() && j.Find("kind").Text().empty() ? std::string_view(list_version_) : own;
  }

  // Notes objects that are not stored by themselves: workloads, and what admission looks up. Returns whether the object
  // is such a one.
  bool NoteWorldObject(Json j, std::string_view kind, bool stored, const std::string& made_name) {
    const std::string_view version = VersionOf(j);
    if (!world::IsWorkload(kind)) return plain_.manifests()->Note(j, kind, version);
    if (!world::IsOwnGroup(kind, version)) return false;
    if (options_.expand != Expand::kOff || kind == "DaemonSet") workloads_.Add(j, kind, stored, made_name);
    return true;
  }

  // Takes an object of a kind that is not decoded.
  void TakeOther(Json j, std::string_view kind, From from) {
    const std::string place = lines_.At(j.begin_offset());
    if (std::string what = WhatItIs(j, kind, VersionOf(j)); !what.empty()) {
      out_->warnings.push_back(absl::StrCat(place, ": ", what));
      return;
    }
    if (from != From::kCluster && from != From::kScenarioPods) {
      if (std::string near = KindMeant(j, kind); !near.empty()) {
        validator_.Add(place, absl::StrCat("kind ", util::ToAbsl(kind)),
                       absl::StrCat("kind \"", util::ToAbsl(kind), "\": did you mean ", near, "?"));
      }
    }
    ++out_->skipped[kind.empty() ? "(no kind)" : std::string(kind)];
  }

  // Takes one object. A pod of kScenarioPods becomes pending whatever its node is. Otherwise, a pod without a node
  // becomes pending or, in a Scenario's cluster, is an error. `kind` is that of list elements that do not name theirs.
  absl::Status Take(Json j, std::string_view kind, From from, Scenario* to) {
    const bool in_cluster = from == From::kCluster, pods = from == From::kScenarioPods;
    const std::string_view own_kind = j.Find("kind").Text();
    const std::string_view name = own_kind.empty() ? kind : own_kind;
    if (!pods && name.ends_with("List") && j.Find("items").IsArray()) return TakeList(j, from, to);
    const Json meta = j.Find("metadata");
    const bool stored = !meta.Find("uid").Text().empty() || !meta.Find("resourceVersion").Text().empty();
    const bool plain = !in_cluster && !pods, admit = plain && !stored;
    api::DecodeOptions options;
    options.server_defaults = admit || from == From::kDocument;
    options.templates = options.server_defaults ? &loose_templates_ : &templates_;
    // Extenders receive complete pods and nodes.
    options.keep_raw = options.keep_node_raw = defaults_.call_extenders() || options_.keep_raw;
    // Scenarios are written by programs and contain objects as an API server has stored them.
    if (options_.validate == Validate::kStrict || plain) NoteMistakes(j, kind, plain);
    if (name.empty() && j.Find("type").IsString() && j.Find("object").IsObject()) {
      return util::InvalidArgument(absl::StrCat("line ", lines_.LineAt(j.begin_offset()),
                                                ": is an event of a watch (kubectl get --watch --output-watch-events): "
                                                "give the objects that kubectl get -o json prints"));
    }
    BERTH_RETURN_IF_ERROR(CheckMetadata(j, name, meta));
    const std::string made_name = admit ? MadeName(meta, name) : "";
    const bool noted = plain && NoteWorldObject(j, name, stored, made_name);
    if (options_.keep_given) Keep(j, name, stored || (!plain && !world::IsWorkload(name)), made_name, to);
    auto object = api::DecodeObject(j, kind, options);
    if (!object.ok()) {
      if (object.status().code() != absl::StatusCode::kNotFound) return object.status();
      if (!noted && !(world::IsWorkload(name) && options_.expand != Expand::kOff && !plain)) TakeOther(j, name, from);
      return absl::OkStatus();
    }
    if (!made_name.empty()) std::visit([&](auto& o) { SetName(made_name, &o); }, *object);
    if (admit) Admit(&*object, j);
    if (plain && std::holds_alternative<api::Ptr<api::ConfigMap>>(*object)) {
      if (std::string what = WhatConfigMapHolds(j); !what.empty()) {
        out_->warnings.push_back(absl::StrCat(lines_.At(j.begin_offset()), ": ", what));
      }
    }
    if (auto* pod = std::get_if<api::PodPtr>(&*object)) {
      api::PodPtr p = admit ? WithUid(*pod) : nominations_.Note(WithUid(*pod), j);
      places_.Note(p.get(), lines_.LineAt(j.begin_offset()));
      if (options_.validate != Validate::kOff) strays_.Note(*p, j, &lines_);
      if (pods) {
        to->AddPending(p);
        return absl::OkStatus();
      }
      if (p->node_name.empty()) {
        if (in_cluster) {
          return util::InvalidArgument(absl::StrCat(
              "Pod \"", p->meta.Key(), "\" in cluster has no spec.nodeName: pods to be placed go to pods"));
        }
        if (p->Finished()) return absl::OkStatus();
        if (p->meta.deleting()) {
          plain_.CountDeleted();
        } else {
          to->AddPending(p, to->cluster.size());
        }
        return absl::OkStatus();
      }
      if (const uint8_t notes = NotesOfPod(j); notes != 0) to->pod_notes[p.get()] = notes;
      *object = p;
    } else if (pods) {
      return util::InvalidArgument(absl::StrCat(DescriptionOf(*object), " among pods: only pods go there"));
    }
    std::visit([&](const auto& o) { places_.Note(o.get(), lines_.LineAt(j.begin_offset())); }, *object);
    NoteForEdits(*object, j, to);
    const auto* node = options_.validate != Validate::kOff ? std::get_if<api::NodePtr>(&*object) : nullptr;
    if (node != nullptr) strays_.AddNode((*node)->meta.name);
    to->cluster.push_back(std::move(*object));
    return absl::OkStatus();
  }

  // Notes what an API server would refuse and what looks like a mistake. `kind` is that of list elements.
  void NoteMistakes(Json j, std::string_view kind, bool plain) {
    const auto place = [&](size_t at) { return lines_.LineAndColumnAt(at); };
    if (!validator_.Check(j, kind, VersionOf(j), place)) return;
    const std::string_view own_kind = j.Find("kind").Text(), name = own_kind.empty() ? kind : own_kind;
    NoteDuplicates(j, name, &lines_, &validator_);
    if (plain) NoteTemplateOfHelm(j, name);
  }

  // Notes a template of Helm that happens to be an object, because what is not rendered stands in quotes.
  void NoteTemplateOfHelm(Json j, std::string_view kind) {
    const Json spec = world::IsWorkload(kind) ? j.Find("spec").Find("template").Find("spec") : j.Find("spec");
    for (auto container : spec.Find("containers").Children()) {
      const Json image = container.value.Find("image");
      const std::string what = WhyUnreadable(image.Text());
      if (what.empty()) continue;
      validator_.Add(lines_.LineAndColumnAt(image.begin_offset()), "template of Helm",
                     absl::StrCat(util::ToAbsl(kind), " \"", util::ToAbsl(j.Find("metadata").Find("name").Text()),
                                  "\": ", what.substr(what.find(": ") + 2)));
    }
  }

  // No API server has names with control characters, which would change what a terminal shows and break lines.
  absl::Status CheckMetadata(Json j, std::string_view kind, Json meta) {
    BERTH_RETURN_IF_ERROR(
        CheckAnnotations(j, kind, options_.annotations, [&](size_t at) { return lines_.LineAndColumnAt(at); }));
    for (const char* member : {"name", "namespace", "generateName"}) {
      const Json value = meta.Find(member);
      const std::string_view text = value.Text();
      if (std::none_of(text.begin(), text.end(),
                       [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); })) {
        continue;
      }
      return util::InvalidArgument(
          absl::StrCat("line ", lines_.LineAt(value.begin_offset()), ": metadata.", member, ": ", util::GoQuoted(text),
                       " has a control character, such as NUL or a line feed, which no name can have"));
    }
    return absl::OkStatus();
  }

  // Returns the name of an object that has only a generateName: where an API server appends letters by chance, this
  // counts those with equal ones, so that equal inputs give equal results. Empty if the object has a name.
  std::string MadeName(Json meta, std::string_view kind) {
    const std::string_view prefix = meta.Find("generateName").Text();
    if (prefix.empty() || !meta.Find("name").Text().empty()) return "";
    const int number = ++made_names_[absl::StrCat(std::string(kind), "/", util::ToAbsl(meta.Find("namespace").Text()),
                                                  "/", util::ToAbsl(prefix))];
    return absl::StrFormat("%s%05d", std::string(prefix), number);
  }

  template <typename T>
  static void SetName(const std::string& name, std::shared_ptr<const T>* object) {
    auto named = std::make_shared<T>(**object);
    named->meta.name = name;
    // That of a pod is made of its name once more.
    if constexpr (std::is_same_v<T, api::Pod>) named->meta.uid.clear();
    *object = std::move(named);
  }

  void Keep(Json j, std::string_view kind, bool verbatim, const std::string& made_name, Scenario* to) {
    world::Value v = validation::FromJson(j);
    if (!made_name.empty()) v.Child("metadata").Set("name", world::Value::String(made_name));
    if (v.Str("kind").empty()) v.Set("kind", world::Value::String(kind));
    if (v.Str("apiVersion").empty()) v.Set("apiVersion", world::Value::String(VersionOf(j)));
    to->given.push_back({std::make_shared<const world::Value>(std::move(v)), lines_.At(j.begin_offset()), verbatim});
  }

  // Keeps what edits of the cluster read of a budget.
  static void NoteForEdits(const api::Object& object, Json j, Scenario* to) {
    const auto* budget = std::get_if<api::Ptr<api::PodDisruptionBudget>>(&object);
    if (budget == nullptr) return;
    to->budgets[(*budget)->meta.Key()] = std::make_shared<const world::Value>(validation::FromJson(j));
  }

  // Has admission complete an object that was never stored, once everything is read.
  void Admit(api::Object* object, Json j) {
    if (auto* pod = std::get_if<api::PodPtr>(object)) {
      if ((*pod)->Finished()) return;
      auto own = std::make_shared<api::Pod>(**pod);
      *pod = own;
      plain_.manifests()->AddPod(std::move(own), j);
    } else if (auto* claim = std::get_if<api::Ptr<api::PersistentVolumeClaim>>(object)) {
      auto own = std::make_shared<api::PersistentVolumeClaim>(**claim);
      *claim = own;
      plain_.manifests()->AddClaim(std::move(own), j);
    } else if (auto* volume = std::get_if<api::Ptr<api::PersistentVolume>>(object)) {
      auto own = std::make_shared<api::PersistentVolume>(**volume);
      *volume = own;
      plain_.manifests()->AddVolume(std::move(own));
    }
  }

  // The cache identifies pods by uid, which pods written by hand do not have.
  static api::PodPtr WithUid(const api::PodPtr& pod) {
    if (!pod->meta.uid.empty()) return pod;
    auto copy = std::make_shared<api::Pod>(*pod);
    copy->meta.uid = pod->meta.Key();
    return copy;
  }

  // Two objects of one kind and name, or two pods with one uid, are an error that names both places.
  absl::Status CheckUnique(const Scenario& s) const {
    // The sets point to the objects, because copies of the names of millions of objects would take much memory.
    absl::flat_hash_set<const api::Object*, SameName, SameName> names;
    absl::flat_hash_set<const api::PodPtr*, SameUid, SameUid> uids;
    names.reserve(s.cluster.size() + s.pending.size());
    auto check = [&](const api::Object& o) {
      auto [first, is_first] = names.insert(&o);
      if (!is_first) {
        return util::InvalidArgument(
            absl::StrCat(DescriptionOf(o), " occurs twice: ", places_.PlaceOf(**first), " and ", places_.PlaceOf(o)));
      }
      const auto* pod = std::get_if<api::PodPtr>(&o);
      if (pod == nullptr) return absl::OkStatus();
      auto [other, is_new] = uids.insert(pod);
      if (is_new) return absl::OkStatus();
      return util::InvalidArgument(absl::StrCat(DescriptionOf(o), " (", places_.PlaceOf(o), "): metadata.uid \"",
                                                (*pod)->meta.uid, "\" is another pod's (", places_.PlaceOf(**other),
                                                ")"));
    };
    for (const api::Object& o : s.cluster) BERTH_RETURN_IF_ERROR(check(o));
    std::vector<api::Object> pending(s.pending.begin(), s.pending.end());  // `names` points to its elements
    for (const api::Object& o : pending) BERTH_RETURN_IF_ERROR(check(o));
    return absl::OkStatus();
  }

  // Reads the members of a Scenario other than its objects.
  absl::Status ReadFields(Json j) {
    auto wrong = [](std::string_view field, Json v, std::string_view right) {
      return util::InvalidArgument(absl::StrCat(util::ToAbsl(field), ": ", v.Brief(), ": ", util::ToAbsl(right)));
    };
    if (Json v = j.FindExact("name"); v.IsString()) current_.name = v.Text();
    if (Json v = j.FindExact("apiVersion"); v.Text() != "schedsim/v1")
      return wrong("apiVersion", v, "should be schedsim/v1");
    const absl::Status read = current_.algorithm.ReadMembers(j);
    BERTH_RETURN_IF_ERROR(read);
    if (!current_.algorithm.replaced.empty()) {
      Replaced& r = replaced_[current_.algorithm.replaced];
      if (r.scenarios++ == 0) r.first = current_.name;
    }
    if (Json v = j.FindExact("pods"); !v.IsNull() && !v.IsArray()) return wrong("pods", v, "must be a list");
    if (Json v = j.FindExact("cluster"); !v.IsNull() && !v.IsObject()) return wrong("cluster", v, "must be a v1 List");
    return CheckUnique(current_);
  }

  const ReadOptions options_;
  const Algorithm& defaults_;
  Input* out_;
  Validator validator_;
  LineCounter lines_;
  api::PodTemplateMemory templates_, loose_templates_;
  api::InputText* input_ = nullptr;  // what is being read
  size_t before_ = 0;                // bytes of input_ that precede the text being read
  ObjectPlaces places_;
  StrayPods strays_;    // of all plain objects, unless nothing is validated
  Expander workloads_;  // of the value being read
  PlainObjects plain_;
  Nominations nominations_;
  bool simulator_export_ = false;  // whether the text that is being read is one
  Scenario current_;
  // The Scenarios of which a flag replaces the same.
  struct Replaced {
    int64_t scenarios = 0;
    std::string first;  // the name of the first one
  };
  std::map<std::string, Replaced> replaced_;
  absl::Status first_error_;                          // the first error in the value being read
  std::string list_version_;                          // apiVersion of the list whose items are taken
  absl::flat_hash_map<std::string, int> made_names_;  // how many, by "kind/namespace/generateName"
  std::vector<api::Document> kindless_;
};

}  // namespace

namespace {

// Reads one text, of which `shown` is the name.
absl::Status ReadOne(const std::string& shown, api::InputText& text, Collector& collector) {
  size_t line = 0;
  const char* counted = text.text().data();
  for (std::string_view document : DocumentsOf(text)) {
    line += static_cast<size_t>(std::count(counted, document.data(), '\n'));
    while (!document.empty()) {
      collector.StartText(shown, document, line, &text);
      absl::Status s = api::ReadDocuments(document, collector);
      size_t taken = document.size();
      if (!s.ok()) {
        std::string error = util::Message(s);
        // Some name their place themselves, which in YAML stands behind that of the document.
        if (const size_t own = error.find(": " + shown + ":"); own != std::string::npos && error.starts_with("line ")) {
          error = error.substr(own + 2);
        }
        if (!error.starts_with(shown + ":")) error = absl::StrCat(shown, ": ", MoveDown(error, line));
        if (std::string what = WhyUnreadable(document); !what.empty()) error = absl::StrCat(shown, ": ", what);
        if (!collector.Broken(document, error)) return absl::Status(s.code(), error);
        taken = NextScenarioLine(document);
      }
      // Behind the last document nothing needs the count, and counting would read a large file once more.
      const char* const end = document.data() + taken;
      if (end != text.text().data() + text.text().size()) {
        line += static_cast<size_t>(std::count(document.data(), end, '\n'));
      }
      counted = end;
      document.remove_prefix(taken);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Input> ReadInputs(const std::vector<std::string>& given, const ReadOptions& options) {
  Input input;
  auto files = FilesOf(given, options.recursive);
  if (!files.ok()) return files.status();
  Collector collector(options, &input);
  for (const std::string& file : *files) {
    auto text = api::InputText::Open(file);
    if (!text.ok()) return text.status();
    BERTH_RETURN_IF_ERROR(ReadOne(file == "-" ? "standard input" : file, *text, collector));
  }
  BERTH_RETURN_IF_ERROR(collector.Finish());
  return input;
}

absl::StatusOr<Input> ReadTexts(const std::vector<NamedText>& texts, const ReadOptions& options) {
  Input input;
  Collector collector(options, &input);
  for (const NamedText& t : texts) {
    api::InputText text = api::InputText::Of(*t.text);
    BERTH_RETURN_IF_ERROR(ReadOne(t.name, text, collector));
  }
  BERTH_RETURN_IF_ERROR(collector.Finish());
  return input;
}

}  // namespace berth::lab
