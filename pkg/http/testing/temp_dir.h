// A directory for one test, deleted at its end.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace berth::http {

class TempDir {
 public:
  TempDir() {
    std::string form = (std::filesystem::temp_directory_path() / "berth-XXXXXX").string();
    path_ = mkdtemp(form.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
    return path(name);
  }

 private:
  std::string path_;
};

}  // namespace berth::http
