package worker

import (
	"path/filepath"
	"syscall"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// mostRoom is the space needed for a package. The largest known one, hashicorp/aws, has some 150 MB of archive
// and 850 MB of files.
const mostRoom = 1536 << 20

// room removes packages of earlier runs if the disk of a directory has no space for another one. It needs half
// of a small disk, and less of a large one.
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

// space returns the free bytes of a disk, and all of its bytes.
func space(dir string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
