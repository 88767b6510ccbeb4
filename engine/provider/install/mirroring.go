package install

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

// A MirrorRequest is the input of [Installer.Mirror].
type MirrorRequest struct {
	Requirements Requirements
	// Lock has the versions of the providers to mirror. If Lock is nil, the newest allowed versions are
	// selected.
	Lock      *lockfile.File
	Platforms []Platform
	Dir       string // made where it is missing
}

// mirroring is one run of [Installer.Mirror].
type mirroring struct {
	*ensuring
	MirrorRequest
}

// Mirror downloads the archives of the required packages into a directory, in the layout of a filesystem
// mirror. It also writes the documents that make the directory a network mirror. They list all archives of
// the directory, older ones included. The source must have packages to download.
//
// A package that fails is an error, and an older archive of it stays unchanged. The other packages are
// downloaded nevertheless.
func (in *Installer) Mirror(ctx context.Context, req MirrorRequest) diags.Diagnostics {
	if req.Lock == nil {
		req.Lock = &lockfile.File{}
	}
	quiet := *in
	quiet.Events = nil
	run := mirroring{&ensuring{Installer: &quiet, Request: Request{Requirements: req.Requirements, Lock: req.Lock}}, req}
	var needs []need
	for _, p := range sortedProviders(req.Requirements) {
		if p.IsBuiltin() {
			in.event(Event{Kind: Skipping, Provider: p})
		} else if n, ok := run.selectVersion(ctx, p); ok {
			needs = append(needs, n)
		}
	}
	for i := range run.ds {
		if run.ds[i].Severity == diags.Error {
			run.ds[i].Summary = "Provider not available"
		}
	}
	quiet.Events = in.Events
	for _, n := range needs {
		run.mirror(ctx, n)
	}
	if ctx.Err() != nil {
		return append(run.ds, canceled("Not all packages are in the mirror, and its documents are not up to date. Run it again.")...)
	}
	return append(run.ds, writeIndexes(req.Dir)...)
}

// mirror fetches the packages of one provider.
func (run mirroring) mirror(ctx context.Context, n need) {
	run.event(Event{Kind: Mirroring, Provider: n.provider})
	kind := Selected
	if _, locked := run.MirrorRequest.Lock.Lock(n.provider); locked {
		kind = SelectedLocked
	}
	run.event(Event{Kind: kind, Provider: n.provider, Version: n.version, Constraints: n.constraints})
	for _, platform := range run.Platforms {
		if ctx.Err() != nil {
			return
		}
		run.event(Event{Kind: Downloading, Provider: n.provider, Version: n.version, Platform: platform})
		pkg, err := run.Source.Package(ctx, n.provider, n.version, platform)
		if err != nil {
			run.fail("Provider release not available", "Failed to download %s v%s for %s: %v.", n.provider, n.version, platform, err)
			continue
		}
		if err := run.put(ctx, n, pkg, platform); errors.As(err, new(invalidPackage)) {
			run.fail("Invalid provider package", "Failed to authenticate %s v%s for %s: %v.", n.provider, n.version, platform, err)
			continue
		} else if err != nil {
			run.fail("Cannot download provider release", "Failed to download %s v%s for %s: %v.", n.provider, n.version, platform, err)
			continue
		}
		run.event(Event{Kind: Authenticated, Provider: n.provider, Version: n.version, Platform: platform, Auth: pkg.Auth})
	}
}

// invalidPackage is the error of a package that is damaged or has none of its source's checksums.
type invalidPackage struct{ error }

// put downloads a package to a temporary path beside its final path, and renames it after it is verified.
func (run mirroring) put(ctx context.Context, n need, pkg Package, platform Platform) (err error) {
	if !pkg.isDownloaded() {
		return errors.New("its source has no archive of it to download")
	}
	path := filepath.Join(providerDir(run.Dir, n.provider), archiveName(packageKey{n.version, platform}, n.provider))
	made := missingDirs(filepath.Dir(path))
	defer func() {
		for i := 0; err != nil && i < len(made); i++ {
			os.Remove(made[i]) // fails if the directory is not empty
		}
	}()
	tmp, err := tempName(path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(tmp))
	archive := run.archive(pkg, tmp)
	if err := run.download(ctx, pkg, archive); err != nil {
		return err
	}
	var got sums
	if got.zh, err = hashArchive(archive); err != nil {
		return err
	}
	if got.h1, err = hashPacked(archive); err != nil {
		return invalidPackage{fmt.Errorf("read the package's archive: %w", err)}
	}
	if fits, checkable := got.fits(pkg.Hashes); checkable && !fits {
		return invalidPackage{mismatch(pkg.Hashes, got.zh)}
	}
	if fits, _ := got.fits(n.prior.Hashes); !fits && len(n.prior.ZH()) > 0 {
		run.ds = append(run.ds, otherPackage(n, platform, got)...)
	}
	return os.Rename(archive, path)
}

