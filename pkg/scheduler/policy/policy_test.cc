// Tests reading and validating Policies.
#include <catch2/catch.hpp>

#include "pkg/scheduler/policy/decode.h"
#include "pkg/scheduler/policy/validation.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using testing::Quoted;
using Strings = std::vector<std::string>;

Policy Read(std::string_view text, Strings* warnings = nullptr) {
  DecodedPolicy p = DecodeWholePolicy(std::string_view(Quoted(text)));
  REQUIRE(p.errors.empty());
  if (warnings != nullptr) *warnings = p.warnings;
  return p.policy;
}
std::string Mistake(std::string_view text) {
  auto p = DecodePolicy(std::string_view(Quoted(text)));
  return p.ok() ? "none" : util::Message(p.status());
}
std::string Problems(std::string_view text) {
  std::string out;
  for (const std::string& p : ValidatePolicy(Read(text))) out += (out.empty() ? "" : "; ") + p;
  return out;
}

}  // namespace

TEST_CASE("a Policy with every field") {
  Policy p = Read(R"({'kind':'Policy','apiVersion':'v1',
    'predicates':[{'name':'A'},{'name':'B','argument':{'serviceAffinity':{'labels':['x','y']}}},
                  {'name':'C','argument':{'labelsPresence':{'labels':['z'],'presence':true}}}],
    'priorities':[{'name':'D','weight':3},{'name':'E','weight':1,'argument':{'serviceAntiAffinity':{'label':'l'}}},
                  {'name':'F','weight':2,'argument':{'labelPreference':{'label':'m','presence':true}}}],
    'extenders':[{'urlPrefix':'http://x/','filterVerb':'f','prioritizeVerb':'p','weight':5,'BindVerb':'b','enableHttps':true,
      'tlsConfig':{'Insecure':true,'ServerName':'s','CertFile':'c','KeyFile':'k','CAFile':'a','CertData':'Y2VydA==',
                   'KeyData':'a2V5','CAData':'Y2E='},
      'httpTimeout':100000000,'nodeCacheCapable':true,'managedResources':[{'name':'example.com/x','ignoredByScheduler':true}]}],
    'hardPodAffinitySymmetricWeight':7,'alwaysCheckAllPredicates':true})");
  REQUIRE(p.predicates->size() == 3);
  CHECK(!(*p.predicates)[0].argument);
  CHECK((*p.predicates)[1].argument->service_affinity->labels == Strings{"x", "y"});
  CHECK((*p.predicates)[2].argument->labels_presence->labels == Strings{"z"});
  CHECK((*p.predicates)[2].argument->labels_presence->presence);
  REQUIRE(p.priorities->size() == 3);
  CHECK((*p.priorities)[0].weight == 3);
  CHECK((*p.priorities)[1].argument->service_anti_affinity->label == "l");
  CHECK((*p.priorities)[2].argument->label_preference->presence);
  const ExtenderConfig& e = p.extenders.at(0);
  CHECK(e.url_prefix == "http://x/");
  CHECK(e.filter_verb == "f");
  CHECK(e.prioritize_verb == "p");
  CHECK(e.bind_verb == "b");
  CHECK(e.weight == 5);
  CHECK(e.enable_https);
  CHECK(e.tls->insecure);
  CHECK(e.tls->server_name == "s");
  CHECK(e.tls->cert_file == "c");
  CHECK(e.tls->key_file == "k");
  CHECK(e.tls->ca_file == "a");
  CHECK(e.tls->cert_data == "cert");
  CHECK(e.tls->key_data == "key");
  CHECK(e.tls->ca_data == "ca");
  CHECK(e.http_timeout_nanos == 100000000);
  CHECK(e.node_cache_capable);
  CHECK(e.managed_resources.at(0).name == "example.com/x");
  CHECK(e.managed_resources.at(0).ignored_by_scheduler);
  CHECK(p.hard_pod_affinity_symmetric_weight == 7);
  CHECK(p.always_check_all_predicates);
}

TEST_CASE("absent and null lists are the provider's, empty ones are empty") {
  CHECK(!Read("{}").predicates);
  CHECK(!Read("{'predicates':null,'priorities':null,'extenders':null}").priorities);
  CHECK(Read("{'predicates':[]}").predicates->empty());
  CHECK(Read("{'priorities':[]}").priorities->empty());
}

