// What toml++ has beside templates, compiled once for all that include it.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
