// SPDX-License-Identifier: Apache-2.0
// Included before every source that is compiled for glibc 2.28 (cmake/older_glibc.cmake). GCC's C++
// library was configured for the glibc of this machine, and uses functions of 2.30 where these
// macros are defined.
#pragma once

#include <bits/c++config.h>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK
