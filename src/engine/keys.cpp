#include "engine/keys.hpp"

#include <bit>

#include "base/arithmetic.hpp"

namespace gorgo::engine {
namespace {

void append_word(std::uint64_t word, std::string& key) {
  key.append(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace

void append_key(const Datum& value, std::string& key) {
  switch (value.tag) {
    case Datum::Tag::string:
      append_word(value.text().size(), key);
      key += value.text();
      break;
    case Datum::Tag::floating:
      append_word(std::bit_cast<std::uint64_t>(arithmetic::canonical(value).floating + 0.0), key);
      break;
    case Datum::Tag::boolean:
      key += value.boolean ? '1' : '0';
      break;
    default:
      append_word(std::bit_cast<std::uint64_t>(value.integer), key);
  }
}

void append_key(const State& state, history::EventRef event, std::string& key) {
  for (const std::uint32_t index : state.per) {
    append_key(event.store->attribute(event.slot, index), key);
  }
}

}  // namespace gorgo::engine
