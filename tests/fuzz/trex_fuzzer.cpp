#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "language/language.hpp"
#include "protocol/batch_check.hpp"
#include "protocol/trex/decode.hpp"
#include "protocol/trex/encode.hpp"
#include "protocol/trex/packet_cutter.hpp"
#include "protocol/trex/rule_text.hpp"
#include "server/trex/trex_intake.hpp"

/// Any bytes as what a client of T-Rex sends: no crash; what was decoded is encoded to what decodes
/// to the same bytes; a batch of publications is valid; texts of rules and subscriptions can be
/// compiled or have diagnostics.
namespace {

using namespace gorgo;
namespace trex = protocol::trex;

constexpr std::size_t kMaxPacket = std::size_t{1} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::uint8_t> body_of(const trex::Bytes& packet) {
  return std::span(packet).subspan(trex::kHeader);
}

void check_publication(std::span<const std::uint8_t> body, server::TrexIntake& intake) {
  trex::Publication publication;
  if (!trex::decode(body, publication)) return;
  trex::Bytes once, twice;
  trex::encode(once, publication);
  trex::Publication read;
  require(trex::decode(body_of(once), read).has_value());
  trex::encode(twice, read);
  require(once == twice);
  if (!intake.full_for(publication)) (void)intake.add(publication);
}

void check_subscription(std::span<const std::uint8_t> body, bool whole) {
  const auto wanted = whole ? trex::decode_unsubscription(body) : trex::decode_subscription(body);
  if (!wanted) return;
  trex::Bytes once, twice;
  trex::encode_subscription(once, *wanted);
  const auto again = trex::decode_subscription(body_of(once));
  require(again.has_value());
  trex::encode_subscription(twice, *again);
  require(once == twice);
  const auto text = trex::subscription_text(*wanted, trex::default_name);
  if (text) (void)language::parse_predicate(*text);
}

void check_rule(std::span<const std::uint8_t> body) {
  const auto rule = trex::decode_rule(body);
  if (!rule) return;
  trex::Bytes once, twice;
  trex::encode(once, *rule);
  const auto again = trex::decode_rule(body_of(once));
  require(again.has_value());
  trex::encode(twice, *again);
  require(once == twice);
  const auto text = trex::rule_text(*rule, trex::default_name);
  if (!text) return;
  const auto bound = language::compile({"trex", text->text}, Schema{});
  require(bound.diagnostics.failed() || bound.rules.size() == 1);
}

void check(const trex::Packet& packet, server::TrexIntake& intake) {
  switch (static_cast<trex::Kind>(packet.kind)) {
    case trex::Kind::publication:
      return check_publication(packet.body, intake);
    case trex::Kind::rule:
      return check_rule(packet.body);
    case trex::Kind::subscription:
      return check_subscription(packet.body, false);
    case trex::Kind::unsubscription:
      return check_subscription(packet.body, true);
    case trex::Kind::ping:
      break;
  }
}

void check_batch(server::TrexIntake& intake) {
  if (intake.empty()) return;
  const auto frame = intake.take();
  const auto message = protocol::open_frame(frame);
  require(message.has_value());
  const auto& batch = *(*message)->body_as_Publish()->batch();
  require(protocol::check_batch(batch, frame.size(), protocol::kDefaultMaxRows).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trex::PacketCutter cutter(kMaxPacket);
  server::TrexIntake intake({}, trex::default_name);
  while (size > 0) {
    const auto space = cutter.space();
    const std::size_t taken = std::min(size, space.size());
    std::copy_n(data, taken, space.begin());
    cutter.fill(taken);
    data += taken;
    size -= taken;
    while (true) {
      const auto packet = cutter.next();
      if (!packet) {
        check_batch(intake);
        return 0;
      }
      if (!*packet) break;
      check(**packet, intake);
    }
  }
  check_batch(intake);
  return 0;
}
