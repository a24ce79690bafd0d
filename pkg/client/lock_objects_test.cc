#include "pkg/client/lock_objects.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>

#include "pkg/api/json.h"
#include "pkg/client/fake_api.h"
#include "pkg/client/manual_executor.h"

namespace berth::client {
namespace {

constexpr char kEndpointsPath[] = "/api/v1/namespaces/kube-system/endpoints";
constexpr char kLeasesPath[] = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

// The lock objects of several kinds on a server in memory, and candidates that share a manual clock.
struct LocksWorld {
  struct Candidate {
    Candidate(LocksWorld* w, const std::string& id, const std::string& type) {
      LeaderElectionOptions o;
      o.identity = id;
      o.lock_type = type;
      elector = std::make_unique<LeaderElector>(&w->executor, &api, nullptr, o, LeaderElectorCallbacks());
    }
    FakeApi api;
    std::unique_ptr<LeaderElector> elector;
  };

  Candidate* Add(const std::string& id, const std::string& type) {
    all.push_back(std::make_unique<Candidate>(this, id, type));
    all.back()->elector->Start();
    Serve(all.back()->api);
    return all.back().get();
  }

  void Serve(FakeApi& api) {
    for (size_t i = 0; i < api.calls.size(); ++i) {
      auto call = api.calls[i];
      if (call->over) continue;
      const Request& r = call->request;
      const bool post = r.method == Method::kPost;
      const std::string path = post ? r.target : r.target.substr(0, r.target.rfind('/'));
      absl::StrAppend(&requests, std::string(MethodName(r.method)), path == kLeasesPath ? " lease, " : " endpoints, ");
      std::string& object = objects[path];
      if (r.method == Method::kGet) {
        api.Answer(object.empty() ? 404 : 200, object.empty() ? "{}" : object, call);
      } else if (post && !object.empty()) {
        api.Answer(409, R"({"kind":"Status","reason":"AlreadyExists","message":"there is one","code":409})", call);
      } else {
        object = r.body;
        api.Answer(200, object, call);
      }
    }
  }

  void Pass(absl::Duration d) {
    for (absl::Duration t; t < d; t += absl::Milliseconds(100)) {
      executor.Advance(absl::Milliseconds(100));
      int leaders = 0;
      for (auto& c : all) Serve(c->api);
      for (auto& c : all) leaders += c->elector->IsLeader();
      CHECK(leaders <= 1);
    }
  }

  ManualExecutor executor;
  std::map<std::string, std::string> objects;
  std::string requests;
  std::vector<std::unique_ptr<Candidate>> all;
};

}  // namespace

TEST_CASE("a lock of two objects is written and renewed as release 1.19 does") {
  LocksWorld w;
  auto* one = w.Add("one", "endpointsleases");
  CHECK(w.requests == "GET endpoints, POST endpoints, POST lease, ");
  CHECK(one->elector->IsLeader());
  CHECK(ReadLock("endpoints", w.objects[kEndpointsPath])->record.holder == "one");
  CHECK(ReadLock("leases", w.objects[kLeasesPath])->record.holder == "one");
  w.requests.clear();
  w.Pass(absl::Milliseconds(2100));
  CHECK(w.requests == "GET endpoints, GET lease, PUT endpoints, GET lease, PUT lease, ");
}

TEST_CASE("a scheduler that knows one of the two objects keeps the others out, and they keep it out") {
  for (const char* type : {"endpoints", "leases"}) {
    INFO(type);
    LocksWorld w;
    auto* one = w.Add("one", type);
    CHECK(one->elector->IsLeader());
    auto* two = w.Add("two", "endpointsleases");
    w.Pass(absl::Seconds(60));
    CHECK(one->elector->IsLeader());
    CHECK_FALSE(two->elector->IsLeader());
    w.all.erase(w.all.begin());  // "one" ends without releasing the lock
    w.Pass(absl::Seconds(25));
    CHECK(two->elector->IsLeader());
    auto* three = w.Add("three", type);
    w.Pass(absl::Seconds(60));
    CHECK(two->elector->IsLeader());
    CHECK_FALSE(three->elector->IsLeader());
  }
}

TEST_CASE("locks of five kinds exist") {
  for (const char* type : {"endpoints", "configmaps", "leases", "endpointsleases", "configmapsleases"}) {
    CHECK(CheckLockType(type).ok());
  }
  CHECK(CheckLockType("leasesendpoints").message() ==
        "couldn't create resource lock: Invalid lock-type leasesendpoints");
}

}  // namespace berth::client
