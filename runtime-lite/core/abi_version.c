/* abi_version.c: the symbol that ties an object to this version of the ABI.
 *
 * Every emitted entry point refers to rlx_abi_1 from its own section. A runtime of another version does not define it,
 * so the mismatch is an error of the linker and not of the program. It is an object file of its own so that an archive
 * brings in nothing else with it. */
#include "relax_rt.h"

const uint32_t rlx_abi_1 = RLX_ABI_VERSION;
