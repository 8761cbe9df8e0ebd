# SPDX-License-Identifier: Apache-2.0
# Highway, Random123 and fmt: the system's, or else upstream's releases, downloaded and pinned by
# their hashes. -DFETCHCONTENT_SOURCE_DIR_HIGHWAY=DIR (or ..._RANDOM123, ..._FMT) builds with a
# folder instead, and needs no network. What is fetched is compiled in, and nobody has to install it.
#
# Defines taproot_highway (and TAPROOT_HIGHWAY_SOURCES, to be compiled in), taproot_random123, and the
# function taproot_find_fmt().
include(FetchContent)
option(TAPROOT_FETCH "Build with releases of Highway, Random123 and fmt, also where they are installed" OFF)

# Their sources only: SOURCE_SUBDIR names a folder without a CMakeLists.txt.
FetchContent_Declare(highway
  URL https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz
  URL_HASH SHA256=7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343
  DOWNLOAD_EXTRACT_TIMESTAMP OFF SOURCE_SUBDIR hwy)
FetchContent_Declare(random123
  URL https://github.com/DEShawResearch/random123/archive/refs/tags/v1.14.0.tar.gz
  URL_HASH SHA256=effafd8656b18030b2a5b995cd3650c51a7c45052e6e1c21e48b9fa7a59d926e
  DOWNLOAD_EXTRACT_TIMESTAMP OFF SOURCE_SUBDIR include)
FetchContent_Declare(fmt
  URL https://github.com/fmtlib/fmt/archive/refs/tags/10.1.1.tar.gz
  URL_HASH SHA256=78b8c0a72b1c35e4443a7e308df52498252d1cefc2b08c9a97bc9ee6cfe61f8b
  DOWNLOAD_EXTRACT_TIMESTAMP OFF SOURCE_SUBDIR include)

# taproot_wants_source(NAME VARIABLE): whether the user asks for sources rather than the system's.
function(taproot_wants_source name variable)
  string(TOUPPER ${name} upper)
  if(TAPROOT_FETCH OR FETCHCONTENT_SOURCE_DIR_${upper})
    set(${variable} ON PARENT_SCOPE)
  else()
    set(${variable} OFF PARENT_SCOPE)
  endif()
endfunction()

add_library(taproot_highway INTERFACE)
taproot_wants_source(highway fetch)
if(NOT fetch)
  find_package(hwy QUIET)
endif()
if(NOT fetch AND hwy_FOUND)
  set(TAPROOT_SYSTEM_HIGHWAY ON)
  target_link_libraries(taproot_highway INTERFACE hwy::hwy)
else()
  set(TAPROOT_SYSTEM_HIGHWAY OFF)
  FetchContent_MakeAvailable(highway)
  set(hwy_VERSION 1.2.0)
  target_include_directories(taproot_highway SYSTEM INTERFACE ${highway_SOURCE_DIR})
  # The sources that its headers need. Version 1.0 has no abort.cc.
  file(GLOB TAPROOT_HIGHWAY_SOURCES ${highway_SOURCE_DIR}/hwy/abort.cc
       ${highway_SOURCE_DIR}/hwy/aligned_allocator.cc ${highway_SOURCE_DIR}/hwy/per_target.cc
       ${highway_SOURCE_DIR}/hwy/targets.cc)
  set_source_files_properties(${TAPROOT_HIGHWAY_SOURCES} PROPERTIES COMPILE_OPTIONS -w)
endif()

add_library(taproot_random123 INTERFACE)
taproot_wants_source(random123 fetch)
if(NOT fetch)
  find_path(TAPROOT_RANDOM123 Random123/philox.h)
endif()
if(fetch OR NOT TAPROOT_RANDOM123)
  FetchContent_MakeAvailable(random123)
  target_include_directories(taproot_random123 SYSTEM INTERFACE ${random123_SOURCE_DIR}/include)
else()
  target_include_directories(taproot_random123 SYSTEM INTERFACE ${TAPROOT_RANDOM123})
endif()

# Defines taproot_fmt. The command line and the Python package use it, the library does not. Compiling
# it anew with every file takes long, so the command line uses the system's library; the Python package,
# which must not need one, and builds with upstream's release use the headers alone.
function(taproot_find_fmt)
  if(TARGET taproot_fmt)
    return()
  endif()
  add_library(taproot_fmt INTERFACE)
  taproot_wants_source(fmt fetch)
  if(NOT fetch)
    find_package(fmt QUIET)
  endif()
  if(NOT fetch AND fmt_FOUND)
    target_link_libraries(taproot_fmt INTERFACE $<IF:$<BOOL:${TAPROOT_PYTHON}>,fmt::fmt-header-only,fmt::fmt>)
  else()
    FetchContent_MakeAvailable(fmt)
    target_include_directories(taproot_fmt SYSTEM INTERFACE ${fmt_SOURCE_DIR}/include)
    # What fmt 10 checks when it compiles, Clang 20 does not take for constant.
    target_compile_definitions(taproot_fmt INTERFACE FMT_HEADER_ONLY FMT_CONSTEVAL=)
  endif()
endfunction()
