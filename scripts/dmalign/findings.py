# SPDX-License-Identifier: GPL-2.0
"""What in a kernel log says that the kernel found a fault in itself."""

import re

_FAULT = re.compile(r"""
    \bBUG: | \bkernel\ BUG\b | \bWARNING: | \bOops\b | \bKASAN:\ | \bUBSAN: | \bKFENCE:\ | \bODEBUG:
  | \bRCU\ (detected|stall) | \bhard\ LOCKUP
  | (?i: kernel\ panic | general\ protection\ fault | possible\ (circular|recursive)\ locking
      | inconsistent\ lock\ state | possible\ irq\ lock\ inversion | suspicious\ rcu\ usage | rcu.*detected.*stalls
      | self-detected\ stall | soft\ lockup | workqueue\ lockup | blocked\ for\ more\ than | sleeping\ function\ called
      | scheduling\ while\ atomic | bad\ page\ state | refcount_t: | list_(add|del)\ corruption | double\ free
      | use-after-free | unreferenced\ object | objects\ remaining | held\ lock\ freed | lock\ held\ when\ returning
      | unable\ to\ handle | page\ allocation\ failure | trying\ to\ register\ non-static\ key )
    """, re.X)


def faults(log):
    """The lines of a kernel log that report a fault, in order."""
    return [line for line in log.splitlines() if _FAULT.search(line)]
