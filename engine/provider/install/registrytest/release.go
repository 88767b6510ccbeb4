package registrytest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A Release is one version of a provider. It is the same for all hosts that the server serves.
type Release struct {
	Namespace, Type, Version string
	// Platforms are the platforms of the packages, such as `linux_amd64`. If empty, there is only a package
	// for this program's platform.
	Platforms []string
	// Protocols are the supported versions of the plugin protocol. If empty, they are 5.0 and 6.0.
	Protocols []string
	// Program is the content of the provider's executable file. If nil, it is a text with the release's name.
	Program []byte
	// Files are further files of the package, by name.
	Files map[string]string

	zips map[string][]byte // by platform
}

// Add publishes a release.
func (s *Server) Add(r Release) {
	s.t.Helper()
	if len(r.Platforms) == 0 {
		r.Platforms = []string{runtime.GOOS + "_" + runtime.GOARCH}
	}
	if len(r.Protocols) == 0 {
		r.Protocols = []string{"5.0", "6.0"}
	}
	if r.Program == nil {
		r.Program = fmt.Appendf(nil, "program of %s/%s %s\n", r.Namespace, r.Type, r.Version)
	}
	r.zips = map[string][]byte{}
	for _, platform := range r.Platforms {
		r.zips[platform] = Zip(s.t, r.entries(platform)...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releases = append(s.releases, &r)
}

func (r *Release) entries(platform string) []Entry {
	entries := []Entry{
		{Name: fmt.Sprintf("terraform-provider-%s_v%s", r.Type, r.Version), Content: string(r.Program), Mode: 0o755},
		{Name: "PLATFORM", Content: platform, Mode: 0o644},
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		entries = append(entries, Entry{Name: name, Content: r.Files[name], Mode: 0o644})
	}
	return entries
}

// An Entry is a file in an archive.
type Entry struct {
	Name    string
	Content string
	Mode    fs.FileMode
}

// Zip returns an archive with exactly these entries, even invalid ones.
func Zip(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.Name, Method: zip.Deflate}
		h.SetMode(e.Mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(e.Content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *Server) release(namespace, typeName, version string) *Release {
	for _, r := range s.releasesOf(namespace, typeName) {
		if r.Version == version {
			return r
		}
	}
	return nil
}

func (s *Server) releasesOf(namespace, typeName string) (found []*Release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.releases {
		if r.Namespace == namespace && r.Type == typeName {
			found = append(found, r)
		}
	}
	return found
}

// zipName returns the name of a release's archive for a platform.
func (r *Release) zipName(platform string) string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", r.Type, r.Version, platform)
}

func (r *Release) stem() string { return fmt.Sprintf("terraform-provider-%s_%s_", r.Type, r.Version) }

// manifest returns a file that real releases also list among the checksums.
func (r *Release) manifest() []byte {
	return fmt.Appendf(nil, `{"version":1,"metadata":{"protocol_versions":["%s"]}}`, strings.Join(r.Protocols, `","`))
}

// sums returns the content of SHA256SUMS.
func (r *Release) sums() []byte {
	var b strings.Builder
	for _, platform := range r.Platforms {
		fmt.Fprintf(&b, "%s  %s\n", sum(r.zips[platform]), r.zipName(platform))
	}
	fmt.Fprintf(&b, "%s  %smanifest.json\n", sum(r.manifest()), r.stem())
	return []byte(b.String())
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Checksums returns, by file name, the `zh:` checksums that the lock file has after an installation from the
// registry.
func (s *Server) Checksums(namespace, typeName, version string) map[string]string {
	checksums := map[string]string{}
	r := s.release(namespace, typeName, version)
	if r == nil {
		s.t.Fatalf("there is no release %s of %s/%s", version, namespace, typeName)
	}
	for line := range strings.Lines(string(r.sums())) {
		fields := strings.Fields(line)
		checksums[fields[1]] = "zh:" + fields[0]
	}
	return checksums
}

func (s *Server) file(r *Release, name string) []byte {
	switch name {
	case r.stem() + "SHA256SUMS":
		return r.sums()
	case r.stem() + "SHA256SUMS.sig":
		return s.Signer.Sign(r.sums())
	}
	for platform, content := range r.zips {
		if name == r.zipName(platform) {
			return content
		}
	}
	return nil
}
