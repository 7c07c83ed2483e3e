# Debian packages, made by `cpack` in the build folder: the server, what C++ clients need, and the client for
# Python. `./run package` makes them, tests/packaging/packages_test installs them in a clean system.
set(documents ${CMAKE_INSTALL_DATADIR}/doc)
set(pack ${PROJECT_BINARY_DIR}/packaging)
file(MAKE_DIRECTORY ${pack})

# Debian wants to know of every package who may copy it and what has changed.
find_program(GZIP gzip)
if(NOT GZIP OR NOT EXISTS /etc/debian_version)
  return()
endif()
configure_file(packaging/debian/changelog.in ${pack}/changelog @ONLY)
add_custom_command(OUTPUT ${pack}/changelog.gz
  COMMAND ${GZIP} -9nkf ${pack}/changelog DEPENDS ${pack}/changelog VERBATIM)
add_custom_command(OUTPUT ${pack}/copyright
  COMMAND ${CMAKE_COMMAND} -E cat ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${PROJECT_SOURCE_DIR}/NOTICE > ${pack}/copyright
  DEPENDS packaging/debian/copyright NOTICE VERBATIM)
add_custom_target(gorgo_documents ALL DEPENDS ${pack}/changelog.gz ${pack}/copyright)
# Whoever builds the client alone installs its component, which has them.
add_dependencies(gorgo_client gorgo_documents)
# What packages contain, to be built before `cpack`.
add_custom_target(packaged DEPENDS gorgo_documents gorgo_pages gorgo_cli gorgo_client)
foreach(name IN ITEMS program:gorgo client:libgorgo-dev python:python3-gorgo)
  string(REPLACE ":" ";" name ${name})
  list(GET name 0 component)
  list(GET name 1 package)
  string(TOUPPER ${component} key)
  install(FILES ${pack}/changelog.gz ${pack}/copyright DESTINATION ${documents}/${package} COMPONENT ${component}
    EXCLUDE_FROM_ALL)
  configure_file(packaging/debian/lintian-overrides.in ${pack}/${package} @ONLY)
  install(FILES ${pack}/${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component}
    EXCLUDE_FROM_ALL)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${key}_FILE_NAME DEB-DEFAULT)
endforeach()

# `cmake --install` leaves out what is not below its prefix.
install(FILES packaging/gorgo.service DESTINATION /lib/systemd/system COMPONENT program EXCLUDE_FROM_ALL)
install(FILES packaging/gorgo.toml DESTINATION /etc/gorgo COMPONENT program EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION /etc/gorgo/rules COMPONENT program EXCLUDE_FROM_ALL)
install(DIRECTORY clients/python/gorgo DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gorgo)
set(CPACK_PACKAGE_CONTACT "The authors of Gorgo <gorgo@localhost.localdomain>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program client python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "complex event processing server with TESLA rules
Publishers send it events, operators give it rules, and it sends composite
events to whoever subscribed. Rules are evaluated on all cores and, where
there are any, on GPUs. A journal keeps what was acknowledged.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "tzdata")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(control ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA "${control}/conffiles;${control}/postinst;${control}/prerm;${control}/postrm")

set(CPACK_COMPONENT_CLIENT_DESCRIPTION "client library of Gorgo for C++
What programs need that publish events to a Gorgo server or subscribe to
composite events: headers, a static library and a CMake package.")
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "libssl-dev")

set(CPACK_COMPONENT_PYTHON_DESCRIPTION "client of Gorgo for Python
An asyncio and a synchronous client that publishes events to a Gorgo server
and subscribes to composite events. It needs nothing beyond Python.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${control}/python/postinst;${control}/python/prerm")
include(CPack)
