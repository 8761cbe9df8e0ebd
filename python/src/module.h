// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace taproot::python {

void init_columns(nanobind::module_& m);
void init_constraints(nanobind::module_& m);
void init_dependency_trees(nanobind::module_& m);
void init_iterator(nanobind::module_& m);
void init_estimate(nanobind::module_& m);
void init_files(nanobind::module_& m);
void init_cpu_operators(nanobind::module_& m);
void init_cuda(nanobind::module_& m);
void init_cuda_operators(nanobind::module_& m);
void init_jax(nanobind::module_& m);
void init_draw(nanobind::module_& m);
void init_tree(nanobind::module_& m);

}  // namespace taproot::python
