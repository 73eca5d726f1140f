# Every examples/NAME.cpp is one program, build/.../examples/NAME. They compile with the warnings
# that applications use, those about members left out of an initialiser too.

file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  partita_link_what_is_included(example_${name})
  target_compile_options(example_${name} PRIVATE
    -Wall -Wextra $<$<BOOL:${PARTITA_WERROR}>:-Werror>)
endforeach()