TEST_CASE("keys in any case, with a warning; unknown ones too") {
  Strings warnings;
  Policy p =
      Read("{'PREDICATES':[{'Name':'A'}],'extenders':[{'bindVerb':'b','URLPREFIX':'u'}],'whatever':1}", &warnings);
  CHECK(p.predicates->at(0).name == "A");
  CHECK(p.extenders.at(0).bind_verb == "b");
  CHECK(p.extenders.at(0).url_prefix == "u");
  std::string all;
  for (const std::string& w : warnings) all += w + "\n";
  INFO(all);
  CHECK(all.find("whatever: unknown field, ignored") != std::string::npos);
  CHECK(all.find("PREDICATES: later releases know this only as \"predicates\"") != std::string::npos);
  CHECK(all.find("line 1, column ") == 0);
  warnings.clear();
  Read("{'predicates':[{'name':'A'}]}", &warnings);
  CHECK(warnings.empty());
}

TEST_CASE("of duplicate keys the last counts, and it is said") {
  Strings warnings;
  Policy p = Read(
      "{'hardPodAffinitySymmetricWeight':1,'hardPodAffinitySymmetricWeight':2,'predicates':[{'name':'A'}],'predicates':"
      "[]}",
      &warnings);
  CHECK(p.hard_pod_affinity_symmetric_weight == 2);
  CHECK(p.predicates->empty());
  CHECK(warnings.size() == 2);
  CHECK(warnings[0].find("given more than once") != std::string::npos);
}

TEST_CASE("wrong types name line, column, path and value") {
  CHECK(Mistake("{'predicates':5}").find("line 1, column 15: predicates: 5: must be a list") != std::string::npos);
  CHECK(Mistake("{\n  'priorities': [{'name':'A','weight':'3'}]}")
            .find("line 2, column 39: priorities[0].weight: \"3\": must be a whole number") != std::string::npos);
  CHECK(Mistake("{'priorities':[{'weight':1.5}]}").find("priorities[0].weight: 1.5: must be a whole number") !=
        std::string::npos);
  CHECK(Mistake("{'alwaysCheckAllPredicates':'yes'}").find("must be true or false") != std::string::npos);
  CHECK(Mistake("{'predicates':[{'name':1}]}").find("predicates[0].name: 1: must be a string") != std::string::npos);
  CHECK(Mistake("{'predicates':[{'name':'A','argument':{'serviceAffinity':{'labels':[1]}}}]}")
            .find("predicates[0].argument.serviceAffinity.labels[0]: 1") != std::string::npos);
  CHECK(Mistake("{'extenders':[{'httpTimeout':'5s'}]}").find("extenders[0].httpTimeout: \"5s\"") != std::string::npos);
  CHECK(Mistake("{'extenders':[{'tlsConfig':{'CAData':'?'}}]}").find("base64") != std::string::npos);
  CHECK(Mistake("[]").find("a Policy is a JSON object") != std::string::npos);
  CHECK(Mistake("{'kind':'Foo'}") == "no kind \"Foo\" is registered for version \"v1\"");
  CHECK(Mistake("{'apiVersion':'v2'}") == "no kind \"Policy\" is registered for version \"v2\"");
  CHECK(Mistake("{'kind':'Policy','apiVersion':'v1'}") == "none");
  for (const char* broken : {"", "{", "{'predicates':[}", "{} x", "predicates: []"}) {
    INFO(broken);
    CHECK(Mistake(broken) != "none");
  }
}

TEST_CASE("what could be read of a Policy with mistakes remains, and mistakes cause no others") {
  DecodedPolicy p = DecodeWholePolicy(std::string_view(
      Quoted("{'predicates':[{'name':'A','argument':7},{'name':'B'}],'priorities':[{'name':'C','weight':'3'}],"
             "'extenders':[{'urlPrefix':'u','prioritizeVerb':'p','weight':'x','httpTimeout':'5s'}]}")));
  CHECK(p.errors.size() == 4);
  REQUIRE(p.policy.predicates->size() == 2);
  CHECK(p.policy.predicates->at(0).name == "A");
  CHECK(p.policy.predicates->at(1).name == "B");
  CHECK(p.policy.priorities->at(0).name == "C");
  CHECK(p.policy.priorities->at(0).weight == 1);
  CHECK(p.policy.extenders.at(0).url_prefix == "u");
  CHECK(p.policy.extenders.at(0).weight == 1);
}

