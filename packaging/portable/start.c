/* start.c: a program that is a function of librelaxc.so. */
int RELAXC_START(int argc, char** argv);

int main(int argc, char** argv) {
  return RELAXC_START(argc, argv);
}
