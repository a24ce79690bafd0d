#include "pkg/flags/flag_set.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>

#include "pkg/util/status.h"

namespace berth::flags {
namespace {

using Words = std::vector<std::string>;

// Flags of each kind. Those without a value of Boost's write to `seen` what they are set to.
struct Sample {
  Words seen;
  FlagSet set{FlagSet::Order::kByName};

  Value* Seen(const std::string& name) {
    return new Value(
        "text", "nothing",
        [this, name](const std::string& s) {
          if (s == "bad") return absl::InvalidArgumentError("is bad");
          seen.push_back(absl::StrCat(name, "=", s));
          return absl::OkStatus();
        },
        [] { return std::string("a text"); });
  }

  Sample() {
    set.Section("Ours");
    set("own-text", Seen("own-text"), "a text");
    set("v,v", Seen("v"), "level");
    set("on,b", Seen("on")->WithoutValue("yes"), "may have a value");
    set("first", Seen("first"), "set before the others");
    set("old", Seen("old")->Deprecated("use another"), "not shown");
    set.Section("Boost's");
    set("number,n", po::value<int>()->value_name("N")->default_value(7), "a number");
    set("wide", po::value<int64_t>(), "a large number");
    set("share", po::value<double>(), "a fraction");
    set("list", po::value<Words>(), "may be repeated");
    set("many", po::value<Words>()->multitoken(), "takes all words up to the next flag");
    set("mode", po::value<std::string>()->default_value("auto")->implicit_value("on", ""), "with or without a value");
    set("all,a", po::bool_switch(), "a switch");
  }

  // Returns the mistake; empty: none.
  std::string Read(const Words& words) { return util::Message(set.Read(words, "first")); }
  template <typename T>
  T Get(const char* name) {
    return set.values()[name].template as<T>();
  }
};

std::string Mistake(const Words& words) {
  return Sample().Read(words);
}

TEST_CASE("flags: forms of values") {
  Sample s;
  CHECK(s.Read({"--own-text=a=b", "--own_text", "--mode", "--own-text=", "-v=2", "-v3", "-v", "4", "-bv5", "--on",
                "--on=no", "--mode", "-an", "8"}) == "");
  CHECK(absl::StrJoin(s.seen, " ") == "own-text=a=b own-text=--mode own-text= v=2 v=3 v=4 on=yes v=5 on=yes on=no");
  CHECK(s.Get<std::string>("mode") == "on");
  CHECK(s.Get<bool>("all"));
  CHECK(s.Get<int>("number") == 8);
  CHECK(s.set.words().empty());
}

TEST_CASE("flags: words that are none") {
  Sample s;
  CHECK(s.Read({"one", "-", "--mode", "two", "--many", "a", "b", "-a", "three", "--", "-x", "--", "--all"}) == "");
  CHECK(s.set.words() == Words{"one", "-", "two", "three", "-x", "--", "--all"});
  CHECK(s.Get<Words>("many") == Words{"a", "b"});
}

TEST_CASE("flags: which were given, and in which order") {
  Sample s;
  CHECK(s.Read({"--list=b", "--number=1", "--list", "a", "--all"}) == "");
  CHECK(s.set.given() ==
        std::vector<std::pair<std::string, std::string>>{{"list", "b"}, {"number", "1"}, {"list", "a"}});
  CHECK(s.Get<Words>("list") == Words{"b", "a"});
  CHECK(s.set.Changed("number"));
  CHECK(s.set.Changed("all"));
  CHECK_FALSE(s.set.Changed("mode"));  // has its default
  CHECK_FALSE(s.set.Changed("own-text"));
  CHECK(s.set.Find("own-text")->text() == "a text");
  CHECK(s.set.Find("own_text") == nullptr);
}

TEST_CASE("flags: mistakes") {
  CHECK(Mistake({"--bogus=1"}) == "unknown flag: --bogus");
  CHECK(Mistake({"--nmuber", "1"}) == "unknown flag: --nmuber (did you mean \"--number\"?)");
  CHECK(Mistake({"--numb=1"}) == "unknown flag: --numb (did you mean \"--number\"?)");
  CHECK(Mistake({"-ax"}) == "unknown shorthand flag: 'x' in -x");
  CHECK(Mistake({"--own-text"}) == "flag needs an argument: --own-text");
  CHECK(Mistake({"-av"}) == "flag needs an argument: 'v' in -av");
  CHECK(Mistake({"--number="}) == "flag needs an argument: --number=");
  CHECK(Mistake({"--all=true"}) == "flag takes no argument: --all");
  CHECK(Mistake({"--=x"}) == "bad flag syntax: --=x");
  CHECK(Mistake({"---all"}) == "bad flag syntax: ---all");
  CHECK(Mistake({"-v=bad"}) == R"(invalid argument "bad" for "-v, --v" flag: is bad)");
  CHECK(Mistake({"--own-text", "bad"}) == R"(invalid argument "bad" for "--own-text" flag: is bad)");
  CHECK(Mistake({"--number=x"}) == R"(--number: invalid value "x": must be a whole number of 32 bits)");
  CHECK(Mistake({"-n99999999999"}) == R"(--number: invalid value "99999999999": must be a whole number of 32 bits)");
  CHECK(Mistake({"--wide=x"}) == R"(--wide: invalid value "x": must be a whole number of 64 bits)");
  CHECK(Mistake({"--share", "half"}) == R"(--share: invalid value "half": must be a number)");
  CHECK(Mistake({"--number=1", "-n2"}) == "option '--number' cannot be specified more than once");
}

TEST_CASE("flags: one form for every wrong value") {
  CHECK(util::Message(InvalidValue("order", "x", MustBe({"file"}))) == R"(--order: invalid value "x": must be file)");
  CHECK(util::Message(InvalidValue("max", -1, "must be 0 or more")) == "--max: invalid value -1: must be 0 or more");
  CHECK(MustBe({"a", "b", "c"}) == "must be a, b or c");
  CHECK(HelpHint("schedsim run") == "Run schedsim run --help for usage.");
}

TEST_CASE("flags: what stands before a mistake takes effect, and some flags before all others") {
  Sample s;
  CHECK(s.Read({"-v1", "--first=a", "--bogus", "-v2"}) == "unknown flag: --bogus");
  CHECK(s.seen == Words{"first=a", "v=1"});
  CHECK(Mistake({"-v=bad", "--bogus"}) == R"(invalid argument "bad" for "-v, --v" flag: is bad)");
}

TEST_CASE("flags: help by section and name, without what is deprecated") {
  Sample s;
  CHECK(s.set.Help([](Flag* f) {
    if (f->name == "own-text") f->otherwise = "edited";
    return f->name != "list" && f->name != "many" && f->name != "wide" && f->name != "share";
  }) == "Ours:\n"
        "      --first text          set before the others (default nothing)\n"
        "  -b, --on text             may have a value (default nothing)\n"
        "      --own-text text       a text (default edited)\n"
        "  -v, --v text              level (default nothing)\n"
        "\n"
        "Boost's:\n"
        "  -a, --all                 a switch\n"
        "      --mode arg            with or without a value (default auto)\n"
        "  -n, --number N            a number (default 7)\n");
}

}  // namespace
}  // namespace berth::flags
