#include "cuda/device.hpp"

namespace gorgo::cuda {

void Round::clear() {
  pages.clear();
  attributes.clear();
  tests.clear();
  instructions.clear();
  scans.clear();
  bounds.clear();
  cells.clear();
  texts.clear();
  unless.clear();
  oldest.clear();
  newest.clear();
  every.clear();
  reductions.clear();
  sums.clear();
  selected = 0;
  most_listed = 0;
  fetched = 0;
}

}  // namespace gorgo::cuda
