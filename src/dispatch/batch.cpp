#include "dispatch/batch.hpp"

#include <tuple>

namespace gorgo::dispatch {

bool PlaceOrder::operator()(std::uint32_t a, std::uint32_t b) const {
  const Record& x = records_[a];
  const Record& y = records_[b];
  if (x.root != y.root) return x.root < y.root;
  if (x.depth != y.depth) return x.depth < y.depth;
  if (x.depth == 0) return false;
  if (x.producer != y.producer) return (*this)(x.producer, y.producer);
  return std::tie(x.rule, x.sequence) < std::tie(y.rule, y.sequence);
}

}  // namespace gorgo::dispatch
