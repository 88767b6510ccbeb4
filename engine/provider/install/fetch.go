package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// install installs one selected version in the data directory.
func (run *ensuring) install(ctx context.Context, n need) {
	if run.alreadyThere(n) || run.cached(n) {
		return
	}
	run.makeRoom(false)
	if run.stored(ctx, n) {
		return
	}
	run.event(Event{Kind: Installing, Provider: n.provider, Version: n.version})
	pkg, err := run.Source.Package(ctx, n.provider, n.version, run.Platform)
	if err != nil {
		run.reportMissing(n, err)
		return
	}
	// If there is a plugin cache, packages are unpacked there, and linked into the data directory.
	place := run.place(n.provider, n.version)
	root := place
	if run.CacheDir != "" {
		root = packageDir(run.CacheDir, n.provider, n.version, run.Platform)
	}
	got, err := run.bringInto(ctx, n, pkg, root)
	if isFull(err) {
		run.fail("No room for a provider", "Provider %s %s was not installed, since the disk is full. In a Lambda function, the parameter EphemeralStorage of the template is its size in MB.", n.provider.ForDisplay(), n.version)
		return
	}
	if err == nil && root != place {
		err = linkOrCopy(root, place)
	}
	if err == nil {
		err = run.selected(n, got.h1)
	}
	if err != nil {
		run.fail("Failed to install provider", "Provider %s %s was not installed: %v.", n.provider.ForDisplay(), n.version, err)
		return
	}
	run.record(n, pkg, got)
	run.event(Event{Kind: Done, Provider: n.provider, Version: n.version, Auth: pkg.Auth})
}

func (run *ensuring) reportMissing(n need, err error) {
	var missing *NotFoundError
	if errors.As(err, &missing) && missing.Platform != nil {
		run.fail("Incompatible provider version",
			"There is no package of provider %s %s for the platform %s in %s. Other versions may have one.",
			n.provider.ForDisplay(), n.version, missing.Platform, strings.Join(missing.Places, " or "))
		return
	}
	run.fail("Failed to install provider", "Provider %s %s was not installed: %v.", n.provider.ForDisplay(), n.version, err)
}

// alreadyThere uses the package in the data directory, and reports whether it did. The checksum of the package
// must be in the lock file.
func (run *ensuring) alreadyThere(n need) bool {
	dir := run.place(n.provider, n.version)
	if len(n.prior.H1()) == 0 || !isPackageDir(dir) {
		return false
	}
	h1, err := run.memo().hash(dir)
	if err != nil {
		return false
	}
	if fits, _ := (sums{h1: h1}).fits(n.prior.Hashes); !fits || run.selected(n, h1) != nil {
		return false
	}
	run.event(Event{Kind: AlreadyInstalled, Provider: n.provider, Version: n.version})
	return true
}

// cached uses the package in the plugin cache, and reports whether it did. The checksum of the package must be
// in the lock file. Otherwise the package is fetched from its source, so that all checksums of the source are
// recorded.
func (run *ensuring) cached(n need) bool {
	if run.CacheDir == "" {
		return false
	}
	dir := packageDir(run.CacheDir, n.provider, n.version, run.Platform)
	h1, ok := run.inCache(n, dir)
	if !ok || linkOrCopy(dir, run.place(n.provider, n.version)) != nil || run.selected(n, h1) != nil {
		return false
	}
	run.record(n, Package{}, sums{h1: h1})
	run.event(Event{Kind: FromCache, Provider: n.provider, Version: n.version})
	return true
}

// stored uses the package in the store, and reports whether it did. The checksum of the package must be in the
// lock file. Otherwise the package comes from the provider's source.
func (run *ensuring) stored(ctx context.Context, n need) bool {
	if run.Store == nil || len(n.prior.H1())+len(n.prior.ZH()) == 0 {
		return false
	}
	pkg, err := run.Store(ctx, Kept{Provider: n.provider, Version: n.version, Platform: run.Platform})
	if err != nil || pkg.Remote == nil {
		return false
	}
	got, err := run.bringInto(ctx, n, pkg, run.place(n.provider, n.version))
	if err != nil || run.selected(n, got.h1) != nil {
		return false
	}
	run.record(n, Package{}, got)
	run.event(Event{Kind: FromStore, Provider: n.provider, Version: n.version})
	return true
}

