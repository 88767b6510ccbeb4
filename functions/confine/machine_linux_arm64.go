package confine

import "golang.org/x/sys/unix"

// machine is the architecture's number in seccomp.
const machine = unix.AUDIT_ARCH_AARCH64
