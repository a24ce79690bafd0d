// The part of the command capacity that says how many nodes are missing (--add-node).
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <vector>

#include "cmd/schedsim/command.h"
#include "pkg/api/json_writer.h"
#include "pkg/explain/page.h"
#include "pkg/lab/capacity.h"
#include "pkg/lab/picture.h"

namespace berth::schedsim {

// Returns an error if the values of --add-node are not TEMPLATE or TEMPLATE=PRICE.
absl::Status CheckOffers(const Invocation& options);

// Answers for the pending pods of the scenario and --replicas of `pods`, on the page for people and as JSON otherwise.
// `picture` gets the answer as bars.
absl::Status AnswerNodes(const Invocation& options, const lab::Scenario& scenario,
                         const std::vector<lab::PodShare>& pods, const std::function<void(size_t)>& step,
                         explain::Page* page, api::JsonWriter* data, std::vector<lab::BarGroup>* picture);

}  // namespace berth::schedsim
