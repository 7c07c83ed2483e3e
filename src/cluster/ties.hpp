#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::cluster {

/// One way to divide a rule by a key: by each type that it reads, the attributes that have the
/// value of the key in every event that can take part. Each of them will do.
struct Division {
  std::map<TypeId, std::set<std::uint32_t>> keys;
  std::set<std::uint32_t> composite;  ///< attributes of the composite with the key's value
};

struct Divisions {
  std::vector<Division> ways;
  std::string because;  ///< why there are none
};

/// All ways to divide a rule. What is not decided by equalities of attributes that each predicate
/// demands of its event counts as not tied.
Divisions divisions_of(const Rule& rule, const Schema& schema);

}  // namespace gorgo::cluster
