#include "pkg/simulate/arrivals.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "pkg/scheduler/testing/objects.h"
#include "pkg/simulate/arrival_file.h"
#include "pkg/simulate/generated.h"
#include "pkg/simulate/times.h"
#include "pkg/simulate/waits.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

// A file that is deleted at the end.
struct CsvFile {
  explicit CsvFile(const std::string& text) {
    char name[] = "/tmp/arrivals-test-XXXXXX";
    close(mkstemp(name));
    path = name;
    std::ofstream(path) << text;
  }
  ~CsvFile() { unlink(path.c_str()); }
  std::string path;
};

// Returns the arrivals as text, or the error without the file's name.
std::string Read(const std::string& text, const KnownPods& known = {}) {
  const CsvFile csv(text);
  auto file = ArrivalFile::Open(csv.path, &known);
  std::string out;
  if (!file.ok()) {
    out = util::Message(file.status());
    return out.substr(out.find(csv.path) + csv.path.size());
  }
  auto source = (*file)->Arrivals();
  REQUIRE(source.ok());
  Arrival a;
  while ((*source)->Next(&a)) {
    absl::StrAppend(&out, out.empty() ? "" : " ", SecondsText(a.at), "+",
                    a.duration == kNever ? "" : SecondsText(a.duration), ":", a.pod->meta.ns.string(), "/",
                    a.as_is ? a.pod->meta.name : a.name);
  }
  REQUIRE((*source)->status().ok());
  return out;
}

TEST_CASE("arrivals: facts about many that are alike are those about each of them") {
  ArrivalFacts together, one_by_one;
  Micros at = 0;
  for (const int64_t count : {0, 1, 5, 2'050, 1, 40'000, 3, 0, 9'999}) {
    Arrival a;
    a.at = at += 1'000'000;
    a.duration = 10;
    a.pod = std::make_shared<api::Pod>();
    together.Add(a, count);
    for (int64_t i = 0; i < count; ++i) one_by_one.Add(a);
    CHECK(together.pods == one_by_one.pods);
    CHECK(together.last_time == one_by_one.last_time);
    CHECK(together.last_end == one_by_one.last_end);
    CHECK(together.sample == one_by_one.sample);
  }
}

}  // namespace

