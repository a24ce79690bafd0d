// Certificates for tests of TLS.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "pkg/http/testing/temp_dir.h"

namespace berth::http {

// A certificate authority with a server's and a client's certificate, made by openssl once for all tests.
struct Certificates {
  Certificates() {
    Run("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.pem");
    Issue("server", "subjectAltName=DNS:good.example,IP:127.0.0.1");
    Issue("named", "subjectAltName=DNS:good.example");
    Issue("client", "extendedKeyUsage=clientAuth");
    Run("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other-ca -keyout other.key -out other.pem");
  }
  void Issue(const std::string& name, const std::string& extension) {
    dir.Write(name + ".ext", extension + "\n");
    Run("req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + name + ".key -out " + name + ".csr");
    Run("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile " + name +
        ".ext -out " + name + ".pem");
  }
  void Run(const std::string& arguments) const {
    REQUIRE(std::system(("cd " + dir.path() + " && openssl " + arguments + " 2>/dev/null").c_str()) == 0);
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(dir.path(name));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  TempDir dir;
};

inline const Certificates& Certs() {
  static const Certificates certificates;
  return certificates;
}

}  // namespace berth::http
