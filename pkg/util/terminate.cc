#include "pkg/util/terminate.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace berth::util {
namespace {

const char* program_name = "program";

void Say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

// Takes no memory: there may be none.
[[noreturn]] void OnTerminate() {
  const char* why = "terminated without an exception";
  bool resources = false;
  char text[512];
  if (const std::exception_ptr uncaught = std::current_exception()) {
    try {
      std::rethrow_exception(uncaught);
    } catch (const std::bad_alloc&) {
      why = "out of memory";
      resources = true;
    } catch (const std::system_error& e) {
      std::strncpy(text, e.what(), sizeof text - 1);
      text[sizeof text - 1] = '\0';
      why = text;
      resources = true;
    } catch (const std::exception& e) {
      std::strncpy(text, e.what(), sizeof text - 1);
      text[sizeof text - 1] = '\0';
      why = text;
    } catch (...) {
      why = "an exception of unknown type";
    }
  }
  Say(program_name);
  Say(resources ? ": error: " : ": uncaught exception: ");
  Say(why);
  Say("\n");
  if (resources) _exit(1);
  std::abort();
}

}  // namespace

void ExplainUncaughtExceptions(const char* program) {
  program_name = program;
  std::set_terminate(OnTerminate);
}

}  // namespace berth::util
