#include <glog/logging.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <iostream>

#include "pkg/apiserver/http_server.h"

int main(int argc, char** argv) {
  using namespace berth;
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  util::RealClock clock;
  boost::asio::io_context io;
  apiserver::Store store;
  apiserver::Registry registry(&store, &clock);
  registry.CreateInitialObjects(16443);
  store.ForgetHistory();
  apiserver::Api api(&registry, &clock);
  apiserver::HttpServer server(&io, &api, &store);
  auto port = server.Listen("127.0.0.1", static_cast<uint16_t>(argc > 1 ? atoi(argv[1]) : 8080), nullptr, nullptr);
  if (!port.ok()) return 1;
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](auto, int) { io.stop(); });
  std::cout << "Serving insecurely on 127.0.0.1:" << *port << std::endl;
  io.run();
  return 0;
}
