// A scheduler in a small world of its own is recorded and replayed: whatever happens to it, the replay does the same.
#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <random>

#include "pkg/api/decode.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/recording/core.h"
#include "pkg/recording/packed_file.h"
#include "pkg/recording/recorder.h"
#include "pkg/recording/replay.h"
#include "pkg/recording/tap.h"

namespace berth::recording {
namespace {

using scheduler::Answer;
using scheduler::Change;
using scheduler::Reply;

// A folder that is removed at the end.
struct TempDir {
  TempDir() {
    char name[] = "/tmp/recording-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~TempDir() { (void)!std::system(absl::StrCat("rm -rf ", path).c_str()); }
  std::string path;
};

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), const std::string& json) {
  api::KeepSchedulingFields();
  api::Document d;
  REQUIRE(d.Parse(json).ok());
  auto object = decode(d.root(), {});
  INFO(object.status().message());
  REQUIRE(object.ok());
  return *object;
}

CoreConfiguration Config(bool pod_priority) {
  CoreConfiguration c;
  c.gates = {{"PodPriority", pod_priority}, {"VolumeScheduling", true}};
  c.profiles = {{"default-scheduler", "DefaultProvider", "", ""}};
  return c;
}

// The default profile of release 1.29.
CoreConfiguration LaterConfig() {
  CoreConfiguration c = Config(true);
  c.release = "1.29";
  c.profiles = {{"default-scheduler", "", "", ""}};
  return c;
}

const std::vector<CoreConfiguration> kConfigurations = {Config(false), Config(true), LaterConfig()};

std::string NameOf(const CoreConfiguration& c) {
  return absl::StrCat("release ", c.release, c.gates.at("PodPriority") ? " with" : " without", " PodPriority");
}

Header HeaderOf(const CoreConfiguration& c) {
  Header h;
  h.version = "test";
  h.run = "run";
  h.configuration = c;
  return h;
}

// An API server that answers each request at once, late, wrongly or never, driven by a seed; and the scheduler that
// asks it, with all that passes between them going to `sink`.
class World final : public scheduler::Actions {
 public:
  World(uint32_t seed, const CoreConfiguration& config, EventSink* sink)
      : random_(seed), tap_(sink, this, &clock_, nullptr) {
    Core::Surroundings around;
    around.actions = &tap_;
    around.clock = &tap_;
    around.observer = &tap_;
    core_ = Core::Make(config, around).value();
    tap_.Attach(core_->scheduler.get());
  }

  void Run(int steps) {
    for (int i = 0; i < 5; ++i) AddNode(i);
    for (int i = 0; i < steps; ++i) Step();
    tap_.Flush();
  }
  size_t bound() const { return bound_; }

