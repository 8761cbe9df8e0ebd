# SPDX-License-Identifier: Apache-2.0
# Installs the library into a folder of its own, then configures, builds and runs a project that
# knows nothing but that folder. Variables: BUILD (the library's build), SOURCE (this folder), WORK.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/install)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
     -DCMAKE_PREFIX_PATH=${WORK}/install)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)
