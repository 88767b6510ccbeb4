// Package confine runs a program with everything that it starts as one thing that can be
// limited, watched and ended: a [Process] is over when the last of its descendants is gone,
// whatever they did to get away.
//
// Two programs work together, and both are ours. The parent starts the child with [Start]:
// under Linux in namespaces of its own, if the kernel lets us. The child calls [Enter] first
// of all. It carries out what we trust (the engine), and starts what we do not (plugins,
// commands) in a [Cell]: on a thread that has given up what such programs must not have.
//
//	parent   Start       watches memory, CPU, time, disk and processes of the whole tree;
//	                     kills it above a limit; waits until nobody is left
//	child    Enter       is who orphans of the tree come to; ends it if the parent dies
//	         Cell.Start  a program sees its own files only; cannot reach other processes,
//	                     sockets or ports of this machine; cannot get rights back
//
// What the kernel does not offer is said, not hidden: [Protection] has a line for each kind.
//
// The package knows processes only: no engine, no pipeline, no pull request. Start at
// [Start] and [NewCell].
package confine

import (
	"strings"
	"time"
)

// Limits are for a process and all of its descendants together; zero is no limit.
type Limits struct {
	// Memory is in bytes: what they do not share with files.
	Memory int64
	// CPU is the time of processors, Wall the time of clocks.
	CPU, Wall time.Duration
	// Disk is how many bytes the directories of [Spec.Dirs] may hold, and any one file.
	Disk int64
	// Processes is how many there may be at a time.
	Processes int
	// Files is how many files each of them may have open.
	Files uint64
}

// A View is what programs see of the file system. Paths are absolute; those that do not
// exist are left out.
type View struct {
	// Read are files, and directories with all that is in them, that they may read and run.
	Read []string
	// Write are those that they may write to, too.
	Write []string
	// Tmp is the directory that they have in the place of /tmp. It is one of theirs to write.
	Tmp string
}

// A Protection says what programs in a [Cell] are kept from, a field for each way of
// keeping them: "" that it is in force, otherwise why it is not.
type Protection struct {
	// Namespaces: they see no processes, files and sockets but those of their own run.
	Namespaces string
	// Files: they open no files but their own; memory and environment of others are closed.
	Files string
	// Network: the ports in [CellSpec.Ports] are closed to them.
	Network string
	// Signals: they signal nobody else, and reach nobody's abstract sockets.
	Signals string
	// Calls: system calls that look into other processes or change the system are refused.
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

// Complete reports whether all of it is in force.
func (p Protection) Complete() bool { return p == Protection{} }
