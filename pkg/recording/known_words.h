// Texts that Kubernetes defines, and which therefore name nobody's things. What is in none of these tables is renamed.
#pragma once
#include <string_view>

namespace berth::recording {

// A value of an enumeration of the API, a kind, an API version, a condition's type or reason, a gate, or the name of a
// rule or plugin of Kubernetes.
bool IsKnownWord(std::string_view text);
// A number, a quantity ("100m", "8Gi"), a duration ("1m30s") or a time ("2026-11-26T00:35:07Z").
bool IsAmountOrTime(std::string_view text);
// Keys of labels and taints, values of labels, and resources. Numbers are known values, because Gt and Lt compare them.
bool IsKnownKey(std::string_view text);
bool IsKnownValue(std::string_view text);
bool IsKnownResource(std::string_view text);
// In-tree volume plugins and the CSI drivers that replace them.
bool IsKnownDriver(std::string_view text);
// An address that means every host or this one.
bool IsKnownAddress(std::string_view text);

}  // namespace berth::recording
