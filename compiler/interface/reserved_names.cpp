// reserved_names.cpp: lists of keywords, macros and types of C and C++.
//
// A generated header is included into programs of any dialect, before or after any system header. So the lists are the
// union over all of them: GNU modes define `linux` and `unix`, C23 and C++ have keywords that C99 does not, and
// <errno.h> or <sys/mman.h> may come first. Debian's C library defines 11,000 macros without parameters, other systems
// and programs define others; nearly all are in capitals, as is usual in C, so one rule covers these and lists contain
// the rest. Macros with parameters are listed only if a header that relax_rt.h includes has them: no other name in a
// generated header is followed by a parenthesis.
#include "compiler/interface/reserved_names.h"

#include <algorithm>
#include <set>

namespace relaxc::interface {
namespace {

/// Keywords of C and C++, separated by blanks as in kMacros.
constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "contract_assert decltype default delete do double dynamic_cast else enum explicit export extern false float "
    "for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Macros that compilers define in GNU modes, macros of the standard headers, and types of <stddef.h>.
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

/// Macros of other headers that take no parameters and are not recognized by their capitals: those of glibc, as g++ and
/// gnu11 see them (tests/unit/interface/headers_test.py asks the compilers), and those of Windows.
constexpr std::string_view kSystemMacros =
    " AF_DECnet ARPOP_InREPLY ARPOP_InREQUEST B0 B1000000 B110 B115200 B1152000 B1200 B134 B150 B1500000 B1800 "
    "B19200 B200 B2000000 B230400 B2400 B2500000 B300 B3000000 B3500000 B38400 B4000000 B460800 B4800 B50 B500000 "
    "B57600 B576000 B600 B75 B921600 B9600 IGMP_v1_ROUTER IGMP_v2_ROUTER L_cuserid La_x32_regs La_x32_retval "
    "PCI_PM_CAP_PME_D3cold PCI_PM_CAP_PME_D3hot PF_DECnet R10 R11 R12 R13 R14 R15 R8 R9 SHT_GNU_verdef "
    "SHT_GNU_verneed SHT_GNU_versym SHT_SUNW_move SHT_SUNW_syminfo _res arp_hln arp_hrd arp_op arp_pln arp_pro "
    "atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit atomic_exchange_explicit "
    "atomic_fetch_add_explicit atomic_fetch_and_explicit atomic_fetch_or_explicit atomic_fetch_sub_explicit "
    "atomic_fetch_xor_explicit atomic_init atomic_load_explicit atomic_store_explicit b64_ntop b64_pton basename "
    "d_fileno direct dn_count_labels dq_bhardlimit dq_bsoftlimit dq_btime dq_curinodes dq_curspace dq_ihardlimit "
    "dq_isoftlimit dq_itime dq_valid fp_nquery fp_query fp_resstat h_addr h_errno hostalias hyper icmp6_data16 "
    "icmp6_data32 icmp6_data8 icmp6_id icmp6_maxdelay icmp6_mtu icmp6_pptr icmp6_seq icmp_data icmp_gwaddr "
    "icmp_id icmp_ip icmp_lifetime icmp_mask icmp_nextmtu icmp_num_addrs icmp_otime icmp_pmvoid icmp_pptr "
    "icmp_radv icmp_rtime icmp_seq icmp_ttime icmp_void icmp_wpa ifa_broadaddr ifa_dstaddr ifc_buf ifc_req "
    "ifr_addr ifr_bandwidth ifr_broadaddr ifr_data ifr_dstaddr ifr_flags ifr_hwaddr ifr_ifindex ifr_map "
    "ifr_metric ifr_mtu ifr_name ifr_netmask ifr_newname ifr_qlen ifr_slave interface ip6_flow ip6_hlim ip6_hops "
    "ip6_nxt ip6_plen ip6_vfc loc_aton loc_ntoa mld_cksum mld_code mld_maxdelay mld_reserved mld_type msg_cbytes "
    "nd_na_cksum nd_na_code nd_na_flags_reserved nd_na_type nd_ns_cksum nd_ns_code nd_ns_reserved nd_ns_type "
    "nd_ra_cksum nd_ra_code nd_ra_curhoplimit nd_ra_flags_reserved nd_ra_router_lifetime nd_ra_type nd_rd_cksum "
    "nd_rd_code nd_rd_reserved nd_rd_type nd_rs_cksum nd_rs_code nd_rs_reserved nd_rs_type no_argument nsaddr "
    "optional_argument p_cdname p_cdnname p_class p_fqname p_fqnname p_option p_query p_rcode p_time p_type "
    "putlong putshort required_argument res_close res_hostalias res_init res_isourserver res_nameinquery "
    "res_nclose res_ninit res_queriesmatch res_randomid rip_nets rip_tracefile rr_cksum rr_code rr_seqnum rr_type "
    "rt_mss s6_addr s6_addr16 s6_addr32 sa_handler sa_sigaction sax25_uid si_addr si_addr_lsb si_arch si_band "
    "si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid "
    "si_uid si_upper si_utime si_value sigev_notify_attributes sigev_notify_function sipx_action sipx_special "
    "small ss_name ss_speed st_atime st_ctime st_mtime stats_ptr sym_ntop sym_ntos sym_ston th_block th_code "
    "th_data th_msg th_stuff tsp_hopcnt tsp_time ut_addr ut_name ut_time ut_xtime xEOF ";

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
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
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

/// Whether `text` can follow the first four letters of macros such as `PRIx64` and `SCNdMAX`.
bool is_width(std::string_view text) {
  for (std::string_view kind : {"LEAST", "FAST"})
    if (has_prefix(text, kind)) text.remove_prefix(kind.size());
  constexpr std::string_view kWidths[] = {"8", "16", "32", "64", "MAX", "PTR"};
  return std::find(std::begin(kWidths), std::end(kWidths), text) != std::end(kWidths);
}

/// Whether a name is in a family that a standard header uses or that a later standard may extend.
bool is_of_a_family(std::string_view name) {
  for (std::string_view own : {"rlx_", "RLX_", "RELAXC_", "RELAX_RT_"})
    if (has_prefix(name, own)) return true;
  if (has_suffix(name, "_t") && (has_prefix(name, "int") || has_prefix(name, "uint"))) return true;
  if (is_limit(name)) return true;
  for (std::string_view numbered : {"SYS_", "R_386_", "R_390_"})
    if (has_prefix(name, numbered)) return true;
  if (has_prefix(name, "M_") && name.size() > 2 && (is_capital(name[2]) || is_decimal(name[2]))) return true;
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

bool looks_like_a_macro(std::string_view name) {
  bool capitals =
      std::all_of(name.begin(), name.end(), [](char c) { return is_capital(c) || is_decimal(c) || c == '_'; });
  return capitals && std::count_if(name.begin(), name.end(), is_capital) > 1 && name.back() != '_';
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
