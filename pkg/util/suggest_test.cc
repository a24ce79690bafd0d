#include "pkg/util/suggest.h"

namespace berth::util {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("The edit distance counts inserted, removed, replaced and swapped letters") {
  CHECK(EditDistance("", "") == 0);
  CHECK(EditDistance("", "abc") == 3);
  CHECK(EditDistance("filter", "filters") == 1);
  CHECK(EditDistance("filters", "filter") == 1);
  CHECK(EditDistance("score", "scare") == 1);
  CHECK(EditDistance("score", "socre") == 1);
  CHECK(EditDistance("Score", "sCORE") == 0);
  CHECK(EditDistance("kitten", "sitting") == 3);
}

TEST_CASE("A mistyped name gets the nearest known one") {
  const Names names = {"PodFitsHostPorts", "PodFitsResources", "HostName", "LeastRequestedPriority"};
  CHECK(DidYouMean("PodFitResources", names) == "did you mean \"PodFitsResources\"?");
  CHECK(DidYouMean("podfitsresources", names) == "did you mean \"PodFitsResources\"?");
  CHECK(DidYouMean("Hostname", names) == "did you mean \"HostName\"?");
  CHECK(SuggestionFor("HostNmae", names) == " (did you mean \"HostName\"?)");
}

TEST_CASE("A name without its ending, or with one too many, is recognised") {
  CHECK(DidYouMean("LeastRequested", Names{"MostRequestedPriority", "LeastRequestedPriority"}) ==
        "did you mean \"LeastRequestedPriority\"?");
  CHECK(DidYouMean("ImageLocalityPriority", Names{"ImageLocality", "NodePorts"}) == "did you mean \"ImageLocality\"?");
}

TEST_CASE("Nothing is suggested for what resembles no name") {
  const Names names = {"PodFitsHostPorts", "PodFitsResources", "HostName"};
  CHECK(DidYouMean("Nope", names).empty());
  CHECK(SuggestionFor("Nope", names).empty());
  CHECK(DidYouMean("", names).empty());
  CHECK(DidYouMean("x", names).empty());
  CHECK(DidYouMean("Pod", names).empty());  // too short for a prefix
  CHECK(DidYouMean(std::string(100000, 'a'), names).empty());
}

TEST_CASE("Of equally near names the first is suggested") {
  CHECK(DidYouMean("scope", Names{"score", "scopes"}) == "did you mean \"score\"?");
}

}  // namespace
}  // namespace berth::util
