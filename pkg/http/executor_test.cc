#include "pkg/http/executor.h"

#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <string>

#include "pkg/http/event_loop.h"

namespace berth::http {
namespace {

TEST_CASE("executor: functions run in the order in which they were posted, on the loop's thread or another") {
  EventLoop loop("loop");
  AsioExecutor* const executor = loop.executor();
  std::string order;
  std::promise<void> done;
  bool here = false;
  executor->Post([&] {
    here = executor->RunsHere();
    order += 'a';
    executor->Post([&] {
      order += 'c';
      executor->Post([&] {
        order += 'd';
        done.set_value();
      });
    });
    order += 'b';
  });
  loop.Start();
  done.get_future().wait();
  CHECK(order == "abcd");
  CHECK(here);
  CHECK_FALSE(executor->RunsHere());
}

TEST_CASE("executor: timers have their turn while functions post others without end") {
  EventLoop loop("loop");
  std::promise<void> done;
  bool over = false;
  std::function<void()> again = [&] {
    if (over) return done.set_value();
    loop.executor()->Post([&] { again(); });
  };
  loop.executor()->Post([&] {
    loop.executor()->After(absl::ZeroDuration(), [&] { over = true; });
    again();
  });
  loop.Start();
  done.get_future().wait();
  CHECK(over);
}

}  // namespace
}  // namespace berth::http
