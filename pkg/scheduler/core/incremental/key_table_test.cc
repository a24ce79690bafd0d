#include "pkg/scheduler/core/incremental/key_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace berth::scheduler {

TEST_CASE("key table: finds what was added, whether or not hashes are equal") {
  for (const uint64_t hashes : {uint64_t{1}, uint64_t{7}, ~uint64_t{0}}) {
    std::mt19937 random(3);
    KeyTable table;
    std::vector<uint32_t> keys;            // by number
    std::map<uint32_t, uint32_t> numbers;  // by key
    if (hashes == 7) table.Reserve(500);
    for (int i = 0; i < 2000; ++i) {
      if (random() % 8 == 0) {
        table.AddWithoutKey();
        keys.push_back(~uint32_t{0});
        continue;
      }
      const uint32_t key = random() % 1000;
      const uint64_t hash = KeyTable::Hash(0, key) % hashes;
      const uint32_t found = table.Find(hash, [&](uint32_t number) { return keys[number] == key; });
      const auto known = numbers.find(key);
      CHECK(found == (known == numbers.end() ? KeyTable::kNone : known->second));
      if (found != KeyTable::kNone) continue;
      numbers[key] = static_cast<uint32_t>(table.size());
      table.Add(hash);
      keys.push_back(key);
    }
    CHECK(table.size() == keys.size());
    CHECK(table.Find(0, [&](uint32_t number) { return keys[number] == ~uint32_t{0}; }) == KeyTable::kNone);
  }
}

}  // namespace berth::scheduler
