# What `cmake --install` puts in place: the program, and under the component `client` what C++
# programs need: find_package(gorgo) and the target gorgo::client.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gorgo)
set_target_properties(gorgo_client PROPERTIES EXPORT_NAME client)
install(TARGETS gorgo_client EXPORT gorgo ARCHIVE COMPONENT client INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/gorgo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT client)
install(EXPORT gorgo NAMESPACE gorgo:: FILE gorgoTargets.cmake DESTINATION ${package} COMPONENT client)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gorgoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/gorgoConfig.cmake ${PROJECT_BINARY_DIR}/gorgoConfigVersion.cmake
  DESTINATION ${package} COMPONENT client)

install(TARGETS gorgo_cli COMPONENT program)

# Manual pages and completions are made by the program itself, from what `--help` says.
set(pages ${PROJECT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${pages}/gorgo.fish
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}/man1
  COMMAND gorgo_cli man --folder ${pages}/man1
  COMMAND sh -c "gzip -9n '${pages}'/man1/*"
  COMMAND gorgo_cli completion bash > ${pages}/gorgo
  COMMAND gorgo_cli completion zsh > ${pages}/_gorgo
  COMMAND gorgo_cli completion fish > ${pages}/gorgo.fish
  DEPENDS gorgo_cli VERBATIM)
add_custom_target(gorgo_pages ALL DEPENDS ${pages}/gorgo.fish)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages}/gorgo DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${pages}/_gorgo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${pages}/gorgo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
