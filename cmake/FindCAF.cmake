# Locates CAF 0.17 (the C++ Actor Framework), which ships no CMake package on Debian.
# Defines CAF_FOUND, CAF_VERSION and the target CAF::core.

find_path(CAF_INCLUDE_DIR NAMES caf/config.hpp)
find_library(CAF_CORE_LIBRARY NAMES caf_core)

if(CAF_INCLUDE_DIR)
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" CAF_VERSION_LINE
       REGEX "#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" CAF_VERSION_NUMBER "${CAF_VERSION_LINE}")
  if(CAF_VERSION_NUMBER)
    math(EXPR CAF_VERSION_MAJOR "${CAF_VERSION_NUMBER} / 10000")
    math(EXPR CAF_VERSION_MINOR "(${CAF_VERSION_NUMBER} / 100) % 100")
    math(EXPR CAF_VERSION_PATCH "${CAF_VERSION_NUMBER} % 100")
    set(CAF_VERSION "${CAF_VERSION_MAJOR}.${CAF_VERSION_MINOR}.${CAF_VERSION_PATCH}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR
                                  VERSION_VAR CAF_VERSION)

if(CAF_FOUND AND NOT TARGET CAF::core)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}")
endif()
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)
