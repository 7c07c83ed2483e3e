// What Boost.Beast has beside templates, compiled once for all that include it. Its assertions are
// off in every build, as in the programs that users have: one of them claims that what follows the
// last chunk is well formed, which clients can break. Beast refuses such requests by itself.
#ifndef BOOST_DISABLE_ASSERTS
#define BOOST_DISABLE_ASSERTS
#endif
#include <boost/beast/src.hpp>
