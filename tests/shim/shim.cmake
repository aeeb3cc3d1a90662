# The CUDA kernels as host code: shim_test.c walks the registry on them.  Needs a C++ compiler.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "no C++ compiler: CUDA kernels are not tested on the host")
  list(FILTER programs EXCLUDE REGEX "shim_[a-z_]*test")
  return()
endif()
enable_language(CXX)
foreach(type DEBUG RELEASE TSAN) # the sanitizers of C, and what links them
  set(CMAKE_CXX_FLAGS_${type} "${CMAKE_C_FLAGS_${type}}")
endforeach()
file(GLOB records CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/ops/*/*.c)
file(GLOB bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/ops/*/*.cu)
lra_cuda_records(${records})
# Small, so that few examples are one piece of work.
set(shim_sizes LRA_LONG_CONV_BYTES=40000)
# The records once more, with CUDA bodies: they come before those of the engine when a test is linked.
add_library(lra_shim_records OBJECT ${records})
target_compile_definitions(lra_shim_records PRIVATE LRA_TYPE=f32 LRA_TYPE_f32=1 LRA_LEVEL=portable LRA_LEVEL_portable=1
                           LRA_CUDA=1 ${shim_sizes} ${missing_levels})
target_link_libraries(lra_shim_records PRIVATE OpenMP::OpenMP_C)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(lra_shim_records PRIVATE LRA_X86=1)
endif()
# Undefined behaviour stops a kernel; calls of the thread sanitizer go to shadow.c.  Builds that have sanitizers of their own
# keep them, and have no shadow memory.
set(shim_sanitizer)
set(shim_flags)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set(shim_sanitizer -fsanitize=alignment,bounds,shift,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow,null
      -fno-sanitize-recover=all)
  set(shim_flags ${shim_sanitizer} -fsanitize=thread)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU) # shadow.c has no use for calls at the start and the end of a function
    list(APPEND shim_flags --param=tsan-instrument-func-entry-exit=0)
  endif()
endif()
foreach(type f32 bf16)
  set(copies)
  foreach(file ${bodies}) # CMake would give a .cu file to nvcc
    get_filename_component(name ${file} NAME_WE)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/shim_${type}/${name}.cpp)
    file(GENERATE OUTPUT ${copy} CONTENT "#include \"${file}\"\n")
    list(APPEND copies ${copy})
  endforeach()
  add_library(lra_shim_${type} OBJECT ${copies})
  target_compile_definitions(lra_shim_${type} PRIVATE LRA_TYPE=${type} LRA_TYPE_${type}=1 ${shim_sizes})
  target_compile_features(lra_shim_${type} PRIVATE cxx_std_17)
  target_compile_options(lra_shim_${type} PRIVATE -Wall -Wextra -Wno-missing-field-initializers ${shim_flags}
                         $<$<BOOL:${LRA_WERROR}>:-Werror> -include ${CMAKE_SOURCE_DIR}/tests/shim/wgmma.h)
endforeach()
