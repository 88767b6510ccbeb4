// Package confine runs a program with all of its descendants as a unit that can be limited, watched
// and ended: a [Process] is over when the last descendant is gone, whatever it did to escape.
//
// Two programs work together, and both are ours. The parent starts the child with [Start]: under
// Linux in namespaces of its own, if the kernel allows that. The child calls [Enter] first of all.
// It does the trusted work (the engine), and starts untrusted programs (plugins, commands) in a
// [Cell]: on a thread that has given up dangerous rights.
//
//	parent   Start       watches memory, CPU, time, disk and processes of the whole tree;
//	                     kills it above a limit; waits until no process is left
//	child    Enter       takes in the orphans of the tree; ends it if the parent dies
//	         Cell.Start  a program sees its own files only; cannot reach other processes,
//	                     sockets or ports of this machine; cannot get rights back
//
// [Protection] has a line for each kind, and reports those that the kernel does not offer.
//
// The package knows processes only: no engine, no pipeline, no pull request. Start at [Start] and
// [NewCell].
package confine

import (
	"strings"
	"time"
)

// Limits are those of a process and all of its descendants together; zero is no limit.
type Limits struct {
	// Memory is in bytes, without those shared with files.
	Memory int64
	// CPU is processor time, Wall elapsed time.
	CPU, Wall time.Duration
	// Disk limits the bytes in the directories of [Spec.Dirs], and in any one file.
	Disk int64
	// Processes is the number of processes at any time.
	Processes int
	// Files is the number of files that each of them may have open.
	Files uint64
}

// A View is the part of the file system that programs see. Paths are absolute; missing ones are
// left out.
type View struct {
	// Read are files, and directories with all their content, that they may read and run.
	Read []string
	// Write are those that they may also write to.
	Write []string
	// Tmp is the directory in the place of /tmp. It must be in Write.
	Tmp string
}

// A Protection has a field for each way of protecting us from programs in a [Cell]: "" if it is in
// force, otherwise the reason why not.
type Protection struct {
	// Namespaces: they see only the processes, files and sockets of their own run.
	Namespaces string
	// Files: they open only their own files; the memory and environment of others are closed.
	Files string
	// Network: the ports in [CellSpec.Ports] are closed to them.
	Network string
	// Signals: they signal only each other, and reach no abstract sockets of others.
	Signals string
	// Calls: system calls that inspect other processes or change the system are refused.
	Calls string
	// Rights: they have no capabilities, and get none from a program's file.
	Rights string
}

// Lines are for people: one for each kind of protection.
func (p Protection) Lines() []string {
	var out []string
	for _, x := range []struct{ what, why string }{
		{"namespaces: own processes, own view of the file system", p.Namespaces},
		{"files: own files only, nobody's memory and environment", p.Files},
		{"network: our own ports on this machine are closed", p.Network},
		{"signals and abstract sockets: within the run only", p.Signals},
		{"system calls: none that look into other processes or change the system", p.Calls},
		{"rights: no capabilities, no set-user-ID programs", p.Rights},
	} {
		if x.why == "" {
			out = append(out, x.what)
		} else {
			out = append(out, "NOT "+strings.SplitN(x.what, ":", 2)[0]+": "+x.why)
		}
	}
	return out
}

// Complete reports whether all protections are in force.
func (p Protection) Complete() bool { return p == Protection{} }
