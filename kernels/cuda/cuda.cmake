# The CUDA backend: op files beside their C files, compiled for float32 and bf16, and the device.
# The runtime is linked statically and cuBLASLt is loaded when a GPU is opened, so that one program runs
# with and without a driver; libcuda is never linked.
file(GLOB LRA_CUDA_OPS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/ops/*/*.cu)
file(GLOB LRA_CUDA_DEVICE CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cu)

# An op has CUDA bodies where its .cu stands beside its .c; any other has none on a GPU.
function(lra_cuda_records)
  foreach(file ${ARGN})
    string(REGEX REPLACE "\\.c$" ".cu" beside ${file})
    if(EXISTS ${beside})
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS LRA_CUDA_FILE=1)
    endif()
  endforeach()
endfunction()

# Finds nvcc and its release; sets LRA_CUDA_RELEASE to "" where there is none that will do.
function(lra_find_cuda)
  set(LRA_CUDA_RELEASE "" PARENT_SCOPE)
  find_program(LRA_NVCC nvcc HINTS ${CUDAToolkit_ROOT}/bin ENV CUDA_PATH PATH_SUFFIXES bin
               PATHS /usr/local/cuda/bin)
  if(NOT LRA_NVCC)
    message(STATUS "CUDA: no nvcc found; the CPU is the only device")
    return()
  endif()
  execute_process(COMMAND ${LRA_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
  if(NOT text MATCHES "release ([0-9]+\\.[0-9]+)")
    message(STATUS "CUDA: '${LRA_NVCC} --version' names no release; the CPU is the only device")
  elseif(CMAKE_MATCH_1 VERSION_LESS 12.4)
    message(STATUS "CUDA: release ${CMAKE_MATCH_1} is older than 12.4; the CPU is the only device")
  else()
    set(LRA_CUDA_RELEASE ${CMAKE_MATCH_1} PARENT_SCOPE)
  endif()
endfunction()

if(CMAKE_BUILD_TYPE MATCHES "Debug|Tsan") # sanitizers of the host do not go through nvcc
  set(LRA_CUDA_RELEASE "")
  if(LRA_CUDA STREQUAL ON)
    message(FATAL_ERROR "LRA_CUDA=ON needs a Release build, this is ${CMAKE_BUILD_TYPE}")
  endif()
elseif(NOT LRA_CUDA)
  set(LRA_CUDA_RELEASE "")
else()
  lra_find_cuda()
  if(LRA_CUDA STREQUAL ON AND NOT LRA_CUDA_RELEASE)
    message(FATAL_ERROR "LRA_CUDA=ON, but no CUDA toolkit 12.4 or newer was found")
  endif()
endif()

target_sources(lra_engine PRIVATE ${CMAKE_SOURCE_DIR}/kernels/cuda/messages.c
               ${CMAKE_SOURCE_DIR}/kernels/cuda/level.c ${CMAKE_SOURCE_DIR}/kernels/cuda/library_files.c
               ${CMAKE_SOURCE_DIR}/kernels/cuda/self_test.c ${CMAKE_SOURCE_DIR}/kernels/cuda/staging.c ${CMAKE_SOURCE_DIR}/kernels/cuda/side_stream.c
               ${CMAKE_SOURCE_DIR}/kernels/cuda/columns.c ${CMAKE_SOURCE_DIR}/kernels/cuda/verified.c)
if(LRA_CUDA_RELEASE)
  message(STATUS "CUDA: release ${LRA_CUDA_RELEASE}, ${LRA_CUDA_ARCHITECTURES}")
  set(CMAKE_CUDA_COMPILER ${LRA_NVCC} CACHE FILEPATH "")
  set(CMAKE_CUDA_ARCHITECTURES ${LRA_CUDA_ARCHITECTURES})
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  enable_language(CUDA)
  set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers)
  if(LRA_WERROR)
    list(APPEND cuda_warnings -Werror=all-warnings)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")
  find_package(CUDAToolkit REQUIRED)
  string(REPLACE ";" " " architectures "${LRA_CUDA_ARCHITECTURES}")
  target_compile_definitions(lra_engine PRIVATE LRA_CUDA=1 LRA_CUDA_RELEASE="${LRA_CUDA_RELEASE}"
                             LRA_CUDA_BUILT="${architectures}")
  lra_cuda_records(${LRA_OPS})
  target_compile_definitions(lra_ops_f32_portable PRIVATE LRA_CUDA=1)
  foreach(type f32 bf16)
    add_library(lra_cuda_ops_${type} OBJECT ${LRA_CUDA_OPS})
    target_compile_definitions(lra_cuda_ops_${type} PRIVATE LRA_TYPE=${type} LRA_TYPE_${type}=1)
    target_sources(lra_engine PRIVATE $<TARGET_OBJECTS:lra_cuda_ops_${type}>)
  endforeach()
  target_sources(lra_engine PRIVATE ${LRA_CUDA_DEVICE})
  set_target_properties(lra_engine PROPERTIES CUDA_ARCHITECTURES "${LRA_CUDA_ARCHITECTURES}"
                        CUDA_STANDARD 17)
  target_include_directories(lra_engine PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(lra_engine PUBLIC CUDA::cudart_static ${CMAKE_DL_LIBS})
  if(NOT LRA_PORTABLE) # dlopen() finds cuBLASLt where the toolkit is; on other machines library.cu looks for it
    list(APPEND CMAKE_INSTALL_RPATH ${CUDAToolkit_LIBRARY_DIR})
  endif()
else()
  target_sources(lra_engine PRIVATE ${CMAKE_SOURCE_DIR}/kernels/cuda/stub.c)
endif()