 private:
  void Ask(scheduler::RequestId id, std::function<Reply()> f) { open_.emplace_back(id, std::move(f)); }
  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender*) override {
    Ask(id, [this, pod, id] {
      auto it = pods_.find(pod->meta.name);
      if (it == pods_.end() || it->second->meta.uid != pod->meta.uid) return Failed(id, Answer::Kind::kNotFound);
      if (!it->second->node_name.empty()) return Failed(id, Answer::Kind::kConflict);
      ++bound_;
      auto p = std::make_shared<api::Pod>(*it->second);
      p->node_name = pod->node_name;
      Store(p);
      return Reply{id, {}, nullptr};
    });
  }
  void Write(scheduler::RequestId id, const api::PodPtr& pod, std::function<void(api::Pod&)> change) {
    Ask(id, [this, pod, change, id] {
      auto it = pods_.find(pod->meta.name);
      if (it == pods_.end()) return Failed(id, Answer::Kind::kNotFound);
      auto p = std::make_shared<api::Pod>(*it->second);
      change(*p);
      Store(p);
      return Reply{id, {}, p};
    });
  }
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override {
    Write(id, pod, [c](api::Pod& p) { p.scheduled = c; });
  }
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override {
    Write(id, pod, [node](api::Pod& p) { p.nominated_node_name = node; });
  }
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override {
    Ask(id, [this, pod, id] {
      Remove(pod->meta.name);
      return Reply{id, {}, nullptr};
    });
  }
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override {
    Ask(id, [this, name = pod.meta.name, id] {
      auto it = pods_.find(name);
      return it == pods_.end() ? Failed(id, Answer::Kind::kNotFound) : Reply{id, {}, it->second};
    });
  }
  void GetNode(scheduler::RequestId id, util::Symbol) override {
    Ask(id, [id] { return Reply{id, {}, nullptr}; });
  }
  void UpdateVolume(scheduler::RequestId, const scheduler::VolumeBinder::Binding&) override {}
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}

  static Reply Failed(scheduler::RequestId id, Answer::Kind k) { return {id, {k, "it failed", "pods"}, nullptr}; }
  void Store(std::shared_ptr<api::Pod> p) {
    p->meta.resource_version = absl::StrCat(++version_);
    pods_[p->meta.name] = p;
    news_.emplace_back(p->meta.name, p);
  }
  void Remove(std::string name) {
    if (pods_.erase(name) > 0) news_.emplace_back(name, nullptr);
  }
  void AddNode(int i) {
    tap_.Apply(Change<api::Node>{
        nullptr, Decoded(api::DecodeNode, absl::StrCat(R"({"metadata":{"name":"n)", i, R"("},"status":{"allocatable":)",
                                                       R"({"cpu":"4","memory":"8Gi","pods":"10"},"conditions":)",
                                                       R"([{"type":"Ready","status":"True"}]}})"))});
  }
  void AddPod() {
    const std::string name = absl::StrCat("p", Dice(60));
    if (pods_.contains(name)) return;
    const std::string json =
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"ns","uid":"u)", ++uids_,
                     R"(","labels":{"app":"a)", Dice(3), R"("}},"spec":{"priority":)", Dice(3),
                     R"(,"containers":[{"resources":{"requests":{"cpu":")", 1 + Dice(3), R"("}}}]}})");
    Store(std::make_shared<api::Pod>(*Decoded(api::DecodePod, json)));
  }
  void ShowNext() {
    if (news_.empty()) return;
    auto [name, pod] = news_.front();
    news_.pop_front();
    const api::PodPtr before = std::exchange(shown_[name], pod);
    if (before != nullptr || pod != nullptr) tap_.Apply(Change<api::Pod>{before, pod});
  }
  void Serve() {
    if (open_.empty()) return;
    auto it = open_.begin() + static_cast<ptrdiff_t>(Dice(static_cast<uint32_t>(open_.size())));
    auto [id, f] = std::move(*it);
    open_.erase(it);
    Reply r = Dice(8) == 0 ? Failed(id, Dice(2) == 0 ? Answer::Kind::kLost : Answer::Kind::kRefused) : f();
    tap_.Apply(r);
  }
  void Step() {
    clock_.Advance(absl::Microseconds(Dice(5000)));
    switch (Dice(16)) {
      case 0:
      case 1:
      case 2:
        AddPod();
        break;
      case 3:
        if (!pods_.empty()) Remove(std::next(pods_.begin(), Dice(static_cast<uint32_t>(pods_.size())))->first);
        break;
      case 4:
        clock_.Advance(absl::Milliseconds(Dice(3000)));
        tap_.Tick();
        break;
      case 5:
        tap_.Flush();
        break;
      case 6:
      case 7:
      case 8:
      case 9:
        Serve();
        break;
      case 10:
      case 11:
      case 12:
        ShowNext();
        break;
      default:
        tap_.ScheduleOne();
    }
  }
  uint32_t Dice(uint32_t sides) { return static_cast<uint32_t>(random_() % sides); }

  std::mt19937 random_;
  util::ManualClock clock_;
  Tap tap_;
  std::unique_ptr<Core> core_;
  std::map<std::string, std::shared_ptr<api::Pod>> pods_;
  std::map<std::string, api::PodPtr> shown_;
  std::deque<std::pair<std::string, api::PodPtr>> news_;
  std::vector<std::pair<scheduler::RequestId, std::function<Reply()>>> open_;
  uint64_t version_ = 1, uids_ = 0;
  size_t bound_ = 0;
};