TEST_CASE("times") {
  const auto seconds = [](const char* text) {
    const auto t = ParseTime(text);
    return t.ok() ? SecondsText(*t) : "bad";
  };
  CHECK(seconds("0") == "0");
  CHECK(seconds("90") == "90");
  CHECK(seconds("0.25") == "0.25");
  CHECK(seconds("90s") == "90");
  CHECK(seconds("1h30m") == "5400");
  CHECK(seconds("2d") == "172800");
  CHECK(seconds("1500ms") == "1.5");
  for (const char* bad : {"", "-1", "1x", "h", "1h30", "1..5", "1e3", " 1", "1 h", "99999999999999d"}) {
    INFO(bad);
    CHECK(seconds(bad) == "bad");
  }
  CHECK(TimeText(0) == "0s");
  CHECK(TimeText(12'500'000) == "12.5s");
  CHECK(TimeText(5'400 * kSecond) == "1h30m");
  CHECK(TimeText(Micros{12'902'960} * kSecond) == "149d8h");
}

TEST_CASE("files of arrivals") {
  CHECK(Read("time,duration,name\n0,90s,a\n1m,,b\n") == "0+90:default/a 60+:default/b");
  CHECK(Read("name,count,cpu,duration,time,namespace,priority\nj,3,500m,1h,5,team,7\n") ==
        "5+3600:team/j-0 5+3600:team/j-1 5+3600:team/j-2");
  CHECK(Read("time,duration,name\r\n0,1,\"a\"\r\n") == "0+1:default/a");
  CHECK(Read("time,duration,name\n5,1,a\n3,1,b\n4,1,c\n") == "3+1:default/b 4+1:default/c 5+1:default/a");
  CHECK(Read("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"
             "x,6000,12288,1,460,V100|A10,LS,10,25\n") == "10+15:default/x");
}

TEST_CASE("bad files of arrivals are errors that name the place") {
  CHECK(Read("") == ": the file is empty: it must begin with a line that names the columns");
  CHECK(Read("time,name\n0,a\n") == ":1: the column \"duration\" is missing");
  CHECK(Read("time,duration,name,time\n") == ":1: column time: there are two");
  CHECK(Read("time,duration,name,cpus\n").starts_with(":1: column \"cpus\": neither a column of arrivals"));
  CHECK(Read("time,duration,name\n0,1,a\n-5,1,b\n") ==
        ":3: column time: \"-5\" is not a time: it must not be negative");
  CHECK(Read("time,duration,name\n0,-1h,a\n") == ":2: column duration: \"-1h\" is not a time: it must not be negative");
  CHECK(Read("time,duration,name\n0,1w,a\n") ==
        ":2: column duration: \"1w\" is not a time: the units are d, h, m, s, ms "
        "and us");
  CHECK(Read("time,duration,name\n0,1\n") == ":2: the row has 2 fields, and the header 3");
  CHECK(Read("time,duration,name\n0,1,\n") == ":2: column name: must not be empty");
  CHECK(Read("time,duration,name\n0,1,\"a\n") == ":2: a quote is not closed");
  CHECK(Read("time,duration,name,cpu\n0,1,a,5x\n").starts_with(":2: column cpu: \"5x\" is not a quantity"));
  CHECK(Read("time,duration,name,cpu\n0,1,a,-5\n") == ":2: column cpu: \"-5\" is negative");
  CHECK(Read("time,duration,name,count\n0,1,a,0\n") == ":2: column count: \"0\" is not a number from 1 to 100000000");
  CHECK(Read("time,duration,name,priority\n0,1,a,high\n") ==
        ":2: column priority: \"high\" is not an integer of 32 bits");
  CHECK(Read("time,duration,name,template\n0,1,a,web\n") ==
        ":2: column template: \"web\" is neither a pod nor a workload with pods in the input");
  CHECK(Read("name,cpu_milli,memory_mib,creation_time,deletion_time\nx,1,1,10,9\n") ==
        ":2: column deletion_time: \"9\": the pod ends before it arrives, at 10");
}

TEST_CASE("rows about pods of the input") {
  const api::PodPtr web = scheduler::testing::PodOf("web");
  KnownPods known;
  known.pending = {{"default/web", web}, {"web", web}};
  known.templates = {{"web", web}};
  CHECK(Read("time,duration,name\n7,1,web\n", known) == "7+1:default/web");
  CHECK(Read("time,duration,name\n7,1,web\n8,1,web\n", known) ==
        ":3: column name: pod default/web of the input arrives a second time");
  CHECK(Read("time,duration,name,template\n7,1,other,web\n8,1,web,web\n", known) ==
        "7+1:default/other 8+1:default/web");
}

TEST_CASE("generated arrivals") {
  const KnownPods known;
  const auto generate = [&](const std::string& spec, uint64_t seed) {
    auto g = Generated::Parse(spec, &known);
    if (!g.ok()) return util::Message(g.status());
    std::string out;
    Arrival a;
    Micros last = 0;
    for (auto source = g->Arrivals(seed); source->Next(&a);) {
      CHECK(a.at >= last);
      last = a.at;
      absl::StrAppend(&out, SecondsText(a.at), " ");
    }
    CHECK(last < 3'600 * kSecond);
    return out;
  };
  CHECK(generate("rate=4/h,for=1h,spacing=even,cpu=1", 1) == "0 900 1800 2700 ");
  CHECK(generate("count=100,for=1h,duration=1m", 1) == generate("count=100,for=1h,duration=1m", 1));
  CHECK(generate("count=100,for=1h", 1) != generate("count=100,for=1h", 2));
  CHECK(generate("for=1h", 1) == "--generate for=1h: give either rate=N/TIME or count=N");
  CHECK(generate("rate=4,for=1h", 1) == "--generate rate=4,for=1h: rate=4: must be N/TIME, such as 100/h");
  CHECK(generate("count=4,for=1h,cpu=x", 1).starts_with("--generate count=4,for=1h,cpu=x: column cpu: \"x\" is not a"));
}

TEST_CASE("percentiles of waiting times") {
  Waits w;
  CHECK(w.Percentile(0.5) == 0);
  for (int i = 1; i <= 100; ++i) w.Add(i);
  CHECK(w.Percentile(0.5) == 50);
  CHECK(w.Percentile(0.99) == 99);
  CHECK(w.max() == 100);
  for (Micros i = 1; i <= 1'000'000; ++i) w.Add(1'000 * i);
  CHECK(w.count() == 1'000'100);
  CHECK(w.Percentile(0.5) == Approx(5e8).epsilon(0.001));
  CHECK(w.max() == 1'000'000'000);
}

}  // namespace berth::simulate
