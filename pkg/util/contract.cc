#include "pkg/util/contract.h"

#include <glog/logging.h>

#include <atomic>

namespace berth::util {
namespace {

std::atomic<bool> throws{false};

}  // namespace

void BrokenContract(const char* condition, const char* file, int line) {
  if (throws) throw BrokenContractError{condition};
  LOG(FATAL) << file << ":" << line << ": a caller broke the contract: " << condition;
}

ThrowBrokenContracts::ThrowBrokenContracts() {
  throws = true;
}
ThrowBrokenContracts::~ThrowBrokenContracts() {
  throws = false;
}

}  // namespace berth::util