// inCache reports whether a directory of the plugin cache has a usable package, and returns its checksum.
func (run *ensuring) inCache(n need, dir string) (h1 string, ok bool) {
	if !isPackageDir(dir) {
		return "", false
	}
	h1, err := run.memo().hash(dir)
	if err != nil {
		return "", false
	}
	fits, _ := (sums{h1: h1}).fits(n.prior.Hashes)
	return h1, fits || run.CacheMayBreakLock
}

// selected adds an installed package to the result. It returns an error if the package has no provider program.
func (run *ensuring) selected(n need, h1 string) error {
	dir := run.place(n.provider, n.version)
	program, err := FindExecutable(dir, n.provider)
	if err != nil {
		return err
	}
	run.used(dir)
	run.result.Selections[n.provider] = Selection{n.provider, n.version, dir, program, h1}
	return nil
}

// record writes an installed package's entry in the lock file. The entry has the checksums of the prior entry,
// the package's own checksum, and the checksums that the package's authors have signed.
func (run *ensuring) record(n need, pkg Package, got sums) {
	hashes := append([]string{got.h1}, n.prior.Hashes...)
	run.result.Lock.Set(n.provider, lockfile.Lock{
		Version: n.version, Constraints: n.constraints, Hashes: append(hashes, pkg.Signed...),
	})
	if len(n.prior.Hashes) == 0 && len(pkg.Signed) == 0 {
		run.result.LocalChecksums = append(run.result.LocalChecksums, n.provider)
	}
}

// bring puts a package into the directory dir, and returns the package's checksums. It first compares them with
// the checksums of the source and of the lock file.
func (run *ensuring) bring(ctx context.Context, n need, pkg Package, dir string) (sums, error) {
	if pkg.Dir != "" {
		h1, err := run.memo().hash(pkg.Dir)
		if err != nil {
			return sums{}, err
		}
		if err := run.compare(n, pkg, sums{h1: h1}); err != nil {
			return sums{}, err
		}
		return sums{h1: h1}, linkOrCopy(pkg.Dir, dir)
	}
	tmp, err := tempName(dir)
	if err != nil {
		return sums{}, err
	}
	defer os.RemoveAll(filepath.Dir(tmp))
	got, err := run.unpacked(ctx, pkg, tmp)
	if err != nil {
		return sums{}, err
	}
	if err := run.compare(n, pkg, got); err != nil {
		return sums{}, err
	}
	if _, err := FindExecutable(tmp, n.provider); err != nil {
		return sums{}, err
	}
	if archive := run.archive(pkg, tmp); run.Keep != nil && pkg.isDownloaded() {
		run.Keep(ctx, Kept{n.provider, n.version, run.Platform, archive})
	}
	return got, moveInto(tmp, dir, func() bool {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			return false
		}
		h1, err := hashDir(dir)
		return err == nil && h1 == got.h1
	})
}

// archive returns the path of a package's archive on disk. A downloaded archive is beside the directory to
// which it is unpacked.
func (run *ensuring) archive(pkg Package, dir string) string {
	if pkg.isDownloaded() {
		return filepath.Join(filepath.Dir(dir), "package.zip")
	}
	return pkg.Archive
}

