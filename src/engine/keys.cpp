#include "engine/keys.hpp"

#include "base/value_key.hpp"

namespace gorgo::engine {
void append_key(const State& state, history::EventRef event, std::string& key) {
  for (const std::uint32_t index : state.per) {
    append_value_key(event.store->attribute(event.slot, index), key);
  }
}

}  // namespace gorgo::engine
