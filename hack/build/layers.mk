# What may include what, said once: each package may include itself, the packages of its line, and what these may include.
# The lowest layer stands first, and no line names what stands below it. Programs are linked from what they may include, in
# this order, and hack/verify.sh holds every #include against it. pkg/README.md draws the layers.
below.pkg/util :=
below.pkg/heap :=
below.pkg/release := pkg/util
below.pkg/flags := pkg/util
below.pkg/api := pkg/release
below.pkg/http := pkg/util
below.pkg/world := pkg/api
below.pkg/store := pkg/world
below.pkg/scheduler := pkg/api pkg/http
below.pkg/releases := pkg/scheduler
below.pkg/explain := pkg/scheduler
below.pkg/lab := pkg/explain pkg/releases pkg/world
below.pkg/convert := pkg/explain pkg/releases
below.pkg/recording := pkg/releases
below.pkg/simulate := pkg/recording pkg/lab pkg/store
below.pkg/ui := pkg/lab
below.pkg/client := pkg/api pkg/http
below.pkg/capi := pkg/simulate
below.pkg/apiserver := pkg/store pkg/http pkg/heap
below.plugin := pkg/scheduler
below.cmd/kube-scheduler := pkg/heap pkg/flags pkg/client pkg/ui pkg/recording
below.cmd/schedsim := pkg/heap pkg/flags pkg/client pkg/convert pkg/simulate pkg/ui
below.cmd/hollow-apiserver := pkg/heap pkg/flags pkg/apiserver
below.cmd/berth := cmd/kube-scheduler cmd/schedsim cmd/hollow-apiserver
# What *_test.cc, *_bench.cc and the headers in folders named testing may include as well: rules as releases have them.
below.pkg/scheduler/tests := pkg/releases
below.plugin/tests := pkg/releases
# Programs of tests, and the benchmarks.
below.test/aliases := pkg/release
below.test/fake_release := pkg/releases
below.test/churn := pkg/heap pkg/lab pkg/recording
below.test/simulation := cmd/kube-scheduler
below.test/fuzz := cmd/kube-scheduler pkg/capi pkg/apiserver
