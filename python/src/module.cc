// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include "gil.h"
#include "threads.h"

namespace nb = nanobind;

NB_MODULE(_taproot, m) {
  using namespace taproot::python;
  // What a traceback keeps alive at exit is no news to a user.
  nb::set_leak_warnings(false);
  m.def("version", [] { return TAPROOT_VERSION; });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&note_exit));
  m.def("set_num_threads", &set_num_threads, nb::arg("threads"), nb::call_guard<Released>());
  m.def("get_num_threads", &get_num_threads, nb::call_guard<Released>(),
        "How many threads batches run on.");
  init_constraints(m);
  init_distribution(m);
  init_iterator(m);
  init_estimate(m);
  init_cuda(m);
  init_draw(m);
}
