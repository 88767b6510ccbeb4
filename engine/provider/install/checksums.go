package install

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// A ChecksumsRequest selects the packages for [Installer.Checksums].
type ChecksumsRequest struct {
	Requirements Requirements   // built-in providers do not count
	Lock         *lockfile.File // not changed; nil means an empty file
	Platforms    []Platform
}

// locking is one run of [Installer.Checksums].
type locking struct {
	*Installer
	ChecksumsRequest
	needs  []need
	hashes map[addrs.Provider][]string // obtained
	events []Event                     // reported at the end, if there are no errors
	ds     diags.Diagnostics
}

// Checksums gets the checksums of the required packages for the requested platforms. It uses the versions in
// the lock file, or otherwise the newest allowed ones. It returns the request's lock file with these checksums
// added, and whether any version or checksum is new. It does not use the data directory.
//
// If there are errors, the returned lock file is nil. As in Terraform, a package may have checksums that are
// not in the lock file yet: the purpose is to add them. Checksums warns if a new checksum is suspect: the lock
// file already has checksums for all platforms, and the package matches none of them.
func (in *Installer) Checksums(ctx context.Context, req ChecksumsRequest) (lock *lockfile.File, changed bool, ds diags.Diagnostics) {
	if req.Lock == nil {
		req.Lock = &lockfile.File{}
	}
	run := &locking{Installer: in, ChecksumsRequest: req, hashes: map[addrs.Provider][]string{}}
	run.selectVersions(ctx)
	seen := map[Platform]bool{}
	for _, platform := range req.Platforms {
		if run.ds.HasErrors() {
			break
		}
		if !seen[platform] {
			seen[platform] = true
			run.fetch(ctx, platform)
		}
	}
	_ = in.memo().Save() // a failure only costs time later
	if run.ds.HasErrors() {
		return nil, false, run.ds
	}
	lock = req.Lock.Clone()
	for _, n := range run.needs {
		lock.Set(n.provider, lockfile.Lock{
			Version: n.version, Constraints: n.constraints, Hashes: append(run.hashes[n.provider], n.prior.Hashes...),
		})
	}
	for _, e := range run.events {
		in.event(e)
	}
	return lock, !lock.Equal(req.Lock), run.ds
}

// selectVersions selects all versions before anything is fetched.
func (run *locking) selectVersions(ctx context.Context) {
	quiet := *run.Installer
	quiet.Events = nil
	selecting := &ensuring{Installer: &quiet, Request: Request{Requirements: run.Requirements, Lock: run.ChecksumsRequest.Lock}}
	for _, p := range sortedProviders(run.Requirements) {
		if p.IsBuiltin() {
			continue
		}
		if n, ok := selecting.selectVersion(ctx, p); ok {
			run.needs = append(run.needs, n)
		}
	}
	var problems []string
	for _, d := range selecting.ds {
		if d.Severity == diags.Error {
			problems = append(problems, d.Detail)
		} else {
			run.ds = append(run.ds, d)
		}
	}
	run.fail("Lockstep cannot select the versions whose checksums are asked for", problems)
}

// fail adds one error about the problems of several providers. It does nothing if there are no problems.
func (run *locking) fail(headline string, problems []string) {
	if len(problems) > 0 {
		run.ds = append(run.ds, diags.Errorf(nil, "Could not retrieve providers for locking", "%s:\n- %s", headline, strings.Join(problems, "\n- "))...)
	}
}

// canceled returns the diagnostic of an interruption. effect says what that means for the result.
func canceled(effect string) diags.Diagnostics {
	return diags.Errorf(nil, "Provider installation was canceled", "%s", effect)
}

// fetch gets the checksums of all packages for one platform.
func (run *locking) fetch(ctx context.Context, platform Platform) {
	var problems []string
	for _, n := range run.needs {
		if err := run.fetchOne(ctx, n, platform); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", n.provider.ForDisplay(), err))
		}
		if ctx.Err() != nil {
			run.ds = append(run.ds, canceled("No checksums are recorded. Run it again.")...)
			break
		}
	}
	run.fail(fmt.Sprintf("Lockstep failed to fetch the packages for %s, whose checksums are asked for", platform), problems)
}

func (run *locking) fetchOne(ctx context.Context, n need, platform Platform) error {
	hashes, err := run.obtain(ctx, n, platform)
	if err != nil {
		return err
	}
	run.hashes[n.provider] = append(run.hashes[n.provider], hashes...)
	e := Event{Kind: SameChecksums, Provider: n.provider, Version: n.version, Platform: platform}
	known := map[string]bool{}
	for _, h := range n.prior.Hashes {
		known[h] = true
	}
	for _, h := range hashes {
		if !known[h] {
			e.Kind = MoreChecksums
		}
	}
	if _, ok := run.ChecksumsRequest.Lock.Lock(n.provider); !ok {
		e.Kind = NewProvider
	}
	run.events = append(run.events, e)
	return nil
}

// obtain returns the checksums of a package, and those that its authors have signed.
func (run *locking) obtain(ctx context.Context, n need, platform Platform) ([]string, error) {
	dir, err := os.MkdirTemp("", "lockstep-lock-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in := *run.Installer
	in.Platform, in.DataDir, in.Events = platform, dir, nil
	fetching := &ensuring{Installer: &in}
	place := fetching.place(n.provider, n.version)
	if in.CacheDir != "" {
		place = packageDir(in.CacheDir, n.provider, n.version, platform)
		if h1, ok := fetching.inCache(n, place); ok {
			return []string{h1}, nil
		}
	}
	pkg, err := in.Source.Package(ctx, n.provider, n.version, platform)
	if err != nil {
		return nil, err
	}
	run.event(Event{Kind: Fetching, Provider: n.provider, Version: n.version, Platform: platform})
	prior := n.prior
	n.prior = lockfile.Lock{}
	got, err := fetching.bring(ctx, n, pkg, place)
	if err != nil {
		return nil, err
	}
	run.event(Event{Kind: Retrieved, Provider: n.provider, Version: n.version, Platform: platform, Auth: pkg.Auth})
	if fits, _ := got.fits(prior.Hashes); !fits && got.zh != "" && len(prior.ZH()) > 0 {
		run.ds = append(run.ds, otherPackage(n, platform, got)...)
	}
	return append([]string{got.h1}, pkg.Signed...), nil
}

// otherPackage warns of a package that may not be the locked one. `zh:` checksums are usually recorded for
// all platforms at once, so a package that matches none of them is suspect.
func otherPackage(n need, platform Platform, got sums) diags.Diagnostics {
	return diags.Warningf(nil, "Provider package has other checksums than those recorded",
		"The package of provider %s %s for %s has the checksums %s, and none of those that the dependency lock file has. Either the lock file was made before there was a package for this platform, or the package was exchanged since.",
		n.provider.ForDisplay(), n.version, platform, got)
}
