// Package confine runs a program and all its descendants as one unit with limits. A [Process] ends only when
// its last descendant has ended, even if a descendant tries to escape.
//
// Two of Lockstep's programs work together: a parent and its child. The parent starts the child with [Start].
// On Linux, the child has its own namespaces, if the kernel allows that. The child first calls [Enter]. It runs
// trusted code (the engine). It starts untrusted programs (plugins, commands) in a [Cell]: on a thread that has
// given up dangerous rights.
//
//	parent   Start       watches memory, CPU, time, disk and processes of the whole tree;
//	                     kills it above a limit; waits until no process is left
//	child    Enter       adopts the orphans of the tree; ends the tree if the parent dies
//	         Cell.Start  a program sees its own files only; cannot reach other processes,
//	                     sockets or ports of this machine; cannot get rights back
//
// [Protection] has a field for each protection, and says which ones the kernel does not offer.
//
// The package does not know the engine, the pipeline or pull requests. Start at [Start] and [NewCell].
package confine

import (
	"strings"
	"time"
)

// Limits are the limits of a process and all its descendants together. Zero means no limit.
type Limits struct {
	// Memory is the maximum amount of memory, in bytes. It does not include memory that is shared with files.
	Memory int64
	// CPU is processor time. Wall is elapsed time.
	CPU, Wall time.Duration
	// Disk is the maximum number of bytes: in the directories of [Spec.Dirs] together, and in any single file.
	Disk int64
	// Processes is the maximum number of processes at the same time.
	Processes int
	// Files is the maximum number of open files of one process.
	Files uint64
}

// A View lists the files and directories that programs in a cell can see. Paths are absolute. Missing paths are
// ignored.
type View struct {
	// Read are files, and directories with all their content, that the programs may read and execute.
	Read []string
	// Write are files and directories that the programs may read and write.
	Write []string
	// Tmp is the directory that the programs see as /tmp. It must be in Write.
	Tmp string
}

// A Protection has one field for each way in which programs in a [Cell] are restricted. A field is "" if the
// protection is in force; otherwise it is the reason why it is not.
type Protection struct {
	// Namespaces is about this protection: programs see only the processes, files and sockets of their own run.
	Namespaces string
	// Files is about this protection: programs open only their own files. They cannot read the memory or
	// environment of other processes.
	Files string
	// Network is about this protection: programs cannot connect to the ports in [CellSpec.Ports].
	Network string
	// Signals is about this protection: programs can send signals only to each other. They cannot connect to
	// abstract sockets of processes outside of the cell.
	Signals string
	// Calls is about this protection: the kernel refuses system calls that examine other processes or change
	// the system.
	Calls string
	// Rights is about this protection: programs have no capabilities, and cannot get any from an executable
	// file.
	Rights string
}

// Lines returns the state of each protection as a line of text for people.
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
