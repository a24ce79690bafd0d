"""What the Python tests share.

    running     the main function of a test script, waiting, scratch files, processes that end with the test
    assertions  what an assertion that failed says
    objects     nodes, pods and lists of them
    programs    schedsim, hollow-apiserver (Api), kube-scheduler (Scheduler) and kubectl
    proxy       a proxy in front of an API server that can lose, delay and change what passes
    library     libberth.so and the module berth; imported by name
    text        the cases of test/text; imported by name
    browser     a headless Chromium; imported by name, as only the tests of the page need it

A test script holds functions named test_... and ends with

    harness.main(globals())

It runs all of them in the order of the file, or those that the command line names: test/schedsim_simulate_test.py
test_interrupt. A function ends with the first assertion that fails, and the next one runs. What is asserted needs no
message to be understood: both sides of a comparison are printed, and the variables that it names. A message says what
should be so, or shows what else helps, such as a program's standard error: assert hosts == want, ("by zone", err). The
script prints failures only, and its exit status is 0 when there were none.
"""
from harness.objects import cpu, items, node, pod, write_objects
from harness.programs import Api, ExtenderServer, Kubectl, Scheduler, check_bound_once, schedsim, secure_flags
from harness.proxy import Proxy, relay, status_body
from harness.running import (
    BIN,
    DEADLINE,
    ROOT,
    TLS,
    free_port,
    main,
    run,
    scratch,
    start,
    stop_all,
    wait_until,
    write_file,
)
