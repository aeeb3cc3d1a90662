# -DLRA_PORTABLE=ON: every library but CUDA's and libc's is taken from its archive, so that the programs, and
# the tests, run on a machine that has nothing of it: a bare one with an NVIDIA driver.  Included behind the
# search for the libraries, whose targets it changes.
# cuBLASLt stays a library that is loaded when a GPU is opened; one that lies beside the programs is found.

# out: the path of libNAME.a; HINTS as find_library() has them.
function(lra_archive out name)
  find_library(LRA_ARCHIVE_${name} lib${name}.a HINTS ${ARGN})
  if(NOT LRA_ARCHIVE_${name})
    message(FATAL_ERROR "LRA_PORTABLE=ON, but there is no archive 'lib${name}.a'")
  endif()
  mark_as_advanced(LRA_ARCHIVE_${name})
  set(${out} ${LRA_ARCHIVE_${name}} PARENT_SCOPE)
endfunction()

# The target links these archives, in this order, and nothing else.
function(lra_link_archives target)
  set(all)
  foreach(name ${ARGN})
    lra_archive(path ${name})
    list(APPEND all ${path})
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${all};m")
endfunction()

lra_link_archives(PkgConfig::JANSSON jansson)
lra_link_archives(PkgConfig::XXHASH xxhash)
lra_link_archives(PkgConfig::PNG png16 z)
lra_link_archives(PkgConfig::ZLIB z)
# Tar, zip and single files with gzip, bzip2 and xz are all that is asked of libarchive; zip names nettle.
lra_link_archives(PkgConfig::ARCHIVE archive nettle lzma bz2 zstd z)
# libsndfile needs a dozen codecs and has no archive: WAV clips are not read, which is said when one is asked for.
set(LRA_SNDFILE 0)
foreach(name gsl gslcblas)
  lra_archive(path ${name})
  set_target_properties(GSL::${name} PROPERTIES IMPORTED_LOCATION ${path} IMPORTED_LOCATION_RELEASE ${path})
endforeach()

# HDF5's access to S3, which alone needs curl and openssl, is not pulled out of the archive.  Its szip filter
# is optional, and an archive of its own or of libaec.
list(GET HDF5_C_LIBRARIES 0 path)
get_filename_component(folder ${path} DIRECTORY)
lra_archive(path hdf5 ${folder})
set(archives ${path})
foreach(name sz aec z)
  find_library(LRA_ARCHIVE_${name} lib${name}.a)
  if(LRA_ARCHIVE_${name})
    list(APPEND archives ${LRA_ARCHIVE_${name}})
  endif()
endforeach()
set(HDF5_C_LIBRARIES ${archives} ${CMAKE_DL_LIBS} m)

# What the compiler brings.
foreach(name gomp omp)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a OUTPUT_VARIABLE path
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${path}" AND OpenMP_C_LIB_NAMES MATCHES "(^|;)${name}(;|$)")
    set(openmp ${path})
  endif()
endforeach()
if(NOT openmp)
  message(FATAL_ERROR "LRA_PORTABLE=ON, but '${CMAKE_C_COMPILER}' has no archive of OpenMP")
endif()
set_target_properties(OpenMP::OpenMP_C PROPERTIES INTERFACE_LINK_LIBRARIES
                      "${openmp};Threads::Threads;${CMAKE_DL_LIBS}")

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)
set(CMAKE_INSTALL_RPATH "\$ORIGIN") # cuBLASLt beside the programs, cmocka beside the tests
add_link_options($<HOST_LINK:-static-libgcc> $<$<LINK_LANGUAGE:CXX,CUDA>:-static-libstdc++>)

# -DLRA_STATIC=ON: no shared library at all, for the Python wheel.  The programs run on any Linux kernel of this
# processor family, in an empty chroot too.  The linker warns of dlopen() in libhdf5's plug-in loader, which
# lra_h5_start() switches off.
if(LRA_STATIC)
  if(NOT LRA_CUDA STREQUAL "OFF")
    message(FATAL_ERROR "LRA_STATIC=ON needs -DLRA_CUDA=OFF: the CUDA driver is a shared library")
  endif()
  add_link_options(-static)
endif()
