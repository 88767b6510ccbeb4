package confine

import "golang.org/x/sys/unix"

// machine is how seccomp calls the one that we run on.
const machine = unix.AUDIT_ARCH_X86_64
