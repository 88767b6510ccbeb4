package gatefacts

import (
	"io/fs"
	"syscall"
)

// inodeOf returns the inode of a file.
// Source: inode(7), "ctime"
func inodeOf(info fs.FileInfo) (inode, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, false
	}
	return inode{
		dev: uint64(s.Dev), number: s.Ino, links: uint64(s.Nlink), mode: s.Mode, size: s.Size,
		modified: s.Mtim.Nano(), changed: s.Ctim.Nano(), owner: uint64(s.Uid), group: uint64(s.Gid), special: uint64(s.Rdev),
	}, true
}
