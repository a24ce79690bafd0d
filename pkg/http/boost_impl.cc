// Asio and Beast are header-only by default; here they are compiled once for all (see the Makefile's defines).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
