package process

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A SchemaCache keeps the schemas of plugins from one run to the next, in files of a directory, so that a plugin
// need not be asked again: an answer of some megabytes takes a large one half a second. It refuses to know when a
// plugin may be left unasked: package tfplugin does.
//
// An entry belongs to the checksum of a plugin's verified package, so that another plugin, or another
// version, has another entry. A damaged file has another checksum than its head, and counts as missing.
// That is no defence against a forger, who could have a secret attribute declared as a public one: who
// can write to the directory is trusted as the plugin is. Therefore it is the user's own cache directory,
// a file that others may write to counts as missing, and the pipeline, where programs of a pull request
// run, has no such cache: nobody can check an answer but by asking the plugin, as a checksum checks a package,
// and the answer comes when a program runs already, from where on the pipeline keeps nothing that a run's process
// tells (package subprocess). A store that many repositories read would carry one's forgery to all others. The
// price is small. Of a plugin of 600 MB with 1,500 types the answer has 11 MB and takes 0.1 s of a plan; the first call
// comes 6.7 s after the message where the package is downloaded, 4.2 s from a store, and 1.5 s where it is installed
// (TestLargeProvider in lambdatest, medians of three on two cores without other work).
type SchemaCache struct{ dir string }

// OpenSchemaCache returns the cache in a directory, which need not exist. "" is a cache that keeps nothing.
func OpenSchemaCache(dir string) SchemaCache { return SchemaCache{dir} }

// A CachedPlugin has the facts that decide on a schema.
type CachedPlugin struct {
	Source, Version string
	// Checksum is that of the verified package, such as "h1:...". Without one nothing is kept.
	Checksum string
	// Environ is the plugin's environment: there are plugins that declare more if a variable is set.
	Environ []string
}

// Of returns the entry of a plugin.
func (c SchemaCache) Of(p CachedPlugin) *CacheEntry {
	if c.dir == "" || p.Checksum == "" {
		return &CacheEntry{}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %s %s %q", p.Source, p.Version, p.Checksum, runtime.GOOS, runtime.GOARCH, decidingVariables(p.Environ))
	key := hex.EncodeToString(h.Sum(nil))
	return &CacheEntry{dir: c.dir, path: filepath.Join(c.dir, key+cacheSuffix), key: key}
}

const cacheSuffix = ".schema"

// A CacheEntry is the kept answer of one plugin.
type CacheEntry struct{ dir, path, key string }

// maxCached is the largest entry in bytes.
const maxCached = 64 << 20

// maxEntries is the number of entries that stay when another one is added: those read last.
const maxEntries = 30

// Recall returns the answer that was kept, or nil.
func (e *CacheEntry) Recall() []byte {
	if e.path == "" {
		return nil
	}
	f, err := os.Open(e.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	shared := info != nil && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" // where modes mean nothing
	if err != nil || !info.Mode().IsRegular() || shared || info.Size() > maxCached {
		return nil
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil
	}
	head, body, _ := bytes.Cut(content, []byte("\n"))
	if string(head) != e.head(body) {
		return nil
	}
	if now := time.Now(); now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(e.path, now, now) // so that it counts as read
	}
	return body
}

// head is the first line of an entry.
func (e *CacheEntry) head(body []byte) string {
	h := sha256.New()
	io.WriteString(h, e.key)
	h.Write(body)
	return "lockstep schema 1 " + hex.EncodeToString(h.Sum(nil))
}

// Keep keeps an answer, if the directory can be written to. Others see it whole or not at all.
func (e *CacheEntry) Keep(answer []byte) {
	if e.path == "" || len(answer) > maxCached-1000 {
		return
	}
	if os.MkdirAll(e.dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(e.dir, "new-*"+cacheSuffix) // for its owner only
	if err != nil {
		return
	}
	_, err = io.WriteString(f, e.head(answer)+"\n")
	if err == nil {
		_, err = f.Write(answer)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), e.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return
	}
	e.prune()
}

// prune removes the entries that were not read for longest, and the drafts of dead processes.
func (e *CacheEntry) prune() {
	paths, err := filepath.Glob(filepath.Join(e.dir, "*"+cacheSuffix))
	if err != nil || len(paths) <= maxEntries {
		return
	}
	age := map[string]time.Time{}
	for _, p := range paths {
		if info, err := os.Lstat(p); err == nil {
			age[p] = info.ModTime()
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return age[b].Compare(age[a]) })
	for _, p := range paths[maxEntries:] {
		if p != e.path {
			os.Remove(p)
		}
	}
}

// decidingVariables returns the variables of an environment that a schema may depend on, sorted. Left out are
// those that Lockstep itself reads, that a shell changes, and credentials, which are nobody's schema.
func decidingVariables(environ []string) []string {
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(variablesOfShell, name) ||
			slices.ContainsFunc(variablesOfLockstep, func(p string) bool { return strings.HasPrefix(name, p) }) ||
			slices.ContainsFunc(variablesOfSecrets, func(p string) bool { return strings.Contains(strings.ToUpper(name), p) }) {
			continue
		}
		out = append(out, entry)
	}
	slices.Sort(out)
	return out
}

var (
	variablesOfShell    = []string{"_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "TERM", "WINDOWID"}
	variablesOfLockstep = []string{"TF_VAR_", "TF_CLI_", "TF_LOG", "TF_DATA_DIR", "TF_WORKSPACE", "TF_IN_AUTOMATION", "TF_INPUT", "TF_PLUGIN_CACHE", "LOCKSTEP_"}
	variablesOfSecrets  = []string{"TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL"}
)
