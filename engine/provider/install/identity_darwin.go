package install

import (
	"io/fs"
	"syscall"
)

// identify returns a file's identity from the kernel's metadata. The result is false if info has none.
func identify(info fs.FileInfo) (identity, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{uint64(s.Dev), s.Ino, s.Mtimespec.Nano(), s.Ctimespec.Nano()}, true
}