TEST_CASE("requestedToCapacityRatioArguments, and arguments as they stand in the file") {
  auto one = [](const char* argument) {
    return testing::Cat("{'priorities':[{'name':'A','weight':1,'argument':", argument, "}]}");
  };
  Policy p =
      Read(one("{'requestedToCapacityRatioArguments':{'shape':[{'utilization':0,'score':1},{'utilization':100,"
               "'score':10}],'resources':[{'name':'cpu','weight':3},{'name':'memory'}]}}"));
  const auto& a = p.priorities->at(0).argument->requested_to_capacity_ratio;
  REQUIRE(a);
  CHECK(a->shape.at(1).utilization == 100);
  CHECK(a->shape.at(0).score == 1);
  CHECK(a->resources.at(0).weight == 3);
  CHECK(a->resources.at(1).weight == 1);
  CHECK(Read("{'predicates':[{'name':'A','argument':{'mine':[1,2]}}]}").predicates->at(0).argument->json ==
        "{\"mine\":[1,2]}");
  CHECK(Problems(one("{'requestedToCapacityRatioArguments':{}}")) ==
        "invalid RequestedToCapacityRatioPriority arguments: at least one point must be specified");
  CHECK(Problems(one("{'requestedToCapacityRatioArguments':{'shape':[{'utilization':50,'score':11},{'utilization':50}],"
                     "'resources':[{'name':'cpu','weight':101}]}}")) ==
        "invalid RequestedToCapacityRatioPriority arguments: utilization values must be sorted. Utilization[0]==50 >= "
        "Utilization[1]==50; "
        "Priority A: requestedToCapacityRatioArguments.resources[0].weight: Invalid value: 101: resource weight of cpu "
        "not in valid range (0, 100]");
}

TEST_CASE("requestedToCapacityRatioArguments are a member that older releases do not know") {
  const std::string text = Quoted(
      "{'priorities':[{'name':'A','weight':1,'argument':{'requestedToCapacityRatioArguments':{'shape':[{}]}}}]}");
  const auto read = [&](release::Version v) { return DecodeWholePolicy(std::string_view(text), v); };
  CHECK(read({12}).policy.priorities->at(0).argument->requested_to_capacity_ratio);
  CHECK(read({12}).warnings.empty());
  const DecodedPolicy older = read({11});
  CHECK(older.errors.empty());
  CHECK_FALSE(older.policy.priorities->at(0).argument->requested_to_capacity_ratio);
  CHECK(
      older.warnings ==
      Strings{"line 1, column 87: priorities[0].argument.requestedToCapacityRatioArguments: a field of 1.12 or later, "
              "ignored"});
}

TEST_CASE("the shape of requestedToCapacityRatioArguments is refused in the words of the release") {
  const auto why = [](const char* point) {
    const std::string all = Problems(testing::Cat(
        "{'priorities':[{'name':'A','weight':1,'argument':{'requestedToCapacityRatioArguments':{'shape':[{", point,
        "}]}}}]}"));
    const std::string prefix = "invalid RequestedToCapacityRatioPriority arguments: ";
    return all.starts_with(prefix) ? all.substr(prefix.size()) : all;
  };
  CHECK(why("'utilization':-1,'score':1") == "utilization values must not be less than 0. Utilization[0]==-1");
  CHECK(why("'utilization':101,'score':1") == "utilization values must not be greater than 100. Utilization[0]==101");
  CHECK(why("'utilization':1,'score':-1") == "score values must not be less than 0. Score[0]==-1");
  CHECK(why("'utilization':1,'score':11") == "score valuses not be greater than 10. Score[0]==11");
}

