# SPDX-License-Identifier: Apache-2.0
# A toolchain file: Debian's GCC, for a glibc that is older than Debian's. TAPROOT_GLIBC is the folder
# of that glibc's libraries, which scripts/older_glibc.sh makes, and CMAKE_SYSTEM_PROCESSOR the
# architecture. GCC's C++ library is linked in, because that of an old system would not do.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPROOT_GLIBC CMAKE_SYSTEM_PROCESSOR)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT "-include ${CMAKE_CURRENT_LIST_DIR}/older_glibc.h")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${TAPROOT_GLIBC} -static-libstdc++ -static-libgcc")
endforeach()
