// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include "module.h"
#ifdef TAPROOT_JAX
#include <span>

#include "jax/handlers.h"
#endif

namespace nb = nanobind;

namespace taproot::python {
namespace {

using Stages = nb::typed<nb::dict, nb::str, nb::any>;
using Handlers = nb::typed<nb::dict, nb::str, Stages>;

#ifdef TAPROOT_JAX

void add(Handlers& to, std::span<const jax::Handler> handlers) {
  const auto capsule = [](jax::Function handler) {
    return nb::capsule(reinterpret_cast<void*>(handler));
  };
  for (const jax::Handler& handler : handlers) {
    Stages stages;
    stages["execute"] = capsule(handler.execute);
    if (handler.instantiate != nullptr) stages["instantiate"] = capsule(handler.instantiate);
    to[handler.name] = stages;
  }
}

nb::typed<nb::dict, nb::str, Handlers> handlers() {
  Handlers cpu;
  add(cpu, jax::cpu_numbers());
  add(cpu, jax::cpu_trees());
  Handlers cuda;
  add(cuda, jax::cuda_numbers());
  add(cuda, jax::cuda_trees());
  nb::typed<nb::dict, nb::str, Handlers> platforms;
  platforms["cpu"] = cpu;
  platforms["CUDA"] = cuda;
  return platforms;
}

#else

nb::typed<nb::dict, nb::str, Handlers> handlers() { return {}; }

#endif

}  // namespace

void init_jax(nb::module_& m) {
  m.def("jax_handlers", &handlers,
        "The functions for jax.ffi, by platform, name and stage; none in a build without JAX.");
}

}  // namespace taproot::python
