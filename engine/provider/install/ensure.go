package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// A need is a provider whose version is selected.
type need struct {
	provider    addrs.Provider
	constraints constraint.Set
	version     constraint.Version
	// prior is the lock file's entry, if it has this version.
	prior lockfile.Lock
}

// ensuring is one run of [Installer.Ensure].
type ensuring struct {
	*Installer
	Request
	needs  []need
	result Result
	ds     diags.Diagnostics
}

// Ensure installs the required providers that the data directory does not have. It continues after a failure,
// to report all failures at once. With errors, the result still has the installed providers, but its lock
// file must not be saved.
func (in *Installer) Ensure(ctx context.Context, req Request) (Result, diags.Diagnostics) {
	if req.Lock == nil {
		req.Lock = &lockfile.File{}
	}
	run := &ensuring{Installer: in, Request: req}
	run.result.Selections = map[addrs.Provider]Selection{}
	run.result.Lock, run.result.First = req.Lock.Clone(), len(req.Lock.Providers()) == 0
	for _, p := range req.Lock.Providers() {
		if _, required := req.Requirements[p]; !required && !req.Unmanaged[p] {
			run.result.Lock.Remove(p)
		}
	}
	// Select all versions before anything is fetched: a requirement that no version meets is then reported
	// before the downloads.
	for _, p := range sortedProviders(req.Requirements) {
		if n, ok := run.selectVersion(ctx, p); ok {
			run.needs = append(run.needs, n)
		}
	}
	for _, n := range run.needs {
		if ctx.Err() != nil {
			break
		}
		run.install(ctx, n)
	}
	if ctx.Err() != nil {
		run.ds = append(run.ds, canceled("Not all providers are installed. Run init again.")...)
	}
	run.result.Changed = !run.result.Lock.Equal(req.Lock)
	if req.ReadOnly && !run.ds.HasErrors() {
		run.checkReadOnly()
	}
	_ = in.memo().Save() // a failure only costs time later
	return run.result, run.ds
}

func sortedProviders(reqs Requirements) []addrs.Provider {
	var providers []addrs.Provider
	for p := range reqs {
		providers = append(providers, p)
	}
	slices.SortFunc(providers, addrs.Provider.Compare)
	return providers
}

// selectVersion selects a version of p. ok is false if an error occurred, or if p need not be installed.
func (run *ensuring) selectVersion(ctx context.Context, p addrs.Provider) (n need, ok bool) {
	if p.IsBuiltin() {
		run.checkBuiltin(p)
		return n, false
	}
	if run.Unmanaged[p] {
		return n, false
	}
	if p.Namespace == addrs.LegacyNamespace {
		run.fail("Invalid legacy provider address",
			"The state or the configuration has the provider address %s, in the form of Terraform 0.12. Replace it by the full address: `lockstep state replace-provider %s %s`.", p, p, addrs.DefaultProvider(p.Type))
		return n, false
	}
	n.provider = p
	var err error
	if n.constraints, err = constraint.From(run.Requirements[p]); err != nil {
		run.fail("Invalid version constraint", "Provider %s: %v.", p.ForDisplay(), err)
		return n, false
	}
	lock, locked := run.Lock.Lock(p)
	if locked && !run.Upgrade {
		run.event(Event{Kind: Reusing, Provider: p})
		if !n.constraints.Has(lock.Version) {
			run.fail("Failed to query available provider packages",
				"The dependency lock file selects provider %s %s, which the configuration's version constraints %q do not allow. Run `lockstep init -upgrade` to select another version.",
				p.ForDisplay(), lock.Version, n.constraints)
			return n, false
		}
		n.version, n.prior = lock.Version, lock
		return n, true
	}
	run.event(Event{Kind: Finding, Provider: p, Constraints: n.constraints})
	versions, warnings, err := run.Source.Versions(ctx, p)
	for _, w := range warnings {
		run.ds = append(run.ds, diags.Warningf(nil, "Additional provider information from registry",
			"The registry's warning about provider %s: %s", p.ForDisplay(), w)...)
	}
	if err != nil {
		run.fail("Failed to query available provider packages", "No version of provider %s can be selected: %v.%s", p.ForDisplay(), err, hintFor(p, err))
		return n, false
	}
	if n.version, ok = n.constraints.Newest(versions); !ok {
		run.fail("Failed to query available provider packages",
			"No version of provider %s can be selected: %s.", p.ForDisplay(), whyNone(n.constraints, versions))
		return n, false
	}
	if locked && lock.Version == n.version {
		n.prior = lock
	}
	return n, true
}

// whyNone names the newest release that the constraints exclude, or says that there are no releases.
func whyNone(constraints constraint.Set, versions []constraint.Version) string {
	newest, ok := (constraint.Set{}).Newest(versions)
	if !ok {
		return fmt.Sprintf("of its %d versions none is a release, and pre-releases must be asked for exactly", len(versions))
	}
	return fmt.Sprintf("no available release matches the version constraints %q; the newest one is %s", constraints, newest)
}

// hintFor suggests a missing declaration: a provider that is not found in the default namespace is often in
// another namespace, and has no required_providers entry.
func hintFor(p addrs.Provider, err error) string {
	var missing *NotFoundError
	if errors.As(err, &missing) && p == addrs.DefaultProviderIn(p.DefaultRegistry(), p.Type) {
		return fmt.Sprintf(" If the provider is not one of HashiCorp's, each module that uses it must declare it in its required_providers block: %s = { source = \"NAMESPACE/%s\" }.", p.Type, p.Type)
	}
	return ""
}

func (run *ensuring) checkBuiltin(p addrs.Provider) {
	switch {
	case p != addrs.BuiltinTerraform:
		run.fail("Invalid dependency on built-in provider", "There is no built-in provider %q.", p.Type)
	case len(run.Requirements[p]) > 0:
		run.fail("Invalid dependency on built-in provider",
			"The provider %s is built in, so its version cannot be constrained. Remove the version argument.", p)
	default:
		run.event(Event{Kind: BuiltIn, Provider: p})
	}
}

func (run *ensuring) fail(summary, detail string, args ...any) {
	run.ds = append(run.ds, diags.Errorf(nil, summary, detail, args...)...)
}

func (run *ensuring) checkReadOnly() {
	switch {
	case !run.result.Lock.SameProviders(run.Lock):
		run.fail("Provider dependency changes detected",
			"The configuration needs other providers than those in %s, and -lockfile=readonly forbids to change it. Run `lockstep init` without that option, and commit the file.", lockfile.Name)
	case run.result.Changed:
		run.ds = append(run.ds, diags.Warningf(nil, "Provider lock file not updated",
			"The checksums or constraints of the selected providers have changed, but -lockfile=readonly keeps them out of %s. Run `lockstep init` without that option to record them.", lockfile.Name)...)
	}
}
