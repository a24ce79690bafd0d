// A base class for plugins whose Clone() is their copy constructor.
#pragma once
#include <memory>

#include "pkg/scheduler/reference/plugins/plugin.h"

namespace berth::scheduler::reference::plugins {

template <typename T>
class Cloned : public Plugin {
 public:
  std::unique_ptr<Plugin> Clone() const override { return std::make_unique<T>(static_cast<const T&>(*this)); }
};

}  // namespace berth::scheduler::reference::plugins
