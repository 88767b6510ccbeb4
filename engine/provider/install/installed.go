package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// CheckLock compares a configuration's requirements with the lock file. Each provider must have a locked
// version that its constraints allow, unless it is built in or unmanaged (see [Request]).
func CheckLock(reqs Requirements, lock *lockfile.File, unmanaged map[addrs.Provider]bool) diags.Diagnostics {
	var missing, outdated []string
	for _, p := range sortedProviders(reqs) {
		if p.IsBuiltin() || unmanaged[p] {
			continue
		}
		set, err := constraint.From(reqs[p])
		if err != nil {
			return diags.Errorf(nil, "Invalid version constraint", "Provider %s: %v.", p.ForDisplay(), err)
		}
		locked, ok := lock.Lock(p)
		switch {
		case !ok:
			missing = append(missing, fmt.Sprintf("\n  - provider %s: needed by the configuration or the state, but no version is selected", p))
		case !set.Has(locked.Version):
			outdated = append(outdated, fmt.Sprintf("\n  - provider %s: the selected version %s does not meet the version constraints %q", p, locked.Version, set))
		}
	}
	switch {
	case len(outdated) > 0:
		return inconsistent(append(missing, outdated...), "lockstep init -upgrade")
	case len(missing) > 0:
		return inconsistent(missing, "lockstep init")
	}
	return nil
}

func inconsistent(problems []string, command string) diags.Diagnostics {
	return diags.Errorf(nil, "Inconsistent dependency lock file",
		"The dependency lock file does not fit the configuration:%s\n\nTo select versions that do, run:\n  %s", strings.Join(problems, ""), command)
}

// Installed finds the packages that init has installed in a data directory, and compares them with the lock
// file. It does not look for providers without an entry in the lock file (see [CheckLock]). memo may be nil;
// it saves the time to compute checksums again. Installed also writes new checksums to memo.
//
// A package must have a checksum that is in the lock file. If the entry has no checksums at all, nothing is
// compared.
func Installed(dataDir string, lock *lockfile.File, providers []addrs.Provider, memo *Memo) (map[addrs.Provider]Selection, diags.Diagnostics) {
	if memo == nil {
		memo = OpenMemo("")
	}
	found := map[addrs.Provider]Selection{}
	var problems []string
	for _, p := range providers {
		locked, ok := lock.Lock(p)
		if !ok {
			continue
		}
		s, err := installed(dataDir, p, locked, memo)
		if err != nil {
			problems = append(problems, fmt.Sprintf("\n  - %s: %v", p, err))
			continue
		}
		found[p] = s
	}
	_ = memo.Save() // a failure only costs time later
	if len(problems) > 0 {
		return found, diags.Errorf(nil, "Required plugins are not installed",
			"The installed provider plugins are not consistent with the packages selected in the dependency lock file:%s\n\nTo install them, run:\n  lockstep init", strings.Join(problems, ""))
	}
	return found, nil
}

func installed(dataDir string, p addrs.Provider, locked lockfile.Lock, memo *Memo) (s Selection, err error) {
	s = Selection{Provider: p, Version: locked.Version}
	s.Dir = packageDir(filepath.Join(dataDir, ProvidersDir), p, locked.Version, CurrentPlatform())
	if s.Hash, err = memo.hash(s.Dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return s, fmt.Errorf("there is no package for %s %s cached in %s", p, locked.Version, filepath.Join(dataDir, ProvidersDir))
		}
		return s, err
	}
	if fits, _ := (sums{h1: s.Hash}).fits(locked.Hashes); !fits && len(locked.Hashes) > 0 {
		return s, fmt.Errorf("the package in %s has the checksum %s, which doesn't match any of the checksums recorded in the dependency lock file", s.Dir, s.Hash)
	}
	s.Executable, err = FindExecutable(s.Dir, p)
	return s, err
}
