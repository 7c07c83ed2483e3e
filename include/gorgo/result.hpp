#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace gorgo {

/// An expected error outside rule texts: what is wrong, and what to do about it.
struct Error {
  std::string message;
  std::string hint;  ///< may be empty
  /// For programs, a text that lives for ever: what a client says of its connection, such as
  /// "timeout", or the server of a request, such as "NotFound". Empty where nobody asks for it.
  std::string_view code = {};

  /// "MESSAGE (HINT)"
  std::string to_string() const;
};

/// Throws std::logic_error: somebody took the value of a result that is an error.
[[noreturn]] void throw_unchecked(const Error& error);

/// A value or the expected error that stands for it.
///
/// `value()` of an error is a programming mistake and throws std::logic_error; `*` and `->` have
/// the precondition that there is a value. `error()` of a value is an empty error.
///
/// Thread-safety: that of `T`.
template <class T>
class [[nodiscard]] Result {
  template <class U>
  static constexpr bool kStandsForValue =
      std::is_convertible_v<U, T> && !std::is_convertible_v<U, Error> &&
      !std::is_same_v<std::remove_cvref_t<U>, Result>;

 public:
  using value_type = T;
  using error_type = Error;

  Result() requires std::is_default_constructible_v<T> : either_(std::in_place_index<0>) {}
  template <class U>
  requires kStandsForValue<U> Result(U&& value)
      : either_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : either_(std::in_place_index<1>, std::move(error)) {}
  /// Makes the value where it stays.
  template <class... Arguments>
  Result(std::in_place_t, Arguments&&... arguments)
      : either_(std::in_place_index<0>, std::forward<Arguments>(arguments)...) {}

  bool has_value() const { return either_.index() == 0; }
  bool has_error() const { return either_.index() == 1; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked(), **this; }
  const T& value() const& { return checked(), **this; }
  /// These two move the value out, so that it lives on where the result is a temporary.
  T value() && { return checked(), *std::move(*this); }
  T operator*() && { return std::move(*pointer()); }

  T& operator*() & { return *pointer(); }
  const T& operator*() const& { return *pointer(); }
  T* operator->() { return pointer(); }
  const T* operator->() const { return pointer(); }

  Error error() const { return has_error() ? *std::get_if<1>(&either_) : Error(); }

 private:
  std::variant<T, Error> either_;

  T* pointer() {
    assert(has_value());
    return std::get_if<0>(&either_);
  }
  const T* pointer() const {
    assert(has_value());
    return std::get_if<0>(&either_);
  }
  void checked() const {
    if (has_error()) throw_unchecked(error());
  }
};

/// Success, or why there was none.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return error_.index() == 0; }
  bool has_error() const { return error_.index() == 1; }
  explicit operator bool() const { return has_value(); }

  void value() const {
    if (has_error()) throw_unchecked(error());
  }
  Error error() const { return has_error() ? *std::get_if<1>(&error_) : Error(); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace gorgo
