//go:build !linux

package gatefacts

import "io/fs"

// inodeOf returns no inode: on this operating system, checkouts are not kept.
func inodeOf(fs.FileInfo) (inode, bool) { return inode{}, false }