// unpacked unpacks a package into a new directory, and returns all its checksums.
func (run *ensuring) unpacked(ctx context.Context, pkg Package, dir string) (sums, error) {
	limits := run.Limits
	if limits == (Limits{}) {
		limits = defaultLimits
	}
	if pkg.Remote != nil {
		return unpackRemote(ctx, pkg, dir, limits)
	}
	path := run.archive(pkg, dir)
	if pkg.isDownloaded() {
		if err := run.download(ctx, pkg, path); err != nil {
			return sums{}, err
		}
	}
	zh, err := hashArchive(path)
	if err != nil {
		return sums{}, err
	}
	// Compare an archive with the source's checksums before unpacking anything.
	if all := (lockfile.Lock{Hashes: pkg.Hashes}).ZH(); len(all) == len(pkg.Hashes) && len(all) > 0 {
		if fits, _ := (sums{zh: zh}).fits(all); !fits {
			return sums{}, mismatch(all, zh)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return sums{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sums{}, err
	}
	got, err := unpack(f, info.Size(), dir, limits)
	got.zh = zh
	return got, err
}

// unpackRemote unpacks an archive while it arrives. The checksum is known only at the end: before that, the
// directory does not count as a package.
func unpackRemote(ctx context.Context, pkg Package, dir string, limits Limits) (sums, error) {
	archive, err := pkg.Remote(ctx)
	if err != nil {
		return sums{}, err
	}
	defer archive.Close()
	got, err := unpack(archive, archive.Size(), dir, limits)
	if err != nil {
		return sums{}, err
	}
	sum, err := archive.Sum()
	got.zh = "zh:" + sum
	return got, err
}

func (run *ensuring) download(ctx context.Context, pkg Package, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	fetch := pkg.Fetch
	if fetch == nil {
		fetch = func(ctx context.Context, f *os.File) error { return run.Client.Download(ctx, pkg.URL, f) }
	}
	return errors.Join(fetch(ctx, f), f.Close())
}

// compare returns an error if the package has none of its source's checksums, or none of the lock file's. If
// none of the lock file's checksums can be compared with this kind of package, Terraform accepts the package
// and adds its checksum. Lockstep does the same, with a warning.
func (run *ensuring) compare(n need, pkg Package, got sums) error {
	if fits, checkable := got.fits(pkg.Hashes); checkable && !fits {
		return mismatch(pkg.Hashes, got.String())
	}
	fits, checkable := got.fits(n.prior.Hashes)
	if checkable && !fits {
		return &checksumError{n.prior.Hashes, got.String()}
	}
	if !checkable && len(n.prior.Hashes) > 0 {
		run.ds = append(run.ds, diags.Warningf(nil, "Provider package not compared with the lock file",
			"The dependency lock file has no checksum of provider %s %s that can be compared with the package that was found, which has %s.",
			n.provider.ForDisplay(), n.version, got)...)
	}
	return nil
}

// A checksumError reports a package with none of the lock file's checksums.
type checksumError struct {
	Want []string
	Got  string
}

// Error returns the checksums and what to do.
func (e *checksumError) Error() string {
	return fmt.Sprintf("the package doesn't match any of the checksums previously recorded in the dependency lock file: expected %s, got %s. "+
		"Either it was exchanged, or the recorded checksums are for other platforms. If you trust it, remove the provider's block from %s and run `lockstep init`",
		some(e.Want), e.Got, lockfile.Name)
}

// mismatch returns the error for a package with none of its source's checksums.
func mismatch(want []string, got string) error {
	return fmt.Errorf("the package doesn't have the checksum that its source gives: expected %s, got %s", some(want), got)
}

// some returns a text with the first few checksums.
func some(hashes []string) string {
	const few = 4
	text := strings.Join(hashes[:min(few, len(hashes))], " or ")
	if len(hashes) > few {
		text += fmt.Sprintf(" or one of %d others", len(hashes)-few)
	}
	return text
}

// linkOrCopy links a directory, or copies it if links are not possible.
func linkOrCopy(from, to string) error {
	if err := link(from, to); err == nil {
		return nil
	}
	tmp, err := tempName(to)
	if err != nil {
		return err
	}
	if err := os.CopyFS(tmp, os.DirFS(from)); err != nil {
		os.RemoveAll(filepath.Dir(tmp))
		return err
	}
	return moveInto(tmp, to, nil)
}
