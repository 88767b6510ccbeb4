// Package local keeps states in files, in the layout of Terraform's local
// backend: terraform.tfstate for the default workspace, and
// terraform.tfstate.d/NAME/terraform.tfstate for others, with a .backup beside
// each. It knows files and the operating system's locks; it refuses to know the
// content of a state. Start with [Open]; replace.go explains the replacement of a
// file.
//
// # Beside a stock command line tool
//
// Terraform locks the state file itself with a POSIX record lock (fcntl), and
// leaves a description of the holder in .terraform.tfstate.lock.info. The lock
// belongs to the inode, and the tool keeps its descriptor open while it waits
// for the lock (-lock-timeout) and reads and rewrites the state through it.
//
// Therefore we never replace the state file by renaming another one over it,
// although that would be the usual way to write a file in one step: a tool that
// waits for the lock would get it on the old inode, read the old state there,
// and write the new one into a file that has no name any more. We rewrite the
// file in place, as Terraform does, and make that safe by other means
// (replace.go). Links, owner and permissions of the file stay as they were, too.
//
// On Linux the lock is an open file description lock: it conflicts with POSIX
// locks of other processes in both directions, but is not lost when any
// descriptor of the file is closed somewhere else in our process. Elsewhere it
// is a POSIX lock, so that there one process must not open one state twice.
package local
