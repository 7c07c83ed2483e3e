# FlatBuffers' C++ types of a schema come from flatc at build time.
find_program(FLATC flatc REQUIRED)
find_program(AWK awk REQUIRED)
set(split_objects ${CMAKE_CURRENT_LIST_DIR}/split_objects.awk)

# add_flatbuffers(TARGET NAME SCHEMA FOLDER [flatc option...]): makes generated/FOLDER/SCHEMA_generated.h by a custom target NAME,
# and adds to TARGET the functions that copy objects and turn them into tables and back. All of the library, its tests and its tools may
# include the header.
function(add_flatbuffers target name schema folder)
  get_filename_component(stem ${schema} NAME_WE)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(header ${generated}/${folder}/${stem}_generated.h)
  set(objects ${generated}/${folder}/${stem}_objects.cpp)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/flatc/${stem}_generated.h)
  add_custom_command(
    OUTPUT ${header} ${objects}
    COMMAND ${FLATC} --cpp --scoped-enums --gen-object-api ${ARGN} -o ${CMAKE_CURRENT_BINARY_DIR}/flatc ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/${folder}
    COMMAND ${AWK} -f ${split_objects} -v header=${header} -v objects=${objects} -v include=${folder}/${stem}_generated.h ${whole}
    DEPENDS ${schema} ${split_objects}
    VERBATIM)
  add_custom_target(${name} DEPENDS ${header} ${objects})
  target_sources(${target} PRIVATE ${header} ${objects})
  set_source_files_properties(${objects} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  foreach(reader ${target} gorgo)
    add_dependencies(${reader} ${name})
    target_include_directories(${reader} SYSTEM PRIVATE ${generated})
  endforeach()
  target_include_directories(gorgo_internal SYSTEM INTERFACE ${generated})
endfunction()
