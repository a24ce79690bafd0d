// All programs in one file, for packages. The programs share nearly all of their code, so one file has hardly half the
// size of three. Like busybox it runs the program by whose name it was started; packages have a link for each name.
//
// The build renames the main function of each program to NAME_main before it links them together.
#include <iostream>
#include <string_view>

extern "C" {
int kube_scheduler_main(int argc, char** argv);
int schedsim_main(int argc, char** argv);
int hollow_apiserver_main(int argc, char** argv);
}

namespace {

using Main = int (*)(int argc, char** argv);

// Returns the program with this name, which may be a path, or null.
Main FindProgram(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (name == "kube-scheduler") return kube_scheduler_main;
  if (name == "schedsim") return schedsim_main;
  if (name == "hollow-apiserver") return hollow_apiserver_main;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0) {
    if (Main program = FindProgram(argv[0])) return program(argc, argv);
  }
  if (argc > 1) {
    if (Main program = FindProgram(argv[1])) return program(argc - 1, argv + 1);
  }
  std::cerr << "berth: this file is several programs; start it by a link with the name of one of them, or name one:\n"
               "usage: berth kube-scheduler|schedsim|hollow-apiserver [ARGUMENT...]\n";
  return 2;
}
