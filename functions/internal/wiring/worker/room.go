package worker

import (
	"path/filepath"
	"syscall"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// mostRoom is the disk space that is enough for any provider package, in bytes. The largest known one,
// hashicorp/aws, needs 150 MB for the archive and 850 MB for the files.
const mostRoom = 1536 << 20

// room removes packages that earlier runs have installed, if there is too little space for another package on
// the disk of dir. The required space is mostRoom, or half of the disk if the disk is small.
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

// space returns how many bytes are free on the disk of dir, and the size of that disk.
func space(dir string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
