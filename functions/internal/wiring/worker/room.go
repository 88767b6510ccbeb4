package worker

import (
	"path/filepath"
	"syscall"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// mostRoom is the room for a package: the archive and the files of the largest one known, hashicorp/aws, have
// some 150 and 850 MB.
const mostRoom = 1536 << 20

// room has packages of earlier runs go where the disk of the function, which a directory is on, has no room for another
// one: half of a small disk, and less of a large one.
func room(dir string) *install.Room {
	disk := filepath.Dir(dir)
	free := func() (int64, error) {
		free, _, err := space(disk)
		return free, err
	}
	_, size, err := space(disk)
	if err != nil {
		return nil
	}
	return &install.Room{Free: free, Want: min(mostRoom, size/2)}
}

// space returns the bytes that are free on a disk, and all that it has.
func space(dir string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
