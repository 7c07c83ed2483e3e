# Builds the workbench and puts its files into the program; without Node.js and npm the program goes
# without it. npm installs what the build needs while CMake configures, so that a machine without a
# network is noticed then. Included by src/server.

set(web ${PROJECT_SOURCE_DIR}/web)
option(GORGO_WORKBENCH "Put the workbench into the server, where Node.js and npm are" ON)
set(GORGO_WITH_WORKBENCH OFF CACHE INTERNAL "Whether the server has the workbench inside")
find_program(GORGO_NODE NAMES node nodejs)
find_program(GORGO_NPM npm)

# Sets `installed` where web/node_modules is as package-lock.json says.
function(install_packages)
  set(installed ON PARENT_SCOPE)
  set(stamp ${web}/node_modules/.gorgo-installed)
  file(SHA256 ${web}/package-lock.json wanted)
  if(EXISTS ${stamp})
    file(READ ${stamp} there)
    if(there STREQUAL wanted)
      return()
    endif()
  endif()
  message(STATUS "Workbench: npm ci")
  execute_process(COMMAND ${GORGO_NPM} ci --no-audit --no-fund --ignore-scripts WORKING_DIRECTORY ${web}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0)
    file(WRITE ${stamp} ${wanted})
  else()
    message(STATUS "${output}")
    set(installed OFF PARENT_SCOPE)
  endif()
endfunction()

if(NOT GORGO_WORKBENCH)
  message(STATUS "Workbench: left out, as asked")
elseif(GORGO_SANITIZE OR GORGO_FUZZERS)
  message(STATUS "Workbench: left out, this build is for sanitizers")
elseif(NOT GORGO_NODE OR NOT GORGO_NPM)
  message(STATUS "Workbench: left out, there is no Node.js with npm")
else()
  install_packages()
  if(installed)
    set(GORGO_WITH_WORKBENCH ON CACHE INTERNAL "")
    message(STATUS "Workbench: built by ${GORGO_NODE}")
  else()
    message(STATUS "Workbench: left out, npm could not install what its build needs")
  endif()
endif()

if(NOT GORGO_WITH_WORKBENCH)
  target_sources(gorgo PRIVATE http/no_page_files.cpp)
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
# The page talks to the server through the client for JavaScript.
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/*
  ${PROJECT_SOURCE_DIR}/clients/js/src/* ${PROJECT_SOURCE_DIR}/clients/js/types/*)
set(page_files ${CMAKE_CURRENT_BINARY_DIR}/generated/page_files.cpp)
add_custom_command(OUTPUT ${page_files} ${page_files}.bin
  COMMAND ${GORGO_NODE} build.mjs ${CMAKE_CURRENT_BINARY_DIR}/workbench ${page_files}
  WORKING_DIRECTORY ${web}
  DEPENDS ${web_sources} ${web}/build.mjs ${web}/index.html ${web}/vite.config.js ${web}/tsconfig.json ${web}/package-lock.json
  COMMENT "Building the workbench" VERBATIM)
add_custom_target(gorgo_workbench DEPENDS ${page_files} ${page_files}.bin)
add_dependencies(gorgo gorgo_workbench)
target_sources(gorgo PRIVATE ${page_files})
# The assembler reads the files of the page, so their object is compiled alone.
set_source_files_properties(${page_files} TARGET_DIRECTORY gorgo PROPERTIES
  GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON OBJECT_DEPENDS ${page_files}.bin)
