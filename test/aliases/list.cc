// The list of releases with a second name for every one, in the place of pkg/release/list.cc. Programs that are linked
// with it must behave in the same way under both names, which shows that nothing decides by the name of a release
// (test/release_alias_test.py). Shipped programs have no way to extend the list.
#include <deque>
#include <string>
#include <vector>

// The shipped list is read under another name, so that a new release needs no line here.
#define All Shipped
#include "pkg/release/list.cc"
#undef All

namespace berth::release {

std::span<const Id> All();

// 1.10 is 1.50 as well, and 1.8 is 1.6: names that no release has, as long as the real ones, so that tables do not
// move.
std::span<const Id> All() {
  static const std::vector<Id>* const kTwice = [] {
    auto* names = new std::deque<std::string>;  // NOLINT: lives as long as the process, as the ids do
    auto* twice = new std::vector<Id>;          // NOLINT: as above
    for (const Id& id : Shipped()) {
      const int minor = std::stoi(std::string(id.name.substr(2)));
      twice->push_back(id);
      names->push_back("1." + std::to_string(minor < 10 ? minor - 2 : minor + 40));
      twice->push_back({.name = names->back(), .version = id.version, .patch = id.patch});
    }
    return twice;
  }();
  return *kTwice;
}

}  // namespace berth::release
