# Included by llama.cpp's own CMakeLists.txt when it names its project (CMAKE_PROJECT_<name>_INCLUDE).

# Two builds in two folders must give one file, so no folder's name may come into it.
add_compile_options(
    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=llama.cpp" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")

# What computes (ggml, and llama with its graphs and samplers) is compiled as llama.cpp says. What
# parses, renders templates, speaks HTTP, or sees and hears, which no model of ours does, is compiled
# with less optimisation, and many of its files together: half the time, and not one number changes.
function(receipts_lighten)
    foreach(target llama-common mtmd cpp-httplib server-context llama-server-impl)
        if(TARGET ${target})
            target_compile_options(${target} PRIVATE -O1)
        endif()
    endforeach()
    receipts_together(llama-common 12 ALONE arg json jinja/value)
    receipts_together(mtmd 12 ALONE clip mtmd-helper mtmd-helper-gen)
    receipts_together(server-context 5)
    receipts_together(llama-server-impl 3)
endfunction()

# Compiles so many files of a target together, but those alone that cannot be, or are large enough.
function(receipts_together target number)
    cmake_parse_arguments(PARSE_ARGV 2 these "" "" ALONE)
    if(NOT TARGET ${target})
        return()
    endif()
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source ${these_ALONE})
        set_source_files_properties("${folder}/${source}.cpp" TARGET_DIRECTORY ${target}
            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
endfunction()

cmake_language(DEFER CALL receipts_lighten)
