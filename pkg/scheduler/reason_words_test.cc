// Reasons in the words of releases that have names of predicates for them.
#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_8/decides.h"
#include "pkg/releases/v1_9/decides.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/failure_reasons.h"

namespace berth::scheduler {

// No rule gives this reason here, because a node is always known with its pods.
TEST_CASE("reasons: a node that is listed and not known has the same name in 1.8 and 1.9") {
  const Symbol unknown = reasons::kNodeUnknownCondition.text;
  CHECK(unknown.str() == "node(s) had unknown conditions");
  for (const Release* r : {&releases::v1_8::Decides(), &releases::v1_9::Decides()}) {
    CHECK(r->reason_word(unknown).str() == "NodeUnknownCondition");
    FailureReason named = reasons::kNodeUnknownCondition;
    named.text = r->reason_word(unknown);
    CHECK(FailureReasonText(FailureReasonOf(named)) == "NodeUnknownCondition");
    // 1.8 tries evictions against what volumes say; against this reason no release does.
    CHECK(std::find(r->resolvable_texts.begin(), r->resolvable_texts.end(), "NodeUnknownCondition") ==
          r->resolvable_texts.end());
    CHECK(named.unresolvable);
  }
  CHECK(releases::v1_10::Decides().reason_word == nullptr);
}

}  // namespace berth::scheduler
