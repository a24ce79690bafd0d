// Makes the names of pkg/http that the interfaces of this package use available here.
#pragma once
#include "pkg/http/client.h"

namespace berth::client {

using http::AsioExecutor;
using http::DoBlocking;
using http::Executor;
using http::HttpClient;
using http::Method;
using http::MethodName;
using http::PercentEncode;
using http::ProxyServer;
using http::Reply;
using http::Request;
using http::RetryDelay;
using http::Stream;
using http::StreamHandlers;
using http::StreamOptions;
using http::TlsOptions;

}  // namespace berth::client
