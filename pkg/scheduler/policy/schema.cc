#include "pkg/scheduler/policy/schema.h"

#include <functional>
#include <string_view>

#include "pkg/api/json_writer.h"
#include "pkg/release/history.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {
namespace {

using api::JsonWriter;
using Members = std::function<void()>;

// Writes the schema from top to bottom. Each function writes members into the object that is open.
class PolicySchemaWriter {
 public:
  explicit PolicySchemaWriter(release::Version release) : release_(release) {}

  std::string Write(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities) {
    out_.Object().Member("$schema", "http://json-schema.org/draft-07/schema#").Member("title", "Policy of v1");
    Object({}, [&] {
      Described("kind", "Policy.", [&] { out_.Member("const", "Policy"); });
      Described("apiVersion", "v1.", [&] { out_.Member("const", "v1"); });
      Described("metadata", "Accepted.", [&] { out_.Member("type", "object"); });
      Described("predicates", "The predicates that run; those of DefaultProvider when absent.",
                [&] { List([&] { Predicate(predicates); }); });
      Described("priorities", "The priorities that run; those of DefaultProvider when absent.",
                [&] { List([&] { Priority(priorities); }); });
      Described("extenders", "Webhooks that take part in decisions.", [&] { List([&] { Extender(); }); });
      Described("hardPodAffinitySymmetricWeight",
                "Weight of placed pods' required affinity, 1 to 100; 0: the flag's value.", [&] { Integer(0, 100); });
      Described("alwaysCheckAllPredicates",
                "Whether the remaining predicates are called for a node after one has rejected it.",
                [&] { Type("boolean"); });
    });
    out_.End();
    return out_.Finish();
  }

 private:
  void Type(const char* type) { out_.Member("type", type); }
  void Integer(int64_t least, int64_t most) {
    Type("integer");
    out_.Member("minimum", least).Member("maximum", most);
  }
  void Object(const std::vector<std::string>& required, const Members& members, bool open = false) {
    Type("object");
    if (!open) out_.Member("additionalProperties", false);
    if (!required.empty()) out_.Key("required").Texts(required);
    out_.Key("properties").Object();
    members();
    out_.End();
  }
  void List(const Members& items) {
    Type("array");
    out_.Key("items").Object();
    items();
    out_.End();
  }
  void Described(std::string_view name, std::string_view what, const Members& schema) {
    out_.Key(name).Object().Member("description", what);
    schema();
    out_.End();
  }
  void Texts() {
    List([&] { Type("string"); });
  }
  // Writes a condition: an entry without an argument must have one of these names.
  void KnownUnlessArgument(const std::vector<std::string>& names) {
    out_.Key("if").Object().Key("not").Object().Key("required").Texts({"argument"}).End().End();
    out_.Key("then").Object().Key("properties").Object().Key("name").Object().Key("enum").Texts(names);
    out_.End().End().End();
  }
  void OneMember() { out_.Member("minProperties", int64_t{1}).Member("maxProperties", int64_t{1}); }

  void Predicate(const std::vector<std::string>& names) {
    Object({"name"}, [&] {
      Described("name", "A registered predicate, or a new name with an argument.", [&] { Type("string"); });
      Described("argument", "Makes a new predicate.", [&] {
        Object(
            {},
            [&] {
              Described("serviceAffinity", "Pods of a service go to nodes with equal values of these labels.",
                        [&] { Object({"labels"}, [&] { Described("labels", "The labels.", [&] { Texts(); }); }); });
              Described("labelsPresence", "Nodes must have, or must not have, all of these labels.", [&] {
                Object({"labels"}, [&] {
                  Described("labels", "The labels.", [&] { Texts(); });
                  Described("presence", "Whether they must be there.", [&] { Type("boolean"); });
                });
              });
            },
            /*open=*/true);  // plugins have arguments of their own
        OneMember();
      });
    });
    KnownUnlessArgument(names);
  }