TEST_CASE("since 1.18 unknown keys are errors, but not those of extenders") {
  const release::Version strict{18};
  const auto error = [&](const char* text, release::Version v) {
    return std::string(DecodePolicy(std::string_view(Quoted(text)), v).status().message());
  };
  CHECK(error("{'predicates':[{'name':'A','nome':1}]}", {17}) == "");
  CHECK(
      error("{'predicates':[{'name':'A','nome':1}]}", strict) ==
      "strict decoder error for the Policy: v1.Policy.Predicates: []v1.PredicatePolicy: v1.PredicatePolicy.ReadObject: "
      "found unknown field: nome, error found in #10 byte of ...|\"A\",\"nome\":1}]}|..., bigger context "
      "...|{\"predicates\":[{\"name\":\"A\",\"nome\":1}]}|... (line 1, column 35: predicates[0].nome; did you mean "
      "\"name\"?)");
  CHECK(
      error("{'Predicates':[]}", strict) ==
      "strict decoder error for the Policy: v1.Policy.ReadObject: found unknown field: Predicates, error found in #10 "
      "byte of ...|redicates\":[]}|..., bigger context ...|{\"Predicates\":[]}|... (line 1, column 15: Predicates; did "
      "you mean \"predicates\"?)");
  CHECK(error("{'predicates':[],'predicates':[]}", {17}) == "");
  CHECK(error("{'predicates':[],\n'predicates':[]}", strict) ==
        "strict decoder error for the Policy: error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key "
        "\"predicates\" already set in map (line 2, column 14: predicates)");
  CHECK(error("{'extenders':[{'urlPrefix':'http://u','nome':1}]}", strict) == "");
}

TEST_CASE("an unknown key that is near a known one gets a suggestion") {
  Strings warnings;
  Read("{'predicate':[]}", &warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("predicate: unknown field, ignored (did you mean \"predicates\"?)") != std::string::npos);
}

TEST_CASE("validation: weights, extenders and managed resources, all at once") {
  CHECK(Problems("{}") == "");
  CHECK(Problems("{'priorities':[{'name':'A','weight':1}]}") == "");
  CHECK(Problems("{'priorities':[{'name':'A'}]}") ==
        "Priority A should have a positive weight applied to it or it has overflown");
  CHECK(Problems("{'priorities':[{'name':'A','weight':922337203685477579}]}") == "");
  CHECK(Problems("{'priorities':[{'name':'A','weight':922337203685477580}]}") ==
        "Priority A should have a positive weight applied to it or it has overflown");
  CHECK(Problems("{'extenders':[{'urlPrefix':'u','prioritizeVerb':'p'}]}") ==
        "Priority for extender u should have a positive weight applied to it");
  CHECK(Problems("{'extenders':[{'urlPrefix':'u','weight':-1}]}") == "");
  CHECK(Problems("{'extenders':[{'bindVerb':'b'},{'bindVerb':'b'},{'bindVerb':''}]}") ==
        "Only one extender can implement bind, found 2");
  auto resources = [](const char* list) {
    return Problems(testing::Cat("{'extenders':[{'managedResources':[", list, "]}]}"));
  };
  CHECK(resources("{'name':'example.com/x'}") == "");
  CHECK(resources("{'name':'cpu'}") == "cpu is an invalid extended resource name");
  CHECK(resources("{'name':'kubernetes.io/x'}") == "kubernetes.io/x is an invalid extended resource name");
  CHECK(resources("{'name':'example.com/x'},{'name':'example.com/x'}") ==
        "Duplicate extender managed resource name example.com/x");
  CHECK(Problems("{'extenders':[{'managedResources':[{'name':'example.com/"
                 "x'}]},{'managedResources':[{'name':'example.com/x'}]}]}") ==
        "Duplicate extender managed resource name example.com/x");
  CHECK(resources("{'name':'a b'}").find("name part must consist of") != std::string::npos);
  CHECK(Problems("{'priorities':[{'name':'A'},{'name':'B','weight':-2}],'extenders':[{'prioritizeVerb':'p'}]}") ==
        "Priority A should have a positive weight applied to it or it has overflown; "
        "Priority B should have a positive weight applied to it or it has overflown; "
        "Priority for extender  should have a positive weight applied to it");
}

}  // namespace berth::scheduler
