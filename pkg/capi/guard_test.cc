#include "pkg/capi/guard.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

namespace berth::capi {
namespace {

struct Thing : Held {
  void Log(int32_t severity, std::string_view text) override {
    logged += std::to_string(severity) + " " + std::string(text) + "\n";
  }
  std::string logged;
};

void NoMore(void (*f)()) noexcept {
  f();
}

TEST_CASE("what is thrown becomes an error") {
  CHECK(Guarded([]() -> int32_t { throw std::runtime_error("of a function"); }) == BERTH_INTERNAL);
  CHECK(std::string(LastError()) == "of a function");
  CHECK(Guarded([]() -> int32_t { throw std::bad_alloc(); }) == BERTH_INTERNAL);
  CHECK(Guarded([]() -> int32_t { throw 1; }) == BERTH_INTERNAL);
  CHECK(Guarded([] { return int32_t{BERTH_OK}; }) == BERTH_OK);
}

TEST_CASE("a broken invariant ends the call, and its handle can only be closed") {
  auto thing = std::make_shared<Thing>();
  void* handle = Enter(thing);
  const int32_t code = Guarded([&]() -> int32_t {
    Use<Thing> use(handle, "things");
    PassLog(1, "a message");
    BreakOff("a row is gone");
  });
  CHECK(code == BERTH_INTERNAL);
  CHECK(std::string(LastError()).find("a row is gone") != std::string::npos);
  CHECK(thing->logged == "1 a message\n3 a row is gone\n");
  CHECK(Guarded([&] { return Use<Thing>(handle, "things").code(); }) == BERTH_INTERNAL);
  CHECK(std::string(LastError()).find("can only be closed") != std::string::npos);
  Remove(handle);
  CHECK(Guarded([&] { return Use<Thing>(handle, "things").code(); }) == BERTH_BAD_HANDLE);
}

TEST_CASE("what would terminate the process ends the call, with the exception that nothing caught") {
  struct Case {
    void (*end)();
    const char* says;
  };
  static constexpr auto kThrow = [] { throw std::runtime_error("of a function that may not throw"); };
  const Case cases[] = {
      {[]() { std::terminate(); }, "terminated without an exception"},
      {[]() { NoMore(kThrow); }, "an exception that nothing catches: of a function that may not throw"},
      {[]() { NoMore([] { throw 1; }); }, "an exception that nothing catches"},
  };
  for (const Case& end : cases) {
    auto thing = std::make_shared<Thing>();
    void* handle = Enter(thing);
    const int32_t code = Guarded([&]() -> int32_t {
      Use<Thing> use(handle, "things");
      end.end();
      return BERTH_OK;
    });
    CHECK(code == BERTH_INTERNAL);
    CHECK(std::string(LastError()).find(end.says) != std::string::npos);
    CHECK(thing->logged.find(end.says) != std::string::npos);
    CHECK(thing->broken);
    CHECK(Guarded([&] { return Use<Thing>(handle, "things").code(); }) == BERTH_INTERNAL);
    Remove(handle);
  }
  // The next call is as any other.
  CHECK(Guarded([] { return int32_t{BERTH_OK}; }) == BERTH_OK);
}

TEST_CASE("outside of calls, the process ends as it would without the library") {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not the one of the test program, which would report it
    std::terminate();
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("an invariant that breaks in a call of a callback leaves the outer call as it is") {
  auto outer = std::make_shared<Thing>(), inner = std::make_shared<Thing>();
  void *of_outer = Enter(outer), *of_inner = Enter(inner);
  const int32_t code = Guarded([&] {
    Use<Thing> use(of_outer, "things");
    const int32_t nested = Guarded([&]() -> int32_t {
      Use<Thing> other(of_inner, "things");
      BreakOff("inside");
    });
    CHECK(nested == BERTH_INTERNAL);
    PassLog(0, "after");
    return use.code();
  });
  CHECK(code == BERTH_OK);
  CHECK(outer->logged == "0 after\n");
  CHECK_FALSE(outer->broken);
  CHECK(inner->broken);
  Remove(of_outer);
  Remove(of_inner);
}

}  // namespace
}  // namespace berth::capi
