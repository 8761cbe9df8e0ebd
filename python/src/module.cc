// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include "threads.h"

namespace nb = nanobind;

NB_MODULE(_taproot, m) {
  using namespace taproot::python;
  m.def("version", [] { return TAPROOT_VERSION; });
  m.def("set_num_threads", &set_num_threads, nb::arg("threads"),
        nb::call_guard<nb::gil_scoped_release>(),
        "How many threads batches run on; 0 means one per core.");
  m.def("get_num_threads", &get_num_threads, nb::call_guard<nb::gil_scoped_release>(),
        "How many threads batches run on.");
  init_constraints(m);
  init_distribution(m);
  init_iterator(m);
  init_estimate(m);
  init_draw(m);
}
