// The nodes that a pod fits, found by calling its predicates, and the reasons why it does not fit the others.
//
// Thread-safety: none; used on the thread of its Cache.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/combinations.h"
#include "pkg/scheduler/core/decision.h"
#include "pkg/scheduler/core/nominated_rows.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

// The configured predicates prepared for one pod, in the order of evaluation.
struct Checks {
  std::vector<std::unique_ptr<FitCheck>> list;
  std::vector<const ConfiguredPredicate*> rules;  // rules[i] is the predicate of list[i]
  RowSet only;                                    // if `names_nodes`, the only rows that can fit (PreFilterResult)
  bool names_nodes = false;
  const api::Pod* pod = nullptr;  // the pod that they were prepared for
};

// The errors of rules on rows, counted by their texts.
class Errors {
 public:
  struct OfText {
    int64_t rows = 0;
    Symbol kind;  // of the first that was added
  };
  bool empty() const { return by_text_.empty(); }
  const std::map<std::string, OfText>& by_text() const { return by_text_; }
  void Add(const RuleError& error, int64_t rows = 1) {
    OfText& of = by_text_[error.text];
    if (of.rows == 0) of.kind = error.kind;
    of.rows += rows;
  }

 private:
  std::map<std::string, OfText> by_text_;
};

// Why a row does not fit.
struct Why {
  std::vector<FailureReason> reasons;
  size_t check = 0;  // index in Checks::list of the first check that failed
  // If all checks were evaluated: those that failed, each with whether evictions cannot help against it.
  std::vector<std::pair<size_t, bool>> all;
  RuleError error;  // for Verdict::kError
};

// The result of evaluating the predicates. Each row that was evaluated is in exactly one of the lists, or counted in
// `errors`. If all checks were to be evaluated and some report errors, the other rows may be left out.
struct Filtered {
  std::vector<Row> feasible;
  struct Failed {
    Failed() {}  // Initialises nothing, because lists are first resized and then filled.
    Failed(Row r, uint32_t c, uint32_t n, bool b) : row(r), check(c), number(n), beside(b) {}
    Row row;
    uint32_t check;  // index in Checks::list of the first check that failed
    // Of its reasons (ColumnCheck::NumberReasons), or 0 when the check does not number them. If all checks were
    // evaluated, the place of the row's combination in `combinations`.
    uint32_t number;
    bool beside;  // whether nominated pods were added to the row when the check failed
  };
  std::vector<Failed> failed;
  Combinations combinations;                   // of the rows in `failed`, if all checks were evaluated
  std::vector<std::pair<Row, Why>> explained;  // rows that failed and were evaluated one by one
  Errors errors;
  size_t evaluated = 0;  // number of rows of a sample, otherwise 0
};

class Filtering {
 public:
  // `nominated` may be null: no nominated pods count. All pointers must outlive the filter.
  Filtering(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated);

  // Prepares all predicates for the pod, or those that can reject it.
  Checks Prepare(const PodContext& ctx);
  Checks PrepareActive(const PodContext& ctx);
  // Returns true and fills in the decision, and the trace if it is not null, when a rule rejects the pod, or reports an
  // error, before any node is looked at.
  bool RejectPod(Checks& checks, Decision* d, DecisionTrace* trace);
  // Returns whether RejectPod has rejected a pod since the last call of Begin.
  bool rejected_pod() const { return rejected_pod_; }
  void Begin() { rejected_pod_ = false; }

  // Finds the nominated pods that count for the pod, for All and DropUnfit. Returns whether there are any.
  bool FindNominated(const api::Pod& pod);
  bool any_nominated() const { return !beside_.empty(); }

  // Filters all listed nodes, or a sample of them in the order of the sampler, which is that of the result.
  Filtered All(const api::PodPtr& pod, Checks& checks);
  Filtered Sample(const api::PodPtr& pod, Checks& checks) const;
  // Erases the rows that the pod does not fit when their nominated pods are added. Returns false when a check has an
  // error to report. To be called after FindNominated for the pod, with rows that it fits without nominated pods.
  bool DropUnfit(const api::PodPtr& pod, RowSet* rows);
  // Evaluates the checks for one row, up to the first that fails or, with `check_all`, up to the end. `why` may be
  // null. The second form also counts the pods that are nominated to the node.
  Verdict CheckRow(Checks& checks, Row row, bool check_all, Why* why) const;
  Verdict CheckRowWithNominated(const api::Pod& pod, Checks& checks, Row row, bool check_all, Why* why) const;

  // Builds the failures of all rows that do not fit.
  std::shared_ptr<NodeFailures> Explain(const api::Pod& pod, Checks& checks, const Filtered& filtered,
                                        DecisionTrace* trace) const;
  // Returns the error of the attempt. Where it joins several, its kind is that of the first. REQUIRES: there are some.
  RuleError ErrorOf(const Errors& errors) const;
  // Puts the reasons from index `first` on into the words of the release.
  void InWordsOfRelease(size_t first, std::vector<FailureReason>* reasons) const;

  // Returns whether pods are nominated to the node that count for this one: those with at least its priority.
  bool HasNominated(const api::Pod& pod, Symbol node) const;
  // Returns whether check i gives the same result for a row with nominated pods on it as for the row with their amounts
  // added, provided that these pods have no affinity terms.
  bool AmountsDecide(const Checks& checks, size_t i) const;

 private:
  Symbol RuleOf(const Checks& checks, size_t check) const;
  void AppendReasons(const Checks& checks, size_t check, Row row, std::vector<FailureReason>* reasons) const;
  RuleError ErrorOfCheck(const Checks& checks, size_t check, Row row) const;
  void AddByCheck(const api::Pod& pod, const Checks& checks, const Filtered& filtered, NodeFailures* failures) const;
  void AddByCombination(const Checks& checks, const Filtered& filtered, NodeFailures* failures) const;
  void Trace(const Checks& checks, const Filtered& filtered, DecisionTrace* trace) const;
  void FilterColumns(Checks& checks, RowSet* candidates, Filtered* out) const;
  // Adds the errors that the check reports for these rows to `out`, and clears the rows.
  void MoveErrors(const Checks& checks, size_t check, RowSet* rows, Errors* out) const;
  void FilterColumnsByAll(Checks& checks, RowSet* candidates, Filtered* out) const;
  static void EnterFailed(const std::vector<Row>& rows, FailedChecks* checks, RowSet* candidates, Filtered* out);
  void FilterNominated(const api::Pod& pod, Checks& checks, RowSet* candidates, Filtered* out) const;
  void FilterRow(const api::Pod& pod, Checks& checks, Row row, RowSet* candidates, Filtered* out) const;
  void AddNominated(const api::Pod& pod, Row row, Cache::Simulation* simulation) const;

  Cache* const cache_;
  const AlgorithmConfig* const config_;
  const NominatedPods* const nominated_;
  std::vector<Symbol> rule_names_;  // of config_->predicates
  NominatedRows nominated_rows_;
  std::vector<NominatedRows::Found> beside_;  // what FindNominated found last
  bool rejected_pod_ = false;
};

}  // namespace berth::scheduler
