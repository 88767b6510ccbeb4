package worker

import (
	"path/filepath"
	"syscall"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
)

// mostRoom is the disk space needed for a package, in bytes. The largest known one, hashicorp/aws, has about
// 150 MB of archive and 850 MB of files.
const mostRoom = 1536 << 20

// room removes packages of earlier runs if the disk of a directory has too little space for another one. On a
// small disk it requires half of the space to be free, on a large disk mostRoom.
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

// space returns the free bytes and the size of a disk.
func space(dir string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
