#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "doors/syslog/message.hpp"

namespace {

using namespace gorgo::doors::syslog;

/// The messages that are cut from the bytes, when so many are given at a time.
std::vector<std::string> messages_in(std::string_view bytes, std::size_t step) {
  std::vector<std::string> told;
  MessageCutter cutter;
  while (!bytes.empty()) {
    cutter.fill(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    while (true) {
      const auto message = cutter.next();
      if (!message) {
        told.push_back(message.error().message);
        return told;
      }
      if (!*message) break;
      told.emplace_back(**message);
    }
  }
  told.emplace_back(cutter.rest());
  return told;
}

/// Events have names that others can have, and texts that are texts.
void check(const gorgo::Event& event) {
  for (const gorgo::Attribute& one : event.attributes) {
    if (!gorgo::codec::is_event_name(one.name)) std::abort();
    const auto* text = std::get_if<std::string>(&one.value);
    if (text != nullptr && !gorgo::codec::is_valid_utf8(*text)) std::abort();
    const auto same = [&](const gorgo::Attribute& other) { return other.name == one.name; };
    if (std::ranges::count_if(event.attributes, same) != 1) std::abort();
  }
}

}  // namespace

// What senders of syslog send. It is the same wherever the network cuts it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 64;
  const auto messages = messages_in(bytes, step);
  if (messages != messages_in(bytes, bytes.size() + 1)) std::abort();
  for (const std::string& message : messages) {
    if (const auto event = read_message(message)) check(*event);
  }
  return 0;
}
