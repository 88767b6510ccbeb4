// Package local keeps states in files, in the layout of Terraform's local backend: terraform.tfstate for the
// default workspace, and terraform.tfstate.d/NAME/terraform.tfstate for others, with a .backup beside each.
// It depends on files and the operating system's locks, and does not know the content of a state. Start with
// [Open]; replace.go explains how a file is rewritten.
//
// # Together with a stock command line tool
//
// Terraform locks the state file itself with a POSIX record lock (fcntl). It writes a description of the
// holder to .terraform.tfstate.lock.info. The lock belongs to the inode. The tool keeps its descriptor open
// while it waits for the lock (-lock-timeout), and reads and rewrites the state through it.
//
// Therefore Lockstep never replaces the state file by renaming another file over it, although that is the
// usual way to write a file in one step. A tool that waits for the lock would get it on the old inode, read
// the old state there, and write the new one into a file that no longer has a name. Lockstep rewrites the
// file in place, as Terraform does, and makes that safe by other means (replace.go). Links, owner and
// permissions of the file also stay as they were.
//
// On Linux the lock is an open file description lock. It conflicts with POSIX locks of other processes in
// both directions, but is not lost when this process closes another descriptor of the file. On other systems
// the lock is a POSIX lock, so one process must not open a state twice there.
package local
