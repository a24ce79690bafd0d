// The test helpers of pkg/http, for the tests of this package.
#pragma once
#include "pkg/client/http.h"
#include "pkg/http/testing/fake_server.h"
#include "pkg/http/testing/temp_dir.h"

namespace berth::client {

using http::FakeRequest;
using http::FakeServer;
using http::HttpOptions;
using http::IoThread;
using http::Mailbox;
using http::NewHttpClient;
using http::TempDir;

}  // namespace berth::client
