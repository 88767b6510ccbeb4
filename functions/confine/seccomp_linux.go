package confine

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are system calls that fail with EPERM: they examine other processes, change the system, or make
// the kernel do more than programs need.
var refusedCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
	unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_VHANGUP, unix.SYS_FANOTIFY_INIT,
}

// namespaceFlags are the flags of clone(2) that create namespaces.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// x32Bit is set in the numbers of system calls that use the x32 interface of the kernel.
const x32Bit = 0x40000000

// Offsets in struct seccomp_data. All supported machines are little endian, so the lower half of an argument
// comes first.
const (
	callAt     = 0
	machineAt  = 4
	argument0  = 16
	returnFail = unix.SECCOMP_RET_ERRNO
)

// filter returns the BPF program that decides about each system call. If offline is set, the program refuses
// all sockets except Unix sockets, which Lockstep needs to talk to plugins.
// Source: seccomp(2), https://docs.kernel.org/userspace-api/seccomp_filter.html
func filter(machine uint32, offline bool) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	// jump returns an instruction with a condition. If the condition is true, the next instruction is executed;
	// otherwise the next instruction is skipped.
	jump := func(how uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jf: 1, K: k}
	}
	fail := func(errno unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: returnFail | uint32(errno)}
	}
	// System calls of other architectures, such as 32-bit ones, have other numbers. The filter refuses all of
	// them.
	p := []unix.SockFilter{
		load(machineAt), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: machine}, fail(unix.ENOSYS),
		load(callAt), jump(unix.BPF_JGE, x32Bit), fail(unix.ENOSYS),
		// The flags of clone3 are in memory, which the filter cannot read. So clone3 fails with ENOSYS;
		// libraries then use clone.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3), fail(unix.ENOSYS),
	}
	for _, call := range refusedCalls {
		p = append(p, jump(unix.BPF_JEQ, call), fail(unix.EPERM))
	}
	if offline {
		p = append(p,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: unix.SYS_SOCKET},
			load(argument0), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.AF_UNIX}, fail(unix.EACCES),
			load(callAt),
		)
	}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	// The filter refuses new namespaces, because they would give new rights. It refuses a signal to the process
	// ID -1, because such a signal reaches all processes.
	p = append(p,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 4, K: unix.SYS_CLONE},
		load(argument0), jump(unix.BPF_JSET, namespaceFlags), fail(unix.EPERM), allow,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_KILL},
		load(argument0), jump(unix.BPF_JEQ, ^uint32(0)), fail(unix.EPERM),
	)
	return append(p, allow)
}

// refuseCalls installs the seccomp filter for the calling thread and its descendants. The caller must call
// noNewPrivileges first.
func refuseCalls(offline bool) error {
	if machine == 0 {
		return fmt.Errorf("the numbers of system calls are not known for this machine")
	}
	p := filter(machine, offline)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("this kernel filters no system calls: %w", err)
	}
	return nil
}
