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

// A SchemaCache keeps the schemas of plugins between runs, in files of a directory, so that a plugin need not
// be asked again. Asking can be slow: a large plugin takes half a second for an answer of some megabytes.
// Package tfplugin decides when a kept answer may be used.
//
// An entry belongs to the checksum of a plugin's verified package, so another plugin, or another version, has
// another entry. A damaged file does not match the checksum in its first line, and counts as missing.
//
// That checksum is no defence against forgery: a forger could have a secret attribute declared as a public
// one. A user who can write to the directory is trusted like the plugin. Therefore the directory is in the
// user's own cache directory, and a file that other users may write to counts as missing.
//
// The pipeline, where programs of a pull request run, has no such cache. An answer can only be checked by
// asking the plugin; a checksum can check only a package. The answer comes while such a program already runs,
// and the pipeline keeps nothing that a run's process returns from then on (package subprocess). A store that
// many repositories read would carry one repository's forgery to all others.
//
// The pipeline loses little time. The answer of a plugin of 600 MB with 1,500 types has 11 MB and takes 0.1 s
// of a plan. The first call comes 6.7 s after the message if the package is downloaded, 4.2 s if it comes
// from a store, and 1.5 s if it is installed (TestLargeProvider in lambdatest, medians of three on two cores
// without other work).
type SchemaCache struct{ dir string }

// OpenSchemaCache returns the cache in a directory, which need not exist. If dir is "", the cache keeps
// nothing.
func OpenSchemaCache(dir string) SchemaCache { return SchemaCache{dir} }

// A CachedPlugin has the facts on which a plugin's schema depends.
type CachedPlugin struct {
	Source, Version string
	// Checksum is the checksum of the verified package, such as "h1:...". If it is "", nothing is kept.
	Checksum string
	// Environ is the plugin's environment. Some plugins declare more if a variable is set.
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

// maxCached is the largest size of an entry in bytes.
const maxCached = 64 << 20

// maxEntries is the number of entries that remain when another one is added: those that were read last.
const maxEntries = 30

// Recall returns the kept answer, or nil if there is none.
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

// head returns the first line of an entry.
func (e *CacheEntry) head(body []byte) string {
	h := sha256.New()
	io.WriteString(h, e.key)
	h.Write(body)
	return "lockstep schema 1 " + hex.EncodeToString(h.Sum(nil))
}

// Keep stores an answer, if the directory is writable. Readers see the complete entry or none.
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

// prune removes the entries that were not read for the longest time, and incomplete files of dead processes.
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

// decidingVariables returns those variables of an environment that may change a plugin's schema, sorted. It
// leaves out variables that Lockstep itself reads, variables that a shell changes, and credentials: no schema
// depends on them.
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
