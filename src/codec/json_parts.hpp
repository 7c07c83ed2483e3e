#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gorgo::codec {

/// The elements of an array, or the value itself if it is none, each on one line as it is written:
/// a number that was read as a double and written again could be another. The value is that of a
/// member, the last one of this name, or the whole text where `member` is empty. Precondition: the
/// text is JSON. Returns nothing where there is no such member.
std::vector<std::string> json_parts(std::string_view text, std::string_view member = {});

}  // namespace gorgo::codec
