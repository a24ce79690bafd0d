#include "pkg/util/symbol.h"

#include <absl/strings/str_cat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

// Longer than what threads remember on their own, so that only those who keep a text count.
std::string Long(std::string_view name) {
  return std::string(300, '-') + std::string(name);
}

struct FreedAtOnce {
  FreedAtOnce() { FreeSymbolsAtOnceForTest(true); }
  ~FreedAtOnce() { FreeSymbolsAtOnceForTest(false); }
};

// Returns true when `f` ends the process.
bool EndsTheProcess(const std::function<void()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST_CASE("equal texts are one symbol") {
  const Symbol a("some text"), b("another");
  CHECK(a == Symbol("some text"));
  CHECK(a == SharedSymbol("some text"));
  CHECK(a == Symbol::Find("some text"));
  CHECK(a != b);
  CHECK(a.str() == "some text");
  CHECK(Symbol() == Symbol(""));
  CHECK(Symbol() == SharedSymbol(""));
  CHECK(Symbol().str() == "");
  CHECK(Symbol::Find("nobody has this text") == Symbol());
}

TEST_CASE("a symbol holds whatever bytes its text has") {
  const std::string text("a\0b", 3);
  CHECK(Symbol(text).str() == text);
  CHECK(Symbol(text) != Symbol("a"));
}

TEST_CASE("a text that comes back in time is the same symbol") {
  const Symbol before = SharedSymbol(Long("comes back"));
  CHECK(before.str() == Long("comes back"));
  CHECK(SharedSymbol(Long("comes back")) == before);
}

TEST_CASE("a text that nobody keeps is freed after so many others") {
  const Symbol gone = SharedSymbol(Long("goes"));
  const SharedSymbol kept(Long("stays"));
  Symbol again = SharedSymbol(Long("is wanted now and then"));
  const size_t texts = GetSymbolStats().texts;
  for (size_t i = 0; i < 2 * kRetiredTexts; ++i) {
    const SharedSymbol other(Long(absl::StrCat("other ", i)));
    if (i % (kRetiredTexts / 2) == 0) {
      CHECK(SharedSymbol(Long("is wanted now and then")) == again);
    }
  }
  CHECK(gone.str() == "");
  CHECK(kept.str() == Long("stays"));
  CHECK(SharedSymbol(Long("goes")) != gone);
  CHECK(GetSymbolStats().texts <= texts + kRetiredTexts);
}

TEST_CASE("a text stays as long as one keeps it") {
  const FreedAtOnce at_once;
  const SymbolStats before = GetSymbolStats();
  SharedSymbol a("kept by two");
  {
    SharedSymbol b = a;
    a = SharedSymbol("something else");
    CHECK(b.str() == "kept by two");
    const SharedSymbol moved = std::move(b);
    CHECK(moved.str() == "kept by two");
    CHECK(GetSymbolStats().texts == before.texts + 2);
    CHECK(GetSymbolStats().bytes >= before.bytes + 25);
  }
  CHECK(Symbol::Find("kept by two") == Symbol());
  a = SharedSymbol();
  CHECK(GetSymbolStats().texts == before.texts);
  CHECK(GetSymbolStats().bytes == before.bytes);
}

TEST_CASE("what the program itself names stays") {
  const FreedAtOnce at_once;
  const SharedSymbol from_outside("named by both");
  const uint32_t id = Symbol("named by both").id();
  { const SharedSymbol copy = from_outside; }
  CHECK(Symbol("named by both").id() == id);
  CHECK(from_outside.id() == id);
  const Symbol late("named by the program first");
  { const SharedSymbol passing("named by the program first"); }
  CHECK(late.str() == "named by the program first");
}

TEST_CASE("a keeper keeps the texts of an object") {
  const FreedAtOnce at_once;
  const size_t before = GetSymbolStats().texts;
  KeptTexts copy;
  {
    SymbolKeeper keeper;
    const Symbol a = keeper.Intern("label of an object");
    CHECK(keeper.Intern("label of an object") == a);
    const SharedSymbol of_another("namespace of an object");
    keeper.Keep(of_another);
    KeptTexts texts = keeper.Take();
    copy = texts;
    CHECK(copy == KeptTexts());
    keeper.Intern("read in vain");
  }
  CHECK(GetSymbolStats().texts == before + 2);
  CHECK(Symbol::Find("label of an object").str() == "label of an object");
  CHECK(Symbol::Find("namespace of an object").str() == "namespace of an object");
  copy = KeptTexts();
  CHECK(GetSymbolStats().texts == before);
}

TEST_CASE("passing words stay until so many others") {
  const FreedAtOnce at_once;
  const Symbol words = Symbol::InternBriefly("a reason");
  for (int i = 0; i < 1000; ++i) Symbol::InternBriefly("the same over and over");
  CHECK(words.str() == "a reason");
  const size_t texts = GetSymbolStats().texts;
  for (size_t i = 0; i <= kRetiredTexts; ++i) Symbol::InternBriefly(absl::StrCat("reason ", i));
  CHECK(Symbol::Find("a reason") == Symbol());
  CHECK(GetSymbolStats().texts <= texts + kRetiredTexts);
}

TEST_CASE("numbers are used again only when there are no others") {
  const FreedAtOnce at_once;
  const SharedSymbol first("the first of a few numbers");
  constexpr uint32_t kNumbers = 4 * 256;
  const uint32_t numbers = (first.id() / 256 + 4) * 256;
  LimitSymbolNumbersForTest(numbers);
  std::set<uint32_t> seen;
  size_t again = 0;
  for (uint32_t i = 0; i < 10 * kNumbers; ++i) {
    const std::string text = absl::StrCat("one of many ", i);
    const SharedSymbol s(text);
    CHECK(s.str() == text);
    CHECK(s != first);
    CHECK(s.id() < numbers);
    // Those of an earlier test count as well.
    if (!seen.insert(s.id()).second || s.id() < first.id()) ++again;
    if (i < kNumbers - 256) CHECK(again == 0);
  }
  CHECK(again > 0);
  CHECK(first.str() == "the first of a few numbers");
  LimitSymbolNumbersForTest(1u << 30);
}

TEST_CASE("tests notice a symbol that outlives its text") {
  const FreedAtOnce at_once;
  const Symbol stale = SharedSymbol("kept by nobody");
  CHECK(EndsTheProcess([&] { stale.str(); }));
  CHECK(EndsTheProcess([&] { SharedSymbol kept(stale); }));
  CHECK(!EndsTheProcess([] {}));
}

// Several threads intern, copy and drop the same texts and some of their own. Returns how often a symbol was not what
// it should have been.
int MistakesOfThreads() {
  constexpr int kThreads = 4, kSteps = 20000, kCommon = 100;
  std::atomic<int> mistakes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &mistakes] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      std::vector<std::pair<SharedSymbol, std::string>> held;
      for (int i = 0; i < kSteps; ++i) {
        const std::string text = random() % 4 == 0 ? Long(absl::StrCat("of thread ", t, " ", i))
                                                   : absl::StrCat("common ", random() % kCommon);
        held.emplace_back(SharedSymbol(text), text);
        if (random() % 8 == 0) held.push_back(held[random() % held.size()]);
        if (held.size() > 50) {
          std::swap(held[random() % held.size()], held.back());
          held.pop_back();
          held.erase(held.begin() + static_cast<ptrdiff_t>(random() % held.size()));
        }
        const auto& [symbol, is] = held[random() % held.size()];
        if (symbol.str() != is || SharedSymbol(is) != symbol) ++mistakes;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return mistakes;
}

TEST_CASE("threads intern, copy and drop") {
  CHECK(MistakesOfThreads() == 0);
}

TEST_CASE("threads intern, copy and drop, and texts are freed at once") {
  const FreedAtOnce at_once;
  const SymbolStats before = GetSymbolStats();
  CHECK(MistakesOfThreads() == 0);
  CHECK(GetSymbolStats().texts == before.texts);
  CHECK(GetSymbolStats().bytes == before.bytes);
}

}  // namespace
}  // namespace berth::util
