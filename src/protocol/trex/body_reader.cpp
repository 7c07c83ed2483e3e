#include "protocol/trex/body_reader.hpp"

#include <bit>
#include <type_traits>

namespace gorgo::protocol::trex {

void BodyReader::fail(std::string what) {
  if (!failed()) problem_ = std::move(what) + " at byte " + std::to_string(at_) + " of its body";
}

Error BodyReader::error() const { return {"the packet " + problem_, ""}; }

const std::uint8_t* BodyReader::take(std::size_t bytes, std::string_view what) {
  if (failed()) return nullptr;
  if (bytes > left()) {
    fail("ends within " + std::string(what));
    return nullptr;
  }
  at_ += bytes;
  return body_.data() + at_ - bytes;
}

template <class T>
T BodyReader::big_endian(std::string_view what) {
  const std::uint8_t* bytes = take(sizeof(T), what);
  if (bytes == nullptr) return 0;
  std::make_unsigned_t<T> value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = (value << 8) | bytes[i];
  return static_cast<T>(value);
}

std::uint8_t BodyReader::byte(std::string_view what) {
  const std::uint8_t* bytes = take(1, what);
  return bytes == nullptr ? 0 : *bytes;
}

std::int32_t BodyReader::integer(std::string_view what) { return big_endian<std::int32_t>(what); }

std::int64_t BodyReader::long_integer(std::string_view what) {
  return big_endian<std::int64_t>(what);
}

float BodyReader::floating(std::string_view what) { return std::bit_cast<float>(integer(what)); }

std::string_view BodyReader::text(std::string_view what) {
  const std::size_t size = count(1, what);
  const std::uint8_t* bytes = take(size, what);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

std::size_t BodyReader::count(std::size_t least, std::string_view what) {
  const std::int32_t announced = integer(what);
  if (failed()) return 0;
  if (announced < 0 || static_cast<std::size_t>(announced) > left() / least) {
    fail("announces " + std::to_string(announced) + " elements of " + std::string(what) + " in " +
         std::to_string(left()) + " bytes");
    return 0;
  }
  return static_cast<std::size_t>(announced);
}

Literal BodyReader::literal() {
  switch (choice(ValueType::string, "the type of a value")) {
    case ValueType::integer:
      return integer("an int");
    case ValueType::floating:
      return floating("a float");
    case ValueType::boolean:
      return byte("a bool") == 1;
    case ValueType::string:
      return text("a string");
  }
  return {};
}

}  // namespace gorgo::protocol::trex
