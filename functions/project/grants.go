package project

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// Grants are the permissions of a project to run programs of others, and to get modules from other hosts and
// repositories. The zero value allows only the engine's built-in providers, and modules that everybody may
// read.
type Grants struct {
	// Provisioners allows provisioner blocks, which run commands.
	Provisioners bool
	// External allows the provider hashicorp/external, which runs programs. It must also be allowed as a
	// provider.
	External bool

	providers []addrs.ProviderPattern
	modules   []ModulePattern
	lock      *lockfile.File
	source    grantsSource
}

// grantsSource is the text from which the grants were parsed.
type grantsSource struct {
	Settings, Lock         []byte
	Provisioners, External bool
}

// MarshalJSON implements json.Marshaler. It writes the text that the grants were read from.
func (g Grants) MarshalJSON() ([]byte, error) {
	s := g.source
	s.Provisioners, s.External = g.Provisioners, g.External
	return json.Marshal(s)
}

// UnmarshalJSON implements json.Unmarshaler. It parses the text of the grants, which MarshalJSON has written.
// A lockstep.hcl with errors grants nothing, as at the first parsing.
func (g *Grants) UnmarshalJSON(data []byte) error {
	var s grantsSource
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	var base *Settings
	if s.Settings != nil {
		base, _ = Parse(FileName, s.Settings)
	}
	read, err := GrantsOf(base, s.Lock)
	if err != nil {
		return err
	}
	read.Provisioners, read.External = s.Provisioners, s.External
	*g = read
	return nil
}

// GrantsOf returns the permissions that the base branch gives. base is the base branch's lockstep.hcl; nil if
// it has none. baseLock is the dependency lock file in the project's directory on the base branch; nil if there
// is none. Neither parameter may ever come from the pull request.
func GrantsOf(base *Settings, baseLock []byte) (Grants, error) {
	g := Grants{lock: &lockfile.File{}, source: grantsSource{Lock: baseLock}}
	if base != nil {
		g.Provisioners, g.External = base.Allow.Provisioners, base.Allow.External
		g.providers, g.modules = base.Allow.Providers, base.Allow.Modules
		if f := base.Files[FileName]; f != nil {
			g.source.Settings = f.Bytes
		}
	}
	if baseLock == nil {
		return g, nil
	}
	lock, ds := lockfile.Parse(baseLock, lockfile.Name)
	if ds.HasErrors() {
		return g, fmt.Errorf("the base branch's dependency lock file: %w", ds.Err())
	}
	g.lock = lock
	return g, nil
}

// Locked returns the permissions for a plan of a commit that anybody may have written. These permissions allow
// only the providers in the base branch's lock file, in the versions of that file.
func (g Grants) Locked() Grants {
	return Grants{lock: g.lock, source: grantsSource{Lock: g.source.Lock}}
}

// WithoutPrograms returns the permissions without those to run programs of the pull request.
func (g Grants) WithoutPrograms() Grants {
	g.Provisioners, g.External = false, false
	return g
}

// Programs reports whether programs of the pull request may run. Such programs can read every file of the
// checkout.
func (g Grants) Programs() bool { return g.Provisioners || g.External }

// Provider checks whether a provider may run. If so, it returns the version and the checksums that the
// provider's package must have. Only a checksum that is in both lock files counts: that of the checkout and
// that of the base branch. lock is the checkout's entry for the provider; if it is zero, the base branch's
// entry is returned. If the result has no version, only the constraints limit the version.
//
// The error is a sentence for people that tells them what to do.
func (g Grants) Provider(p addrs.Provider, lock lockfile.Lock) (lockfile.Lock, error) {
	none := lockfile.Lock{}
	if p.IsBuiltin() {
		return none, nil
	}
	if isExternal(p) && !g.External {
		return none, fmt.Errorf("the provider %s runs programs, and the base branch does not allow this: set external = true in the allow block of %s on the base branch", p, FileName)
	}
	if slices.ContainsFunc(g.providers, func(x addrs.ProviderPattern) bool { return x.Matches(p) }) {
		return lock, nil
	}
	base, ok := lockfile.Lock{}, false
	if g.lock != nil {
		base, ok = g.lock.Lock(p)
	}
	switch {
	case !ok:
		return none, fmt.Errorf("the base branch does not allow the provider %s: merge a %s with this provider first, or add the provider to the allow block of %s on the base branch: providers = [%q]", p, lockfile.Name, FileName, p)
	case len(base.Hashes) == 0:
		return none, fmt.Errorf("%s on the base branch has no checksums of the provider %s, so Lockstep cannot verify its package: run \"lockstep init\" and merge the file", lockfile.Name, p)
	case lock.Version == constraint.Version{}:
		return base, nil
	case lock.Version != base.Version:
		return none, fmt.Errorf("the pull request selects version %s of the provider %s, but the base branch selects %s: merge the change of %s first, or add the provider to the allow block of %s on the base branch", lock.Version, p, base.Version, lockfile.Name, FileName)
	case len(lock.Hashes) == 0:
		return base, nil
	}
	lock.Hashes = slices.DeleteFunc(slices.Clone(lock.Hashes), func(h string) bool { return !slices.Contains(base.Hashes, h) })
	if len(lock.Hashes) == 0 {
		return none, fmt.Errorf("%s has other checksums of the provider %s %s than the base branch: merge the change of the file first", lockfile.Name, p, base.Version)
	}
	return lock, nil
}

// isExternal reports whether a provider is the provider "external", which runs programs. The registry and the
// namespace do not matter.
func isExternal(p addrs.Provider) bool {
	return p.Type == "external"
}