std::unique_ptr<Recorder> Open(const std::string& dir, const CoreConfiguration& config,
                               int64_t max_bytes = int64_t{1} << 30) {
  RecorderOptions o;
  o.dir = dir;
  o.max_bytes = max_bytes;
  auto r = Recorder::Open(std::move(o), HeaderOf(config));
  REQUIRE(r.ok());
  return *std::move(r);
}

std::string Unpacked(const std::string& path) {
  auto reader = PackedReader::Open(path);
  REQUIRE(reader.ok());
  std::string out;
  while ((*reader)->Read(&out)) {
  }
  return out;
}

void Pack(const std::string& path, const std::string& text) {
  gzFile f = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(f, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(f);
}

TEST_CASE("a recording is replayed byte for byte, whatever the API server did") {
  for (const CoreConfiguration& config : kConfigurations) {
    int64_t placed = 0;
    for (uint32_t seed = 1; seed <= 15; ++seed) {
      INFO(NameOf(config) << ", seed " << seed);
      TempDir dir;
      {
        auto recorder = Open(dir.path, config);
        World w(seed, config, recorder.get());
        w.Run(1500);
        CHECK(w.bound() > 5);
        CHECK(recorder->stats().lost == 0);
      }
      auto r = Replay(dir.path, {});
      INFO(r.status().message());
      REQUIRE(r.ok());
      if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
      CHECK(r->decisions > 30);
      CHECK_FALSE(r->truncated);
      placed += r->placed;
    }
    CHECK(placed > 150);
  }
}

TEST_CASE("a change of any output is found, with its place and both sides") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    World w(3, Config(false), recorder.get());
    w.Run(500);
  }
  const std::string path = absl::StrCat(dir.path, "/segment-00000001.jsonl.zst");
  std::string text = Unpacked(path);
  const size_t at = text.find("\"node\":\"n", text.size() / 2);
  REQUIRE(at != std::string::npos);
  text[at + 9] = text[at + 9] == '1' ? '2' : '1';
  Pack(path, text);
  auto r = Replay(dir.path, {});
  REQUIRE(r.ok());
  REQUIRE(r->difference);
  CHECK(r->difference->recorded.substr(0, 9) == r->difference->replayed.substr(0, 9));
  CHECK(r->difference->recorded != r->difference->replayed);
  CHECK(r->difference->pod.substr(0, 4) == "ns/p");
  CHECK(r->difference->input > 0);
  CHECK(r->difference->at.find("segment-00000001.jsonl.zst:") == 0);
}

TEST_CASE("old segments are removed, and decisions are checked from the oldest checkpoint that is left") {
  for (const CoreConfiguration& config : kConfigurations) {
    TempDir dir;
    {
      auto recorder = Open(dir.path, config, 300 << 10);
      World w(7, config, recorder.get());
      w.Run(60000);
    }
    const auto segments = ListSegments(dir.path).value();
    CHECK(segments.front().find("segment-00000001") == std::string::npos);
    auto r = Replay(dir.path, {});
    INFO(r.status().message());
    REQUIRE(r.ok());
    INFO(NameOf(config));
    CHECK(r->checkpoints >= 1);
    if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
    CHECK(r->decisions > 100);
    CHECK(r->outputs > r->decisions / 2);  // decided as recorded, and not only followed
  }
}

TEST_CASE("what a full buffer loses is counted and marked, and the recording goes on behind it") {
  TempDir dir;
  uint64_t lost = 0;
  {
    RecorderOptions o;
    o.dir = dir.path;
    o.max_buffered = 3;
    auto recorder = Recorder::Open(o, HeaderOf(Config(true))).value();
    World w(5, Config(true), recorder.get());
    w.Run(5000);
    lost = recorder->stats().lost;
  }
  CHECK(lost > 0);
  auto r = Replay(dir.path, {});
  INFO(r.status().message());
  REQUIRE(r.ok());
  if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
  CHECK(static_cast<uint64_t>(r->lost) == lost);
}

