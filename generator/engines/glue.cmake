# Included by llama.cpp's own CMakeLists.txt, through CMAKE_PROJECT_<name>_INCLUDE.
#
# What computes (ggml, llama, and the sampling above it) is compiled as llama.cpp says. What parses,
# renders templates, speaks HTTP, or sees and hears (no model of ours does) is compiled with less
# optimisation, and its many small files together: that takes half the time and changes no number.
function(receipts_lighten)
    foreach(target llama-common mtmd cpp-httplib server-context llama-server-impl)
        target_compile_options(${target} PRIVATE -O1)
    endforeach()
    foreach(target llama-common mtmd)
        get_target_property(folder ${target} SOURCE_DIR)
        get_target_property(sources ${target} SOURCES)
        list(FILTER sources INCLUDE REGEX "(^|/)(parsers|models|jinja)/[^/]*[.]cpp$")
        foreach(source ${sources})
            get_filename_component(source ${source} ABSOLUTE BASE_DIR ${folder})
            set_source_files_properties(
                ${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP small)
        endforeach()
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    endforeach()
endfunction()
cmake_language(DEFER CALL receipts_lighten)