  void Priority(const std::vector<std::string>& names) {
    Object({"name", "weight"}, [&] {
      Described("name", "A registered priority, or a new name with an argument.", [&] { Type("string"); });
      Described("weight", "How much its scores count, 1 and up.", [&] { Integer(1, 922337203685477579); });
      Described("argument", "Makes a new priority.", [&] {
        Object(
            {},
            [&] {
              Described("serviceAntiAffinity", "Pods of a service spread over the values of this label.",
                        [&] { Object({"label"}, [&] { Described("label", "The label.", [&] { Type("string"); }); }); });
              if (release::history::kRatioArguments.Has(release_)) Ratio();
              Described("labelPreference", "Nodes that have, or do not have, this label are better.", [&] {
                Object({"label"}, [&] {
                  Described("label", "The label.", [&] { Type("string"); });
                  Described("presence", "Whether nodes with it are better.", [&] { Type("boolean"); });
                });
              });
            },
            /*open=*/true);  // plugins have arguments of their own
        OneMember();
      });
    });
    KnownUnlessArgument(names);
  }

  void Ratio() {
    Described("requestedToCapacityRatioArguments", "Nodes are scored by what is requested of them.", [&] {
      Object({"shape"}, [&] {
        Described("shape", "The points of the scoring function, by increasing utilization.", [&] {
          List([&] {
            Object({}, [&] {
              Described("utilization", "Percent of the node that is requested.", [&] { Integer(0, 100); });
              Described("score", "The score at this utilization.", [&] { Integer(0, 10); });
            });
          });
          out_.Member("minItems", int64_t{1});
        });
        Described("resources", "The resources that count; cpu and memory when absent.", [&] {
          List([&] {
            Object({"name"}, [&] {
              Described("name", "The resource.", [&] { Type("string"); });
              Described("weight", "How much it counts; 0 and absent mean 1.", [&] { Integer(0, 100); });
            });
          });
        });
      });
    });
  }

  void Extender() {
    auto text = [&](std::string_view name, std::string_view what) { Described(name, what, [&] { Type("string"); }); };
    auto flag = [&](std::string_view name, std::string_view what) { Described(name, what, [&] { Type("boolean"); }); };
    Object({"urlPrefix"}, [&] {
      text("urlPrefix", "Where the extender is called.");
      text("filterVerb", "Appended to urlPrefix for filtering; empty: it does not filter.");
      text("prioritizeVerb", "The same for scoring.");
      text("bindVerb", "The same for binding; one extender at most.");
      text("BindVerb", "An older spelling of bindVerb.");
      const std::string ignored =
          absl::StrCat("ignored before release ", release::NameOf(release::history::kExtenderFailures.since), ".");
      text("preemptVerb", absl::StrCat("The same for preemption; ", ignored));
      flag("ignorable", absl::StrCat("Whether pods are scheduled without it when it fails; ", ignored));
      Described("weight", "How much its scores count, 1 and up.", [&] { Integer(0, 922337203685477579); });
      flag("enableHttps", "Whether it is called by HTTPS.");
      Described("httpTimeout", "How long a call may take, in nanoseconds; 5 seconds when absent.",
                [&] { Type("integer"); });
      flag("nodeCacheCapable", "Whether it needs only the names of nodes.");
      Described("tlsConfig", "Certificates for HTTPS.", [&] { Tls(); });
      Described("managedResources", "The extended resources that it manages; empty: it is called for every pod.", [&] {
        List([&] {
          Object({"name"}, [&] {
            text("name", "The extended resource.");
            flag("ignoredByScheduler", "Whether PodFitsResources ignores it.");
          });
        });
      });
    });
  }

  // The members of tlsConfig have Go's capitalised names in release 1.10 and begin with a small letter in later ones.
  void Tls() {
    Object({}, [&] {
      for (const char* name : {"Insecure", "insecure"}) {
        Described(name, "Whether the server's certificate is taken unchecked.", [&] { Type("boolean"); });
      }
      for (const char* name : {"ServerName", "CertFile", "KeyFile", "CAFile", "CertData", "KeyData", "CAData",
                               "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"}) {
        Described(name, "A name, the path of a PEM file, or PEM in base64.", [&] { Type("string"); });
      }
    });
  }

  const release::Version release_;
  JsonWriter out_{JsonWriter::Layout::kIndented};
};

}  // namespace

std::string PolicySchema(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities,
                         release::Version release) {
  return PolicySchemaWriter(release).Write(predicates, priorities);
}

}  // namespace berth::scheduler
