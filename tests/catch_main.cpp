// catch_main.cpp: Catch2's own main, compiled once for all test programs because it takes ten seconds.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
