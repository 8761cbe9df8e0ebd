# SPDX-License-Identifier: Apache-2.0
# Installs the library into a folder of its own, then builds and runs a program that knows nothing
# but that folder: by find_package and by pkg-config. With HOW=FetchContent the program's project
# builds the library, too. Variables: BUILD (the library's build), ROOT (its sources), SOURCE (this
# folder), WORK, COMPILER, HOW.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(build ${WORK}/build)
if(HOW STREQUAL FetchContent)
  # As deep as the library's build and with its flags, so that ccache knows the files, whose paths
  # it takes relative to the folder.
  set(build ${WORK})
endif()
set(configure ${CMAKE_COMMAND} -S ${SOURCE} -B ${build} -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${COMPILER})
if(HOW STREQUAL FetchContent)
  step(${configure} -DTAPROOT_SOURCE=${ROOT} -DTAPROOT_WERROR=ON)
else()
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/install)
  step(${configure} -DCMAKE_PREFIX_PATH=${WORK}/install)
endif()
step(${CMAKE_COMMAND} --build ${build} --target consumer)
step(${build}/consumer)

find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(HOW STREQUAL FetchContent OR NOT PKG_CONFIG)
  return()
endif()
file(GLOB_RECURSE file ${WORK}/install/*/taproot.pc)
get_filename_component(folder ${file} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs taproot OUTPUT_VARIABLE flags
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags NATIVE_COMMAND "${flags}")
get_filename_component(libraries ${folder} DIRECTORY)
step(${COMPILER} ${SOURCE}/consumer.cc -o ${WORK}/by_pkg_config ${flags} -Wl,-rpath,${libraries})
step(${WORK}/by_pkg_config)
