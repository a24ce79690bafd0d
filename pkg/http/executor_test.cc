#include "pkg/http/executor.h"

#include <absl/time/time.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "pkg/http/event_loop.h"
#include "pkg/util/clock.h"

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

TEST_CASE("executor: what comes soon after something else is handled together at the end of the period") {
  boost::asio::io_context io(1);
  util::ManualClock clock;
  AsioExecutor executor(&io, &clock);
  std::vector<std::string> log;
  const auto arrive = [&](const char* what) { boost::asio::post(io, [&log, what] { log.emplace_back(what); }); };
  executor.HandleTogether(absl::Milliseconds(50), [&](absl::Duration d) {
    log.push_back("wait " + absl::FormatDuration(d));
    clock.Advance(absl::Milliseconds(20));
    arrive("second");
    clock.Advance(d - absl::Milliseconds(20));
    arrive("third");
    executor.Post([&] {
      log.emplace_back("posted");
      clock.Advance(absl::Milliseconds(50));
      executor.After(absl::ZeroDuration(), [&] {
        log.emplace_back("after a silence");
        io.stop();
      });
    });
  });
  executor.After(absl::Milliseconds(1), [&] {
    log.emplace_back("first");
    clock.Advance(absl::Milliseconds(10));
  });
  const auto work = boost::asio::make_work_guard(io);  // as long as there is none, Run() ends
  executor.Run();
  CHECK(log == std::vector<std::string>{"first", "wait 50ms", "second", "posted", "third", "after a silence"});
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