TEST_CASE("a recording that ends anywhere is read up to there") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    World w(11, Config(false), recorder.get());
    w.Run(2000);
  }
  const std::string path = absl::StrCat(dir.path, "/segment-00000001.jsonl.zst");
  struct stat st {};
  REQUIRE(stat(path.c_str(), &st) == 0);
  int64_t decisions = 0;
  for (off_t size = st.st_size - 1; size > st.st_size / 2; size -= st.st_size / 40) {
    REQUIRE(truncate(path.c_str(), size) == 0);
    auto r = Replay(dir.path, {});
    INFO(size << " bytes: " << r.status().message());
    REQUIRE(r.ok());
    CHECK(r->truncated);
    if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
    decisions += r->decisions;
  }
  CHECK(decisions > 0);
}

TEST_CASE("replay stops where it is told to, with the scheduler as it is then") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    World w(3, Config(false), recorder.get());
    w.Run(800);
  }
  ReplayOptions o;
  o.until = 50;
  bool called = false;
  o.stopped = [&](Core& core, const api::PodPtr&) {
    called = true;
    CHECK(core.cache.node_count() == 5);
  };
  auto r = Replay(dir.path, o);
  REQUIRE(r.ok());
  CHECK(called);
  CHECK(r->inputs == 49);
  o.until = std::numeric_limits<int64_t>::max();
  o.pod = "ns/nobody";
  CHECK(Replay(dir.path, o).status().message() == "no decision about pod ns/nobody is recorded");
}

TEST_CASE("answers of extenders are read as they were written") {
  ExtenderAnswer filter, preempt;
  filter.call = ExtenderAnswer::Call::kFilter;
  filter.extender = preempt.extender = "http://one";
  filter.nodes = {"a"};
  filter.failed = {{"b", "busy"}};
  filter.unresolvable = {{"c", "no licence"}};
  preempt.call = ExtenderAnswer::Call::kPreempt;
  preempt.evictions = {{util::Symbol("a"), {"u-1", "u-2"}, 3}};
  LineWriter writer;
  std::string text;
  for (const ExtenderAnswer& answer : {filter, preempt}) {
    Event event;
    event.what = std::make_unique<ExtenderAnswer>(answer);
    text.clear();
    writer.Append(event, &text);
    INFO(text);
    auto line = LineReader().Read(std::string_view(text).substr(0, text.find('\n')));
    REQUIRE(line.ok());
    REQUIRE(line->kind == Line::Kind::kExtender);
    const auto& read = *std::get<std::unique_ptr<ExtenderAnswer>>(line->event.what);
    CHECK(read.call == answer.call);
    CHECK(read.extender == answer.extender);
    CHECK(read.nodes == answer.nodes);
    CHECK(read.failed == answer.failed);
    CHECK(read.unresolvable == answer.unresolvable);
    REQUIRE(read.evictions.size() == answer.evictions.size());
    for (size_t i = 0; i < read.evictions.size(); ++i) {
      CHECK(read.evictions[i].node == answer.evictions[i].node);
      CHECK(read.evictions[i].uids == answer.evictions[i].uids);
      CHECK(read.evictions[i].violations == answer.evictions[i].violations);
    }
  }
}

TEST_CASE("what is no recording is an error that says where and what") {
  TempDir dir;
  CHECK(std::string(Replay(dir.path, {}).status().message()).find("there is no recording in this folder") !=
        std::string::npos);
  const std::string path = absl::StrCat(dir.path, "/segment-00000001.jsonl.zst");
  Pack(path, "{\"recording\":{\"format\":99}}\n");
  CHECK(Replay(dir.path, {}).status().message() ==
        "segment-00000001.jsonl.zst:1: recording.format: 99 is none of the formats 1 to 2 that this program reads");
  Pack(path, "nonsense\n");
  CHECK(std::string(Replay(dir.path, {}).status().message()).find("segment-00000001.jsonl.zst:1: ") == 0);
}

}  // namespace
}  // namespace berth::recording
