// reserved_names.cpp: keywords, macros and types of C and C++.
//
// A generated header is included into programs of any dialect, before or behind any standard header. So what counts is
// the union over all of them: GNU modes define `linux` and `unix`, C23 and C++ have keywords that C99 does not, and
// <errno.h> or <complex.h> may come first. Macros with parameters are in the list only where a header has them that
// relax_rt.h includes: no other name is followed by a parenthesis in a header.
#include "compiler/interface/reserved_names.h"

#include <algorithm>
#include <set>

namespace relaxc::interface {
namespace {

/// Between blanks, as kMacros.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "contract_assert decltype default delete do double dynamic_cast else enum explicit export extern false float "
    "for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Macros that compilers define in GNU modes, those of the standard headers, and types of <stddef.h>.
constexpr std::string_view kMacros =
    " AVR BIG_ENDIAN BITINT_MAXWIDTH BUFSIZ BYTE_ORDER CHAR_BIT CLOCKS_PER_SEC DECIMAL_DIG E2BIG EACCES EADDRINUSE "
    "EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT "
    "EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM "
    "EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL "
    "EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD "
    "ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL "
    "ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK "
    "ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN "
    "ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW "
    "EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO "
    "ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT "
    "ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS HUGE_VAL "
    "HUGE_VALF HUGE_VALL I INFINITY LINE_MAX LITTLE_ENDIAN L_ctermid L_tmpnam MATH_ERREXCEPT MATH_ERRNO "
    "MB_CUR_MAX MB_LEN_MAX MIPSEB MIPSEL M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 "
    "M_PI_4 M_SQRT1_2 M_SQRT2 NAME_MAX NAN NSIG NULL ONCE_FLAG_INIT PATH_MAX PDP_ENDIAN PIPE_BUF PPC P_tmpdir "
    "SEEK_CUR SEEK_END SEEK_SET SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO "
    "SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN SIGSEGV SIGSTKFLT SIGSTKSZ SIGSTOP "
    "SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ "
    "TIME_UTC TSS_DTOR_ITERATIONS WEOF WIN32 WIN64 WINNT assert cdecl complex errno far hpux i386 imaginary linux "
    "m68k math_errhandling max_align_t mc68000 mc68020 mips near noreturn nullptr_t offsetof pascal ptrdiff_t "
    "size_t sparc ssize_t stderr stdin stdout sun unix unreachable vax ";

/// What glibc's headers define beyond the standard, in the mode that g++ and gnu11 compile in.
constexpr std::string_view kSystemMacros =
    " ADJ_ESTERROR ADJ_FREQUENCY ADJ_MAXERROR ADJ_MICRO ADJ_NANO ADJ_OFFSET ADJ_OFFSET_SINGLESHOT "
    "ADJ_OFFSET_SS_READ ADJ_SETOFFSET ADJ_STATUS ADJ_TAI ADJ_TICK ADJ_TIMECONST AIO_PRIO_DELTA_MAX BC_BASE_MAX "
    "BC_DIM_MAX BC_SCALE_MAX BC_STRING_MAX BUS_ADRALN BUS_ADRERR BUS_MCEERR_AO BUS_MCEERR_AR BUS_OBJERR "
    "CHARCLASS_NAME_MAX CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED CLD_STOPPED CLD_TRAPPED CLOCK_BOOTTIME "
    "CLOCK_BOOTTIME_ALARM CLOCK_MONOTONIC CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID "
    "CLOCK_REALTIME CLOCK_REALTIME_ALARM CLOCK_REALTIME_COARSE CLOCK_TAI CLOCK_THREAD_CPUTIME_ID "
    "CLOSE_RANGE_CLOEXEC CLOSE_RANGE_UNSHARE COLL_WEIGHTS_MAX DELAYTIMER_MAX EXPR_NEST_MAX FD_SETSIZE "
    "FPE_CONDTRAP FPE_FLTDIV FPE_FLTINV FPE_FLTOVF FPE_FLTRES FPE_FLTSUB FPE_FLTUND FPE_FLTUNK FPE_INTDIV "
    "FPE_INTOVF F_LOCK F_OK F_TEST F_TLOCK F_ULOCK HOST_NAME_MAX HUGE_VAL_F128 HUGE_VAL_F32 HUGE_VAL_F32X "
    "HUGE_VAL_F64 HUGE_VAL_F64X ILL_BADIADDR ILL_BADSTK ILL_COPROC ILL_ILLADR ILL_ILLOPC ILL_ILLOPN ILL_ILLTRP "
    "ILL_PRVOPC ILL_PRVREG IOV_MAX LOGIN_NAME_MAX LONG_LONG_MAX LONG_LONG_MIN L_INCR L_SET L_XTND L_cuserid "
    "MAXFLOAT MAX_CANON MAX_INPUT MINSIGSTKSZ MOD_CLKA MOD_CLKB MOD_ESTERROR MOD_FREQUENCY MOD_MAXERROR MOD_MICRO "
    "MOD_NANO MOD_OFFSET MOD_STATUS MOD_TAI MOD_TIMECONST MQ_PRIO_MAX M_1_PIf M_1_PIf128 M_1_PIf32 M_1_PIf32x "
    "M_1_PIf64 M_1_PIf64x M_1_PIl M_2_PIf M_2_PIf128 M_2_PIf32 M_2_PIf32x M_2_PIf64 M_2_PIf64x M_2_PIl "
    "M_2_SQRTPIf M_2_SQRTPIf128 M_2_SQRTPIf32 M_2_SQRTPIf32x M_2_SQRTPIf64 M_2_SQRTPIf64x M_2_SQRTPIl M_Ef "
    "M_Ef128 M_Ef32 M_Ef32x M_Ef64 M_Ef64x M_El M_LN10f M_LN10f128 M_LN10f32 M_LN10f32x M_LN10f64 M_LN10f64x "
    "M_LN10l M_LN2f M_LN2f128 M_LN2f32 M_LN2f32x M_LN2f64 M_LN2f64x M_LN2l M_LOG10Ef M_LOG10Ef128 M_LOG10Ef32 "
    "M_LOG10Ef32x M_LOG10Ef64 M_LOG10Ef64x M_LOG10El M_LOG2Ef M_LOG2Ef128 M_LOG2Ef32 M_LOG2Ef32x M_LOG2Ef64 "
    "M_LOG2Ef64x M_LOG2El M_PI_2f M_PI_2f128 M_PI_2f32 M_PI_2f32x M_PI_2f64 M_PI_2f64x M_PI_2l M_PI_4f M_PI_4f128 "
    "M_PI_4f32 M_PI_4f32x M_PI_4f64 M_PI_4f64x M_PI_4l M_PIf M_PIf128 M_PIf32 M_PIf32x M_PIf64 M_PIf64x M_PIl "
    "M_SQRT1_2f M_SQRT1_2f128 M_SQRT1_2f32 M_SQRT1_2f32x M_SQRT1_2f64 M_SQRT1_2f64x M_SQRT1_2l M_SQRT2f "
    "M_SQRT2f128 M_SQRT2f32 M_SQRT2f32x M_SQRT2f64 M_SQRT2f64x M_SQRT2l NFDBITS NGREG NGROUPS_MAX NL_ARGMAX "
    "NL_LANGMAX NL_MSGMAX NL_NMAX NL_SETMAX NL_TEXTMAX NZERO POLL_ERR POLL_HUP POLL_IN POLL_MSG POLL_OUT POLL_PRI "
    "PTHREAD_DESTRUCTOR_ITERATIONS PTHREAD_KEYS_MAX PTHREAD_STACK_MIN REG_CR2 REG_CSGSFS REG_EFL REG_ERR "
    "REG_OLDMASK REG_R10 REG_R11 REG_R12 REG_R13 REG_R14 REG_R15 REG_R8 REG_R9 REG_RAX REG_RBP REG_RBX REG_RCX "
    "REG_RDI REG_RDX REG_RIP REG_RSI REG_RSP REG_TRAPNO RENAME_EXCHANGE RENAME_NOREPLACE RENAME_WHITEOUT "
    "RE_DUP_MAX RTSIG_MAX R_OK SA_INTERRUPT SA_NOCLDSTOP SA_NOCLDWAIT SA_NODEFER SA_NOMASK SA_ONESHOT SA_ONSTACK "
    "SA_RESETHAND SA_RESTART SA_SIGINFO SA_STACK SEEK_DATA SEEK_HOLE SEGV_ACCADI SEGV_ACCERR SEGV_ADIDERR "
    "SEGV_ADIPERR SEGV_BNDERR SEGV_MAPERR SEGV_MTEAERR SEGV_MTESERR SEGV_PKUERR SEM_VALUE_MAX SIGEV_NONE "
    "SIGEV_SIGNAL SIGEV_THREAD SIGEV_THREAD_ID SI_ASYNCIO SI_ASYNCNL SI_DETHREAD SI_KERNEL SI_MESGQ SI_QUEUE "
    "SI_SIGIO SI_TIMER SI_TKILL SI_USER SNAN SNANF SNANF128 SNANF32 SNANF32X SNANF64 SNANF64X SNANL SS_DISABLE "
    "SS_ONSTACK STA_CLK STA_CLOCKERR STA_DEL STA_FLL STA_FREQHOLD STA_INS STA_MODE STA_NANO STA_PLL STA_PPSERROR "
    "STA_PPSFREQ STA_PPSJITTER STA_PPSSIGNAL STA_PPSTIME STA_PPSWANDER STA_RONLY STA_UNSYNC STDERR_FILENO "
    "STDIN_FILENO STDOUT_FILENO TIMER_ABSTIME TRAP_BRANCH TRAP_BRKPT TRAP_HWBKPT TRAP_TRACE TRAP_UNK TTY_NAME_MAX "
    "ULONG_LONG_MAX WCONTINUED WEXITED WNOHANG WNOWAIT WORD_BIT WSTOPPED WUNTRACED W_OK XATTR_LIST_MAX "
    "XATTR_NAME_MAX XATTR_SIZE_MAX X_OK atomic_compare_exchange_strong_explicit "
    "atomic_compare_exchange_weak_explicit atomic_exchange_explicit atomic_fetch_add_explicit "
    "atomic_fetch_and_explicit atomic_fetch_or_explicit atomic_fetch_sub_explicit atomic_fetch_xor_explicit "
    "atomic_init atomic_load_explicit atomic_store_explicit sa_handler sa_sigaction si_addr si_addr_lsb si_arch "
    "si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall "
    "si_timerid si_uid si_upper si_utime si_value sigev_notify_attributes sigev_notify_function ";

std::set<std::string_view> words_of(std::string_view list) {
  std::set<std::string_view> words;
  for (size_t begin = 1, end; (end = list.find(' ', begin)) != std::string_view::npos; begin = end + 1)
    words.insert(list.substr(begin, end - begin));
  return words;
}

bool has_prefix(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix;
}
bool has_suffix(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

/// INT32_MAX, SIZE_WIDTH, UINT8_C: limits of a type, as <stdint.h> and <limits.h> name them.
bool is_limit(std::string_view name) {
  constexpr std::string_view kSuffixes[] = {"_MAX", "_MIN", "_WIDTH", "_C", "_BIT"};
  constexpr std::string_view kTypes[] = {"CHAR",  "SCHAR",  "UCHAR", "SHRT", "USHRT", "LONG",     "ULONG",
                                         "LLONG", "ULLONG", "BOOL",  "SIZE", "SSIZE", "RSIZE",    "PTRDIFF",
                                         "WCHAR", "WINT",   "RAND",  "TMP",  "FOPEN", "FILENAME", "SIG_ATOMIC"};
  for (std::string_view suffix : kSuffixes) {
    if (!has_suffix(name, suffix)) continue;
    std::string_view type = name.substr(0, name.size() - suffix.size());
    if (has_prefix(type, "INT") || has_prefix(type, "UINT")) return true;
    if (std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes)) return true;
  }
  return false;
}

/// The rest of `PRIx64` and `SCNdMAX` behind the letters.
bool is_width(std::string_view text) {
  for (std::string_view kind : {"LEAST", "FAST"})
    if (has_prefix(text, kind)) text.remove_prefix(kind.size());
  constexpr std::string_view kWidths[] = {"8", "16", "32", "64", "MAX", "PTR"};
  return std::find(std::begin(kWidths), std::end(kWidths), text) != std::end(kWidths);
}

/// Families of names that a standard header has, or that a later standard may add to it.
bool is_of_a_family(std::string_view name) {
  for (std::string_view own : {"rlx_", "RLX_", "RELAXC_", "RELAX_RT_"})
    if (has_prefix(name, own)) return true;
  if (has_suffix(name, "_t") && (has_prefix(name, "int") || has_prefix(name, "uint"))) return true;
  if (is_limit(name)) return true;
  for (std::string_view prefix :
       {"FLT_", "DBL_", "LDBL_", "DEC32_", "DEC64_", "DEC128_", "DEC_", "LC_", "FE_", "FP_", "SIG_", "ATOMIC_"})
    if (has_prefix(name, prefix) && name.size() > prefix.size() && is_capital(name[prefix.size()])) return true;
  bool format = has_prefix(name, "PRI") || has_prefix(name, "SCN");
  return format && name.size() > 4 && std::string_view("bBdiouxX").find(name[3]) != std::string_view::npos &&
         is_width(name.substr(4));
}

}  // namespace

bool is_keyword(std::string_view name) {
  static const std::set<std::string_view> kWords = words_of(kKeywords);
  return kWords.count(name) != 0;
}

bool is_reserved(std::string_view name) {
  if (name.find("__") != std::string_view::npos) return true;
  if (name.size() > 1 && name[0] == '_' && is_capital(name[1])) return true;
  for (std::string_view word : {"_mips", "_cdecl", "_fastcall", "_pascal", "_stdcall", "_thiscall", "_asm"})
    if (name == word) return true;
  static const std::set<std::string_view> kWords = words_of(kMacros), kSystemWords = words_of(kSystemMacros);
  return is_keyword(name) || is_of_a_family(name) || kWords.count(name) != 0 || kSystemWords.count(name) != 0;
}

}  // namespace relaxc::interface