// missingDirs returns the directories that os.MkdirAll would create, innermost first.
func missingDirs(dir string) (missing []string) {
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing, dir = append(missing, dir), filepath.Dir(dir)
	}
}

// These are the documents of a network mirror, as Terraform 1.11 writes them.
type (
	mirrorIndex struct {
		Versions map[string]struct{} `json:"versions"`
	}
	mirrorVersion struct {
		Archives map[string]mirrorArchive `json:"archives"`
	}
	mirrorArchive struct {
		Hashes []string `json:"hashes"`
		URL    string   `json:"url"` // relative to the document's own
	}
)

// writeIndexes writes the documents of a network mirror for all archives in a directory, including archives
// from earlier runs and other tools.
func writeIndexes(dir string) (ds diags.Diagnostics) {
	providers, err := mirrored(dir)
	if err != nil {
		return diags.FromError("Failed to update indexes", err)
	}
	for _, p := range providers {
		if (FilesystemMirror{dir}).has(p) {
			ds = append(ds, writeIndex(dir, p)...)
		}
	}
	return ds
}

// writeIndex writes the documents of one provider. It writes the list of versions last, so that each listed
// version already has its document.
func writeIndex(root string, p addrs.Provider) (ds diags.Diagnostics) {
	const summary = "Failed to update indexes"
	archives, err := FilesystemMirror{root}.archives(p)
	if err != nil {
		return diags.FromError(summary, err)
	}
	dir := providerDir(root, p)
	versions := map[string]mirrorVersion{}
	for _, key := range archives {
		name := archiveName(key, p)
		h1, err := hashPacked(filepath.Join(dir, name))
		if err != nil {
			ds = append(ds, diags.Errorf(nil, summary, "Failed to determine a hash value for %s v%s on %s: %v.", p, key.version, key.platform, err)...)
			continue
		}
		doc, ok := versions[key.version.String()]
		if !ok {
			doc.Archives = map[string]mirrorArchive{}
			versions[key.version.String()] = doc
		}
		doc.Archives[key.platform.String()] = mirrorArchive{[]string{h1}, name}
	}
	index := mirrorIndex{map[string]struct{}{}}
	var names []string
	for v := range versions {
		index.Versions[v] = struct{}{}
		names = append(names, v)
	}
	slices.Sort(names)
	for _, v := range names {
		err = errors.Join(err, writeDocument(filepath.Join(dir, v+".json"), versions[v]))
	}
	if err == nil {
		err = writeDocument(filepath.Join(dir, "index.json"), index)
	}
	return append(ds, diags.FromError(summary, err)...)
}

// writeDocument replaces a document in one step, if its content changes.
func writeDocument(path string, doc any) error {
	content, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	tmp, err := tempName(path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(tmp))
	if err := os.WriteFile(tmp, content, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// mirrored returns the providers whose directories exist below root, sorted. A missing root has none.
func mirrored(root string) (providers []addrs.Provider, err error) {
	var list func(path string, depth int) error
	list = func(path string, depth int) error {
		entries, err := readDir(filepath.Join(root, filepath.FromSlash(path)))
		for _, e := range entries {
			below := path + "/" + e.Name()
			if depth < 2 {
				err = errors.Join(err, list(below, depth+1))
			} else if p, err := addrs.ParseProvider(below[1:]); err == nil {
				providers = append(providers, p)
			}
		}
		return err
	}
	err = list("", 0)
	slices.SortFunc(providers, addrs.Provider.Compare)
	return providers, err
}

// archives returns the version and platform of each archive of a provider, sorted.
func (m FilesystemMirror) archives(p addrs.Provider) (found []packageKey, err error) {
	entries, err := readDir(providerDir(m.Dir, p))
	for _, e := range entries {
		// Skip an archive whose name is not exactly the one that parseArchiveName expects: nobody would look
		// for the archive under that name.
		if key, ok := parseArchiveName(e.Name(), p); ok && archiveName(key, p) == e.Name() {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, func(a, b packageKey) int {
		return cmp.Or(constraint.Compare(a.version, b.version), cmp.Compare(a.platform.String(), b.platform.String()))
	})
	return found, err
}
