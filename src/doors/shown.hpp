#pragma once

#include <string>

#include "doors/settings.hpp"

namespace gorgo::doors {

/// `https://hooks.example.org/...`: the address of a web server or of a database as everybody may
/// read it. What the other side knows its clients by often stands before or behind the host.
std::string without_secrets(const std::string& url);

/// `https://data.example.org/plant?token=...`: the address with dots in the place of the values
/// that its query has, and without who the client says it is.
std::string without_values(const std::string& url);

/// The value of a key with dots in the place of what may be a secret.
SettingValue shown(const std::string& key, const SettingValue& value);

}  // namespace gorgo::doors
