package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// verified has the checksums of packages that were verified. It is needed because a lock file may have only the
// checksum of the package's archive, and the archive is deleted after unpacking. Without this record, each run
// would download the archive once more. The record is in the memory of Lockstep's process, where no plugin can
// write.
type verified struct {
	mu       sync.Mutex
	recalled bool
	h1       map[string][]string
}

// key returns the key of a provider in the version and with the checksums of l.
func (v *verified) key(p addrs.Provider, l lockfile.Lock) string {
	return fmt.Sprintf("%s %s %q", p, l.Version, slices.Sorted(slices.Values(l.Hashes)))
}

// add returns the lock l with the checksums of unpacked packages that were verified earlier for the same
// lock.
func (v *verified) add(p addrs.Provider, l lockfile.Lock) lockfile.Lock {
	if len(l.Hashes) == 0 {
		return l
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	l.Hashes = slices.Concat(l.Hashes, v.h1[v.key(p, l)])
	return l
}

// remember records the checksum of a package that was unpacked and verified. granted is the lock that the base
// branch grants. now also has the checksum.
func (v *verified) remember(p addrs.Provider, granted, now lockfile.Lock) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.h1 == nil {
		v.h1 = map[string][]string{}
	}
	if len(granted.Hashes) > 0 {
		v.h1[v.key(p, granted)] = now.H1()
	}
}

// recall reads the checksums of packages that another process has verified, from [Engine.Memory]. It does so
// only once.
func (e *Engine) recall() {
	v := &e.verified
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.recalled || len(e.Memory) == 0 {
		return
	}
	v.recalled = true
	var h1 map[string][]string
	if json.Unmarshal(e.Memory, &h1) == nil && v.h1 == nil {
		v.h1 = h1 // Packages whose checksums are missing are downloaded again.
	}
}

// handOn passes the checksums of verified packages to [Engine.Remember].
func (e *Engine) handOn() {
	if e.Remember == nil {
		return
	}
	v := &e.verified
	v.mu.Lock()
	data, err := json.Marshal(v.h1)
	v.mu.Unlock()
	if err == nil && len(v.h1) > 0 {
		e.Remember(data)
	}
}
