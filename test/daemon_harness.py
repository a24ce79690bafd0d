"""For scripts that are not of the new style yet; see harness/__init__.py."""
import http.client, json, os, re, signal, socket, subprocess, sys, tempfile, threading, time  # noqa: E401, F401

import harness
from harness import *  # noqa: F403


def run(*tests):
    harness.main({"test_" + t.__name__: t for t in tests})
