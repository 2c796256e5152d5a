# SPDX-License-Identifier: Apache-2.0
# What other projects find an installed libprejit by: pkg-config's file and CMake's. What libprejit is made of is inside
# of it, so that neither has anything else to look for. Both follow the tree where it is moved.
include(CMakePackageConfigHelpers)

foreach(folder BINDIR LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
        message(FATAL_ERROR "CMAKE_INSTALL_${folder} is ${CMAKE_INSTALL_${folder}}: it must be relative to "
            "CMAKE_INSTALL_PREFIX, because prejit.pc and prejitConfig.cmake find it from where they lie")
    endif()
endforeach()
file(RELATIVE_PATH PREJIT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PREJIT_PC_TO_PREFIX "${PREJIT_PC_TO_PREFIX}")
configure_file(cmake/prejit.pc.in generated/prejit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/prejit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/prejit)
configure_package_config_file(cmake/prejitConfig.cmake.in generated/prejitConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/prejitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT prejitTargets NAMESPACE prejit:: DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/generated/prejitConfig.cmake ${PROJECT_BINARY_DIR}/generated/prejitConfigVersion.cmake
    DESTINATION ${package})
