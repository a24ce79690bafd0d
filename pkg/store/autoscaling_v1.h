// Converts HorizontalPodAutoscalers between autoscaling/v2, in which they are stored since 1.25, and autoscaling/v1,
// which kubectl autoscale writes. In v1 the only target is the use of cpu. Other targets are kept in an annotation of
// this server, and the behavior in that of Kubernetes.
#pragma once
#include "pkg/store/api_types.h"

namespace berth::apiserver {

// Convert an autoscaler from v2 and to v2.
Value ToAutoscalingV1(const Value& autoscaler);
Value FromAutoscalingV1(const Value& autoscaler);

}  // namespace berth::apiserver
