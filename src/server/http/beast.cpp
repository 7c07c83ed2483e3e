// What Boost.Beast has beside templates, compiled once for all that include it.
#include <boost/beast/src.hpp>
