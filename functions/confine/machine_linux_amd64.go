package confine

import "golang.org/x/sys/unix"

// machine is seccomp's number of this architecture.
const machine = unix.AUDIT_ARCH_X86_64
