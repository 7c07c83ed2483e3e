#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>

#include "gorgo/event_batch.hpp"
#include "gorgo/value.hpp"
#include "history/sliding_vector.hpp"

namespace gorgo::history {

/// One attribute of many events, contiguous. Ints, floats and bools are 8 bytes each, in their own
/// representation; strings refer to bytes that somebody else owns.
class AttributeVector {
 public:
  AttributeVector(ValueType type, bool nullable, std::uint64_t first_position)
      : type_(type), nullable_(nullable) {
    start_at(first_position);
  }

  /// Starts counting at `position`. Precondition: empty and never used.
  void start_at(std::uint64_t position) {
    words_.start_at(position);
    strings_.start_at(position);
    present_.start_at(position);
  }

  void reserve(std::size_t count) {
    if (type_ == ValueType::string) {
      strings_.reserve(count);
    } else {
      words_.reserve(count);
    }
    if (nullable_) present_.reserve(count);
  }

  ValueType type() const { return type_; }
  bool is_nullable() const { return nullable_; }

  /// Appends the values `cell(i)` for i < count. Of a string it stores what `keep(text, i)`
  /// returns. Precondition: each value has this type, or is no value and the vector is nullable.
  template <class Cell, class Keep>
  void append(std::size_t count, Cell&& cell, Keep&& keep) {
    if (type_ == ValueType::string) {
      std::string_view* const texts = strings_.grow(count);
      for (std::size_t i = 0; i < count; ++i) texts[i] = keep(text_of(cell(i)), i);
    } else {
      std::uint64_t* const words = words_.grow(count);
      for (std::size_t i = 0; i < count; ++i) words[i] = word_of(cell(i));
    }
    if (!nullable_) return;
    std::uint8_t* const present = present_.grow(count);
    for (std::size_t i = 0; i < count; ++i) present[i] = cell(i).exists() ? 1 : 0;
  }

  /// Appends the values of events of a column of this type, each of which has one. `text`: where
  /// the bytes of its strings stand that are kept, from the first of these events on.
  void append(const EventColumn& column, std::uint32_t first, std::uint32_t count,
              const char* text) {
    if (type_ == ValueType::string) {
      append_texts(column, first, count, text);
    } else {
      append_words(column, first, words_.grow(count), count);
    }
    if (nullable_) std::fill_n(present_.grow(count), count, std::uint8_t{1});
  }

  /// Appends what stands at these positions of a vector of the same type and nullability.
  void gather(const AttributeVector& from, std::span<const std::uint64_t> positions) {
    if (type_ == ValueType::string) {
      gather(strings_, from.strings_, positions);
    } else {
      gather(words_, from.words_, positions);
    }
    if (nullable_) gather(present_, from.present_, positions);
  }

  /// Inserts what stands at `places` of a vector of the same type and nullability, each before what
  /// stands at its position here now. Precondition: the positions ascend.
  void insert(std::span<const std::uint64_t> positions, const AttributeVector& from,
              std::span<const std::uint64_t> places) {
    if (type_ == ValueType::string) {
      insert(strings_, positions, from.strings_, places);
    } else {
      insert(words_, positions, from.words_, places);
    }
    if (nullable_) insert(present_, positions, from.present_, places);
  }

  Datum operator[](std::uint64_t position) const {
    if (nullable_ && present_[position] == 0) return Datum::none();
    switch (type_) {
      case ValueType::integer:
        return Datum::of(std::bit_cast<std::int64_t>(words_[position]));
      case ValueType::floating:
        return Datum::of(std::bit_cast<double>(words_[position]));
      case ValueType::boolean:
        return Datum::of(words_[position] != 0);
      case ValueType::string:
        return Datum::of(strings_[position]);
    }
    return Datum::none();
  }

  /// Words from `position` on: int64, binary64, or bool as 0 and 1. Precondition: not strings.
  const std::uint64_t* words(std::uint64_t position) const { return words_.at(position); }
  const std::string_view* strings(std::uint64_t position) const { return strings_.at(position); }
  /// 1 where the event has the attribute; null when every event has it.
  const std::uint8_t* present(std::uint64_t position) const {
    return nullable_ ? present_.at(position) : nullptr;
  }

  void drop_before(std::uint64_t position, Spare spare = Spare::given_back) {
    if (type_ == ValueType::string) {
      strings_.drop_before(position, spare);
    } else {
      words_.drop_before(position, spare);
    }
    if (nullable_) present_.drop_before(position, spare);
  }
  void give_back_spare() {
    words_.give_back_spare();
    strings_.give_back_spare();
    present_.give_back_spare();
  }

  std::size_t bytes() const { return words_.bytes() + strings_.bytes() + present_.bytes(); }

 private:
  template <class T>
  static void gather(SlidingVector<T>& to, const SlidingVector<T>& from,
                     std::span<const std::uint64_t> positions) {
    T* items = to.grow(positions.size());
    for (const std::uint64_t position : positions) *items++ = from[position];
  }
  template <class T>
  static void insert(SlidingVector<T>& to, std::span<const std::uint64_t> positions,
                     const SlidingVector<T>& from, std::span<const std::uint64_t> places) {
    to.insert(positions, [&](std::size_t i) { return from[places[i]]; });
  }
  void append_texts(const EventColumn& column, std::uint32_t first, std::uint32_t count,
                    const char* text) {
    std::string_view* const texts = strings_.grow(count);
    const std::uint32_t start = column.begin_of(first);
    std::uint32_t begin = start;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t end = column.ends[first + i];
      texts[i] =
          begin == end ? std::string_view() : std::string_view(text + (begin - start), end - begin);
      begin = end;
    }
  }
  static void append_words(const EventColumn& column, std::uint32_t first, std::uint64_t* words,
                           std::uint32_t count) {
    if (column.type == ValueType::integer) {
      std::memcpy(words, column.integers.data() + first, count * sizeof(*words));
    } else if (column.type == ValueType::floating) {
      std::memcpy(words, column.floats.data() + first, count * sizeof(*words));
    } else {
      for (std::uint32_t i = 0; i < count; ++i) words[i] = column.booleans[first + i] != 0 ? 1 : 0;
    }
  }
  static std::string_view text_of(const Datum& value) {
    return value.exists() ? value.text() : std::string_view();
  }
  static std::uint64_t word_of(const Datum& value) {
    switch (value.tag) {
      case Datum::Tag::integer:
        return std::bit_cast<std::uint64_t>(value.integer);
      case Datum::Tag::floating:
        return std::bit_cast<std::uint64_t>(value.floating);
      case Datum::Tag::boolean:
        return value.boolean ? 1 : 0;
      default:
        return 0;
    }
  }

  ValueType type_;
  bool nullable_;
  SlidingVector<std::uint64_t> words_;
  SlidingVector<std::string_view> strings_;
  SlidingVector<std::uint8_t> present_;
};

}  // namespace gorgo::history
