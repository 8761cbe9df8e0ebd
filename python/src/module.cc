// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <nanobind/stl/string.h>

#include "core.h"
#include "gil.h"
#include "taproot/version.h"

namespace nb = nanobind;

NB_MODULE(_taproot, m) {
  using namespace taproot::python;
  // A traceback may keep objects alive at exit; a user need not hear of it.
  nb::set_leak_warnings(false);
  m.def("version", [] { return TAPROOT_VERSION; });
  m.def("instruction_set", &taproot::instruction_set);
  m.def("build_description", &taproot::build_description);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&note_exit));
  m.def(
      "set_num_threads", [](int threads) { pool().set_threads(threads); }, nb::arg("threads"));
  m.def("get_num_threads", [] { return pool().threads(); });
  init_constraints(m);
  init_dependency_trees(m);
  init_columns(m);
  init_iterator(m);
  init_estimate(m);
  init_files(m);
  init_cpu_operators(m);
  init_cuda(m);
  init_cuda_operators(m);
  init_jax(m);
  init_draw(m);
  init_tree(m);
}
