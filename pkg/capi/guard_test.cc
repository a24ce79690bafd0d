#include "pkg/capi/guard.h"

#include <catch2/catch.hpp>
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
