// Records and replays a scheduler in a small simulated cluster: whatever happens to it, the replay does the same.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "pkg/api/scheduling_fields.h"
#include "pkg/recording/core.h"
#include "pkg/recording/packed_file.h"
#include "pkg/recording/recorder.h"
#include "pkg/recording/replay.h"
#include "pkg/recording/tap.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/scheduler/testing/simulated_server.h"

namespace berth::recording {
namespace {

using scheduler::Answer;
using scheduler::Change;
using scheduler::Reply;
using scheduler::testing::Asks;
using scheduler::testing::NodeOf;
using scheduler::testing::PodOf;

// A folder that is deleted at the end.
struct TempDir {
  TempDir() {
    char name[] = "/tmp/recording-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~TempDir() { (void)!std::system(absl::StrCat("rm -rf ", path).c_str()); }
  std::string path;
};

CoreConfiguration Config(bool pod_priority) {
  CoreConfiguration c;
  c.gates = {{"PodPriority", pod_priority}, {"VolumeScheduling", true}};
  c.profiles = {{"default-scheduler", "DefaultProvider", "", ""}};
  return c;
}

// Returns the default scheduler of a release.
CoreConfiguration Config(std::string release, std::string provider) {
  CoreConfiguration c = Config(true);
  c.release = std::move(release);
  c.profiles = {{"default-scheduler", std::move(provider), "", ""}};
  return c;
}

const std::vector<CoreConfiguration> kConfigurations = {
    Config(false),      Config(true),      Config("1.13", "DefaultProvider"), Config("1.19", "DefaultProvider"),
    Config("1.29", ""), Config("1.36", "")};

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

// A simulated API server, and the scheduler of a configuration that talks to it, with all that passes between them
// going to `sink`.
class Simulation {
 public:
  Simulation(uint32_t seed, const CoreConfiguration& config, EventSink* sink)
      : server_(seed, &clock_), tap_(sink, &server_, &clock_, nullptr) {
    api::KeepSchedulingFields();
    server_.Connect([this](const Change<api::Pod>& c) { tap_.Apply(c); }, [this](const Reply& r) { tap_.Apply(r); });
    Core::Surroundings around;
    around.actions = &tap_;
    around.clock = &tap_;
    around.observer = &tap_;
    core_ = Core::Make(config, around).value();
    tap_.Attach(core_->scheduler.get());
  }

  void AddNodes(const std::string& prefix, int count, const std::string& allocatable) {
    for (int i = 0; i < count; ++i) {
      tap_.Apply(Change<api::Node>{nullptr, NodeOf(absl::StrCat(prefix, i), "", "", allocatable,
                                                   "'conditions':[{'type':'Ready','status':'True'}]")});
    }
  }
  void Run(int steps) {
    AddNodes("n", 5, "'cpu':'4','memory':'8Gi','pods':'10'");
    Continue(steps);
  }
  void Continue(int steps) {
    for (int i = 0; i < steps; ++i) Step();
    tap_.Flush();
  }
  size_t bound() const { return server_.bound_in_all(); }

 private:
  void AddPod() {
    const std::string name = absl::StrCat("p", server_.Dice(60));
    if (server_.pods().contains(name)) return;
    const std::string spec =
        absl::StrCat("'priority':", server_.Dice(3), ",", Asks(absl::StrCat("'cpu':'", 1 + server_.Dice(3), "'")));
    auto p = std::make_shared<api::Pod>(*PodOf(name, spec, absl::StrCat("'app':'a", server_.Dice(3), "'")));
    p->meta.uid = absl::StrCat("u", ++uids_);
    server_.Store(p);
  }
  void Step() {
    clock_.Advance(absl::Microseconds(server_.Dice(5000)));
    const uint32_t what = server_.Dice(16);
    if (what < 3) {
      AddPod();
    } else if (what == 3) {
      server_.DeleteAny();
      server_.EndOne();
    } else if (what == 4) {
      clock_.Advance(absl::Milliseconds(server_.Dice(3000)));
      tap_.Tick();
    } else if (what == 5) {
      tap_.Flush();
      server_.ServeLate();
    } else if (what < 10) {
      server_.ServeOne(true);
    } else if (what < 13) {
      server_.ShowNext();
    } else {
      tap_.ScheduleOne();
    }
  }

