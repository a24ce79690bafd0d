// The cells of one object in a table of its kind that are not one member, whatever the release, in the order of their
// columns in table.cc.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "pkg/store/object.h"

namespace berth::apiserver {

struct Row {
  Version release;  // for which the cells are
  std::vector<Value> cells;
  void Text(std::string_view s) { cells.push_back(Value::String(s)); }
  void Number(int64_t n) { cells.push_back(Value::Int(n)); }
};

void PodRow(const Value& v, absl::Time now, Row* out);
void NodeRow(const Value& v, absl::Time now, Row* out);
void EventRow(const Value& v, absl::Time now, Row* out);
void RowOfSeries(const Value& v, absl::Time now, Row* out);
void ServiceRow(const Value& v, absl::Time now, Row* out);
void ReplicaRow(const Value& v, absl::Time now, Row* out);
void StatefulSetRow(const Value& v, absl::Time now, Row* out);
void DeploymentRow(const Value& v, absl::Time now, Row* out);
void DaemonSetRow(const Value& v, absl::Time now, Row* out);
void JobRow(const Value& v, absl::Time now, Row* out);
void CronJobRow(const Value& v, absl::Time now, Row* out);
void VolumeRow(const Value& v, absl::Time now, Row* out);
void ClaimRow(const Value& v, absl::Time now, Row* out);
void DeviceClaimRow(const Value& v, absl::Time now, Row* out);
void PriorityClassRow(const Value& v, absl::Time now, Row* out);
void StorageClassRow(const Value& v, absl::Time now, Row* out);
void QuotaRow(const Value& v, absl::Time now, Row* out);
void SecretRow(const Value& v, absl::Time now, Row* out);
void ServiceAccountRow(const Value& v, absl::Time now, Row* out);
void RuntimeClassRow(const Value& v, absl::Time now, Row* out);
void RevisionRow(const Value& v, absl::Time now, Row* out);
void ConfigMapRow(const Value& v, absl::Time now, Row* out);
void EndpointsRow(const Value& v, absl::Time now, Row* out);
void AutoscalerRow(const Value& v, absl::Time now, Row* out);
void EndpointSliceRow(const Value& v, absl::Time now, Row* out);
void IngressRow(const Value& v, absl::Time now, Row* out);
void IngressClassRow(const Value& v, absl::Time now, Row* out);
void NetworkPolicyRow(const Value& v, absl::Time now, Row* out);
void RoleBindingRow(const Value& v, absl::Time now, Row* out);

}  // namespace berth::apiserver
