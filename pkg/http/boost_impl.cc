// Asio and Beast are header-only by default. Here they are compiled once for all files (see the defines in the
// Makefile).

// The parser of Beast 1.81 asserts that at least five bytes are available when it looks at the header of the last chunk
// for the second time. The line break of the chunk before makes them five, but a body may consist of its last chunk
// only: a peer that sent "0\r\n" and the rest in a second packet ended the process. The code after the assertion is
// correct for fewer bytes too, and no input from outside may end a process, so Beast's assertions are not compiled.
#define BOOST_DISABLE_ASSERTS
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