  util::ManualClock clock_;
  scheduler::testing::SimulatedServer server_;
  Tap tap_;
  std::unique_ptr<Core> core_;
  uint64_t uids_ = 0;
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
        Simulation w(seed, config, recorder.get());
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

TEST_CASE("a release without the gate PodPriority has priorities, whatever a recording says of the gate") {
  for (const std::string release : {"1.19", "1.29", "1.36"}) {
    INFO(release);
    const CoreConfiguration config = Config(release, release == "1.19" ? "DefaultProvider" : "");
    TempDir dir;
    {
      auto recorder = Open(dir.path, config);
      Simulation w(1, config, recorder.get());
      w.Run(1500);
    }
    const std::string file = absl::StrCat(dir.path, "/segment-00000001.jsonl.zst");
    const std::string recorded = Unpacked(file);
    Pack(file, absl::StrReplaceAll(recorded, {{"\"PodPriority\":true", "\"PodPriority\":false"}}));
    REQUIRE(Unpacked(file) != recorded);
    auto r = Replay(dir.path, {});
    INFO(r.status().message());
    REQUIRE(r.ok());
    if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
    CHECK(r->decisions > 30);
  }
}

TEST_CASE("a change of any output is found, with its place and both sides") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    Simulation w(3, Config(false), recorder.get());
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
  CHECK(r->difference->pod.substr(0, 9) == "default/p");
  CHECK(r->difference->input > 0);
  CHECK(r->difference->at.find("segment-00000001.jsonl.zst:") == 0);
}

TEST_CASE("old segments are removed, and decisions are checked from the oldest checkpoint that is left") {
  for (const CoreConfiguration& config : kConfigurations) {
    TempDir dir;
    {
      auto recorder = Open(dir.path, config, 300 << 10);
      Simulation w(7, config, recorder.get());
      w.AddNodes("full", 1000, "'cpu':'0','memory':'0','pods':'0'");  // more than one piece of a checkpoint
      w.Run(60000);
    }
    const auto segments = ListSegments(dir.path).value();
    CHECK(segments.front().find("segment-00000001") == std::string::npos);
    CHECK(segments.size() > 2);
    // Any of them may be the oldest that is left.
    for (const std::string& oldest : segments) {
      auto r = Replay(dir.path, {});
      INFO(r.status().message());
      REQUIRE(r.ok());
      INFO(NameOf(config));
      CHECK(r->checkpoints >= 1);
      if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
      if (oldest == segments.front()) {
        CHECK(r->decisions > 100);
        CHECK(r->outputs > r->decisions / 2);  // decided as recorded, not just followed
      }
      REQUIRE(std::filesystem::remove(std::filesystem::path(dir.path) / std::filesystem::path(oldest).filename()));
    }
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
    Simulation w(5, Config(true), recorder.get());
    w.Run(5000);
    // On a busy machine the writing thread may not have had a processor until now, and then all of these events are
    // lost.
    while (recorder->stats().lost == recorder->stats().events) {
      std::this_thread::yield();
      w.Continue(1);
    }
    lost = recorder->stats().lost;
  }
  CHECK(lost > 0);
  auto r = Replay(dir.path, {});
  INFO(r.status().message());
  REQUIRE(r.ok());
  if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
  CHECK(static_cast<uint64_t>(r->lost) == lost);
}

TEST_CASE("a file that was never ended leaves nothing in the next one") {
  TempDir dir;
  Packer packer;
  const std::string first = dir.path + "/1.zst", second = dir.path + "/2.zst";
  {
    auto file = PackedWriter::Create(first, &packer);
    REQUIRE(file.ok());
    REQUIRE((*file)->Put("lost\n", PackedWriter::Flush::kNone).ok());
  }
  auto file = PackedWriter::Create(second, &packer);
  REQUIRE(file.ok());
  REQUIRE((*file)->Put("a line\n", PackedWriter::Flush::kWrite).ok());
  REQUIRE((*file)->Put("another line\n", PackedWriter::Flush::kEnd).ok());
  struct stat st {};
  REQUIRE(stat(second.c_str(), &st) == 0);
  CHECK((*file)->bytes() == st.st_size);
  CHECK(Unpacked(first).empty());
  CHECK(Unpacked(second) == "a line\nanother line\n");
}

TEST_CASE("a recording that ends anywhere is read up to there") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    Simulation w(11, Config(false), recorder.get());
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
    if (!r.ok()) {
      // So little is left that nothing could be checked.
      CHECK(absl::StrContains(r.status().message(), "the recording has a header and no input"));
      continue;
    }
    CHECK(r->truncated);
    if (r->difference) FAIL(r->difference->at << "\n" << r->difference->recorded << "\n" << r->difference->replayed);
    decisions += r->decisions;
  }
  CHECK(decisions > 0);
}

TEST_CASE("replay stops at a given input, with the scheduler as it is then") {
  TempDir dir;
  {
    auto recorder = Open(dir.path, Config(false));
    Simulation w(3, Config(false), recorder.get());
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
    writer.Append(&event, &text);
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

TEST_CASE("outputs that stand in the line of their input are read in their full form") {
  const api::PodPtr pod = PodOf("p");
  const util::Symbol node("n-1");
  const std::string key = pod->meta.Key();
  LineWriter writer;
  LineReader reader;
  const auto lines = [&](Event event) {
    std::string text;
    writer.Append(&event, &text);
    std::vector<std::string> outputs;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
      auto line = reader.Read(rest.substr(0, rest.find('\n')));
      REQUIRE(line.ok());
      for (std::string& output : line->outputs) outputs.push_back(std::move(output));
      if (line->kind == Line::Kind::kOutput) outputs.push_back(line->text);
    }
    return outputs;
  };
  const auto answer = [&](scheduler::RequestId id, MessageForm form) {
    ReplyInput reply(Reply{id, {}, nullptr});
    reply.set_assigned({pod, node, form});
    Event event;
    event.what = std::move(reply);
    return event;
  };
  const auto schedule = [&](scheduler::RequestId bind) {
    Event event;
    event.what = ScheduleInput{pod, util::SharedSymbol(node), 12, 3, bind, 45};
    return event;
  };
  const std::string decision = DecisionLine(key, "n-1", 12, 3, 45);
  CHECK(decision == OutputLinesOf(schedule(0)).front());
  for (bool by_key : {false, true}) {
    const MessageForm form = by_key ? MessageForm::kAssignedByKey : MessageForm::kAssigned;
    const std::string assigned = AssignedLine(key, "n-1", by_key);
    CHECK(lines(schedule(7)) == std::vector<std::string>{decision, BindLine(7, key, "n-1")});
    CHECK(lines(answer(7, form)) == std::vector<std::string>{assigned});
    CHECK(lines(schedule(0)) == std::vector<std::string>{decision});
    // The bind was requested in the previous segment, so there is no line to refer to.
    CHECK(lines(schedule(8)) == std::vector<std::string>{decision, BindLine(8, key, "n-1")});
    writer.BeginSegment();
    reader = LineReader();
    CHECK(lines(answer(8, form)) == std::vector<std::string>{assigned});
  }
  CHECK(reader.Read("{\"in\":\"reply\",\"id\":9,\"assigned\":\"key\"}").status().message() ==
        "id: 9 is not an unanswered bind");
  CHECK(reader.Read("{\"in\":\"reply\",\"id\":9,\"assigned\":1}").status().message() ==
        "assigned: 1 is neither \"name\" nor \"key\"");
}

TEST_CASE("templates that no pod has any more are forgotten") {
  api::KeepSchedulingFields();
  LineWriter writer;
  size_t most = 0;
  const auto line = [&](Change<api::Pod> change) {
    Event event;
    event.what = AnyChange(std::move(change));
    std::string text;
    writer.Append(&event, &text);
    return text;
  };
  const auto pod_of_job = [](int i) {
    return PodOf(absl::StrCat("p-", i), "", absl::StrCat("'job-name':'j-", i, "'"));
  };
  const api::PodPtr stays = pod_of_job(-1);
  const size_t alive = api::PodTemplate::InternedCount();
  CHECK(line({nullptr, stays}).find("{\"template\":1,") == 0);
  for (int i = 0; i < 10'000; ++i) {
    const api::PodPtr pod = pod_of_job(i);
    line({nullptr, pod});
    line({pod, nullptr});
    most = std::max(most, writer.templates());
  }
  CHECK(most < 5'000);
  // The writer keeps no template alive but the last one: the cache drops those that nobody else has.
  CHECK(api::PodTemplate::InternedCount() <= alive + 1);
  // One that was forgotten is written again, under another number; one that is in use is not.
  CHECK(line({nullptr, pod_of_job(0)}).find("{\"template\":10002,") == 0);
  CHECK(line({stays, nullptr}).find("\"template\"") == std::string::npos);
  CHECK(line({nullptr, stays}).find("\"of\":1}") != std::string::npos);
}

TEST_CASE("what is no recording is an error that says where and what") {
  TempDir dir;
  CHECK(std::string(Replay(dir.path, {}).status().message()).find("there is no recording in this folder") !=
        std::string::npos);
  const std::string path = absl::StrCat(dir.path, "/segment-00000001.jsonl.zst");
  Pack(path, "{\"recording\":{\"format\":99}}\n");
  CHECK(Replay(dir.path, {}).status().message() ==
        "segment-00000001.jsonl.zst:1: recording.format: 99 is none of the formats 1 to 3 that this program reads");
  Pack(path, "nonsense\n");
  CHECK(std::string(Replay(dir.path, {}).status().message()).find("segment-00000001.jsonl.zst:1: ") == 0);
}

}  // namespace
}  // namespace berth::recording
