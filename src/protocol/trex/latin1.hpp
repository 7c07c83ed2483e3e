#pragma once

#include <string>
#include <string_view>

/// Texts are ISO-8859-1 on the T-Rex wire and UTF-8 everywhere else.
namespace gorgo::protocol::trex {

/// Whether the text is the same in both.
bool is_ascii(std::string_view text);

void append_utf8(std::string& out, std::string_view latin1);
std::string to_utf8(std::string_view latin1);
/// What ISO-8859-1 does not have becomes `?`. Precondition: `utf8` is valid.
void append_latin1(std::string& out, std::string_view utf8);

}  // namespace gorgo::protocol::trex
