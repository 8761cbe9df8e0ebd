# SPDX-License-Identifier: Apache-2.0
# A toolchain file: zig's C++ compiler (the package ziglang on the Python package index has it).
# TAPROOT_ZIG_TARGET names what to build for, for example aarch64-linux-gnu.2.28, where the number is
# the oldest version of glibc. TAPROOT_ZIG is the program, if it is not in PATH.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPROOT_ZIG TAPROOT_ZIG_TARGET)
find_program(TAPROOT_ZIG zig REQUIRED)
string(REGEX MATCH "^([^-]+)-([^-]+)" match "${TAPROOT_ZIG_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
string(REPLACE "linux" "Linux" CMAKE_SYSTEM_NAME "${CMAKE_MATCH_2}")
string(REPLACE "windows" "Windows" CMAKE_SYSTEM_NAME "${CMAKE_SYSTEM_NAME}")
string(REPLACE "macos" "Darwin" CMAKE_SYSTEM_NAME "${CMAKE_SYSTEM_NAME}")
# zig turns off what a target's oldest processor lacks. Highway turns instructions on where it uses
# them, but Clang 18 to 21 asks for evex512 besides, which means nothing without AVX-512.
set(CMAKE_C_COMPILER ${TAPROOT_ZIG} cc -target ${TAPROOT_ZIG_TARGET})
set(CMAKE_CXX_COMPILER ${TAPROOT_ZIG} c++ -target ${TAPROOT_ZIG_TARGET})
set(CMAKE_LINK_DEPENDS_USE_LINKER OFF)  # zig does not know --dependency-file.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(CMAKE_CXX_FLAGS_INIT "-Xclang -target-feature -Xclang +evex512")
endif()
