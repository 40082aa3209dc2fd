// program.cpp: the relaxc program as a function that the library exports.
int relaxc_main_of_driver(int argc, char** argv);  // main() of compiler/driver
extern "C" int relaxc_main(int argc, char** argv);

int relaxc_main(int argc, char** argv) {
  return relaxc_main_of_driver(argc, argv);
}
