// Names the test helpers of pkg/http that the tests of this package use.
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
