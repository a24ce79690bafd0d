// Linked into every program of unit tests, whose main function comes with Catch2's library: tests write errors alone to
// standard error, and no log files.
#include <glog/logging.h>

namespace {

const bool initialised = [] {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging("test");
  return true;
}();

}  // namespace
