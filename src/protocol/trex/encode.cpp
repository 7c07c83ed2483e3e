#include "protocol/trex/encode.hpp"

#include <bit>
#include <type_traits>

namespace gorgo::protocol::trex {
namespace {

/// Appends what packets are made of.
class BodyWriter {
 public:
  /// Begins a packet.
  BodyWriter(Bytes& out, Kind kind) : out_(out), start_(out.size()) {
    put(static_cast<std::uint8_t>(kind));
    put(std::int32_t{0});
  }
  /// Writes the length of the packet, which ends here.
  void finish() {
    constexpr std::size_t kHeader = 5;
    auto length = static_cast<std::uint32_t>(out_.size() - start_ - kHeader);
    for (std::size_t i = kHeader - 1; i > 0; --i, length >>= 8) {
      out_[start_ + i] = static_cast<std::uint8_t>(length);
    }
  }

  template <class T>
  requires std::is_integral_v<T>
  void put(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = sizeof(T); i > 0; --i) {
      out_.push_back(static_cast<std::uint8_t>(bits >> (8 * (i - 1))));
    }
  }
  template <class T>
  requires std::is_enum_v<T>
  void put(T value) { out_.push_back(static_cast<std::uint8_t>(value)); }
  void put(float value) { put(std::bit_cast<std::int32_t>(value)); }
  void put(bool value) { out_.push_back(value ? 1 : 0); }
  void put(std::string_view text) {
    put(static_cast<std::int32_t>(text.size()));
    out_.insert(out_.end(), text.begin(), text.end());
  }
  void put(const Literal& value) {
    put(type_of(value));
    std::visit([this](auto content) { put(content); }, value);
  }
  void put(const Attribute& attribute) {
    put(attribute.name);
    put(attribute.value);
  }
  void put(const Constraint& constraint) {
    put(constraint.name);
    put(constraint.comparison);
    put(constraint.value);
  }
  template <class T>
  void list(const std::vector<T>& elements) {
    put(static_cast<std::int32_t>(elements.size()));
    for (const T& element : elements) put(element);
  }
  template <class T>
  void map(const std::vector<T>& elements) {
    put(static_cast<std::int32_t>(elements.size()));
    std::int32_t key = 0;
    for (const T& element : elements) {
      put(key++);
      put(element);
    }
  }
  void put(const Subscription& subscription) {
    put(subscription.type);
    list(subscription.constraints);
  }
  void put(const Predicate& predicate) {
    put(predicate.type);
    list(predicate.constraints);
    put(predicate.refers_to);
    put(predicate.window);
    put(predicate.selection);
  }
  void put(const Parameter& parameter) {
    put(parameter.comparison);
    put(parameter.part);
    put(parameter.type);
    put(parameter.left);
    put(parameter.right);
  }
  void put(const Span& span) {
    put(span.lower);
    put(span.time);
    put(span.upper);
  }
  void put(const Aggregate& aggregate) {
    put(aggregate.type);
    list(aggregate.constraints);
    put(aggregate.span);
    put(aggregate.function);
    put(aggregate.attribute);
  }
  void put(const Negation& negation) {
    put(negation.type);
    list(negation.constraints);
    put(negation.span);
  }
  void put(const Template::Dynamic& attribute) {
    put(attribute.name);
    put(attribute.value);
  }
  void put(const Reference& reference) {
    put(reference.index);
    put(reference.part);
    put(reference.attribute);
  }
  void put(const Tree& tree) {
    const auto* inner = std::get_if<Tree::Inner>(&tree.node);
    put(static_cast<std::uint8_t>(inner == nullptr ? 0 : 1));
    put(tree.type);
    if (inner != nullptr) {
      for (const Tree& operand : inner->operands) put(operand);
      put(inner->operation);
    } else if (const auto* reference = std::get_if<Reference>(&tree.node)) {
      put(std::uint8_t{0});
      put(*reference);
    } else {
      put(std::uint8_t{1});
      put(std::get<Literal>(tree.node));
    }
  }

 private:
  Bytes& out_;
  const std::size_t start_;
};

}  // namespace

void encode(Bytes& out, const Publication& publication) {
  BodyWriter writer(out, Kind::publication);
  writer.put(publication.type);
  writer.put(publication.timestamp);
  writer.list(publication.attributes);
  writer.finish();
}

void encode(Bytes& out, const Rule& rule) {
  BodyWriter writer(out, Kind::rule);
  writer.map(rule.predicates);
  writer.map(rule.parameters);
  writer.map(rule.aggregates);
  writer.map(rule.negations);
  writer.put(rule.composite.type);
  writer.list(rule.composite.attributes);
  writer.list(rule.composite.constants);
  writer.list(rule.consuming);
  writer.finish();
}

void encode_subscription(Bytes& out, const Subscription& subscription) {
  BodyWriter writer(out, Kind::subscription);
  writer.put(subscription);
  writer.finish();
}

void encode_unsubscription(Bytes& out, const Subscription& subscription) {
  BodyWriter outer(out, Kind::unsubscription);
  encode_subscription(out, subscription);
  outer.finish();
}

void encode_ping(Bytes& out) { BodyWriter(out, Kind::ping).finish(); }

}  // namespace gorgo::protocol::trex
