// Asio and Beast are header-only by default; here they are compiled once for all (see the Makefile's defines).

// The parser of Beast 1.81 asserts that at least five bytes are there when it looks at the header of the last chunk for
// the second time. A line break of the chunk before makes them five, but a body may begin with its last chunk: whoever
// sent "0\r\n" and the rest in a second packet ended the process. The code behind the assertion is right for fewer
// bytes, too, and no input from outside may end a process, so Beast's assertions are not compiled.
#define BOOST_DISABLE_ASSERTS
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
