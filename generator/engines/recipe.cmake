# Included by llama.cpp's own CMakeLists.txt when it names its project (CMAKE_PROJECT_<name>_INCLUDE).

# Two builds in two folders must give one file, so no folder's name may come into it.
add_compile_options(
    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=llama.cpp" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")

# What computes (ggml, llama, and the sampling above it) is compiled as llama.cpp says. What parses,
# renders templates, speaks HTTP, or sees and hears (no model of ours does) is compiled with less
# optimisation, and its many small files together, which takes less time and changes no number.
function(receipts_lighten)
    foreach(target llama-common mtmd cpp-httplib server-context llama-server-impl)
        if(TARGET ${target})
            target_compile_options(${target} PRIVATE -O1)
        endif()
    endforeach()
    foreach(target llama-common mtmd)
        if(NOT TARGET ${target})
            continue()
        endif()
        get_target_property(folder ${target} SOURCE_DIR)
        get_target_property(sources ${target} SOURCES)
        list(FILTER sources INCLUDE REGEX "(^|/)(parsers|models|jinja)/[^/]*[.]cpp$")
        foreach(source ${sources})
            get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
            set_source_files_properties(
                "${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP small)
        endforeach()
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    endforeach()
endfunction()
cmake_language(DEFER CALL receipts_lighten)
