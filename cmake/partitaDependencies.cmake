# What the library links besides the standard library. Used by the build and, installed beside
# partitaConfig.cmake, by everyone who links partita as a static library.
#
# Not all of these ship a CMake package on every distribution, so a header and a library are looked
# up and nobody needs pkg-config. Each becomes a target partita_external::NAME.

include(CMakeFindDependencyMacro)

# In the build a missing package is an error; inside find_package(partita) the caller decides.
macro(partita_find_package)
  if(CMAKE_FIND_PACKAGE_NAME)
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

function(partita_find_library name header library)
  if(TARGET partita_external::${name})
    return()
  endif()
  string(TOUPPER ${name} prefix)
  find_path(PARTITA_${prefix}_INCLUDE_DIR NAMES ${header})
  find_library(PARTITA_${prefix}_LIBRARY NAMES ${library})
  mark_as_advanced(PARTITA_${prefix}_INCLUDE_DIR PARTITA_${prefix}_LIBRARY)
  if(NOT PARTITA_${prefix}_INCLUDE_DIR OR NOT PARTITA_${prefix}_LIBRARY)
    message(FATAL_ERROR "partita needs ${name}: no ${header} or no library ${library} was found")
  endif()
  add_library(partita_external::${name} UNKNOWN IMPORTED)
  set_target_properties(partita_external::${name} PROPERTIES
    IMPORTED_LOCATION "${PARTITA_${prefix}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PARTITA_${prefix}_INCLUDE_DIR}")
endfunction()

partita_find_package(Threads)
partita_find_package(ZLIB)
partita_find_package(CAF 0.17)
partita_find_library(isal isa-l/crc.h isal)
partita_find_library(lz4 lz4frame.h lz4)
partita_find_library(snappy snappy.h snappy)
partita_find_library(zstd zstd.h zstd)
