#define CATCH_CONFIG_RUNNER
#undef TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED
#include <catch2/catch.hpp>

#include <glog/logging.h>

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  return Catch::Session().run(argc, argv);
}
