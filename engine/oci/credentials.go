package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Credentials returns the credentials for a repository. at is HOST or HOST:PORT, the registry that has it. The
// zero value means none.
type Credentials func(ctx context.Context, at, repository string) (auth.Credential, error)

// A Credential is a user and a password, or tokens.
type Credential = auth.Credential

// A Login says where the credentials of a user are. The zero value means the files that docker, podman and oras
// write.
type Login struct {
	// Entries are those of the CLI configuration.
	Entries []Entry
	// Helper is the name of the credential helper for registries that nothing else is about; "" means none.
	Helper string
	// Files are files like docker's config.json, which must exist. nil means the files of docker and podman,
	// where they exist.
	Files []string
}

// An Entry has the credentials for the repositories whose names begin with a prefix.
type Entry struct {
	Prefix     string // HOST, or HOST/NAME for a part of the registry
	Credential Credential
	Helper     string // the name of a credential helper; "" means that Credential counts
}

// CheckPrefix returns an error if the prefix of an entry is neither a registry nor a part of one.
func CheckPrefix(prefix string) error {
	if host, _, part := strings.Cut(prefix, "/"); !part {
		return registry.Reference{Registry: host}.ValidateRegistry()
	}
	ref, err := registry.ParseReference(prefix)
	if err == nil && ref.Reference != "" {
		err = errors.New("a tag or a digest is not allowed")
	}
	return err
}

// CheckHelper returns an error if a name cannot be the name of a credential helper. The program of the helper x
// is docker-credential-x.
func CheckHelper(name string) error {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("%q is not the name of a credential helper: for the program docker-credential-pass, write \"pass\"", name)
	}
	return nil
}

// Credentials returns the credentials of a login. getenv returns environment variables. If several entries are
// about a repository, the one with the longest prefix counts, and of equal ones the first. An entry of a file
// counts as one of the CLI configuration with the same prefix.
// Source: https://opentofu.org/docs/cli/oci_registries/credentials/, and OpenTofu 1.12.6 for the order.
func (l Login) Credentials(getenv func(string) string) Credentials {
	return func(ctx context.Context, at, repository string) (auth.Credential, error) {
		s := search{at: at, repository: repository}
		for _, e := range l.Entries {
			get := func(context.Context) (auth.Credential, error) { return e.Credential, nil }
			if e.Helper != "" {
				get = s.helper(e.Helper)
			}
			s.offer(s.depth(e.Prefix), get)
		}
		if l.Helper != "" {
			s.offer(anyRegistry, s.helper(l.Helper))
		}
		files := l.Files
		if files == nil {
			files = usualFiles(getenv)
		}
		for _, path := range files {
			if err := s.file(path, l.Files != nil); err != nil {
				return auth.EmptyCredential, fmt.Errorf("the file %s with credentials for OCI registries cannot be used: %w", path, err)
			}
		}
		if s.best == nil {
			return auth.EmptyCredential, nil
		}
		return s.best(ctx)
	}
}

// A search looks for the credentials of one repository.
type search struct {
	at, repository string
	deepest        int
	best           func(context.Context) (auth.Credential, error)
}

// These are the depths of entries that are not about a part of a registry.
const (
	anyRegistry = 1
	oneRegistry = 2
)

// offer takes a source of credentials if it is about more of the repository's name than all before it. A depth
// of 0 means that the source is about other repositories.
func (s *search) offer(depth int, get func(context.Context) (auth.Credential, error)) {
	if depth > s.deepest {
		s.deepest, s.best = depth, get
	}
}

// depth returns the depth of an entry: [oneRegistry], and 1 more for each part of the repository's name that the
// prefix has.
func (s *search) depth(prefix string) int {
	if _, rest, url := strings.Cut(prefix, "://"); url { // docker writes https://index.docker.io/v1/
		prefix, _, _ = strings.Cut(rest, "/")
	}
	host, path, _ := strings.Cut(prefix, "/")
	if host == "index.docker.io" {
		host = "docker.io"
	}
	switch {
	case host != s.at:
		return 0
	case path == "":
		return oneRegistry
	case !strings.HasPrefix(s.repository+"/", path+"/"):
		return 0
	}
	return oneRegistry + strings.Count(path, "/") + 1
}

// helper returns a call of a credential helper. OpenTofu asks it for a URL, docker for the host.
func (s *search) helper(name string) func(context.Context) (auth.Credential, error) {
	return func(ctx context.Context) (found auth.Credential, err error) {
		store := credentials.NewNativeStore(name)
		for _, server := range []string{"https://" + s.at, credentials.ServerAddressFromRegistry(s.at)} {
			found, err = store.Get(ctx, server)
			if err == nil && found != auth.EmptyCredential {
				return found, nil
			}
		}
		if err != nil {
			return auth.EmptyCredential, fmt.Errorf("the credential helper docker-credential-%s has none for %s: %w", name, s.at, err)
		}
		return auth.EmptyCredential, nil
	}
}

// A dockerFile is the part of docker's config.json that is about credentials.
type dockerFile struct {
	Auths       map[string]json.RawMessage `json:"auths"`
	CredHelpers map[string]string          `json:"credHelpers"`
	CredsStore  string                     `json:"credsStore"`
}

// file offers what a file has.
func (s *search) file(path string, required bool) error {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil
	}
	var f dockerFile
	if err == nil {
		err = json.Unmarshal(src, &f)
	}
	if err != nil {
		return hosts.Plain(err)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Auths)) {
		depth := s.depth(key)
		if depth == 0 {
			continue
		}
		found, err := decodeEntry(f.Auths[key])
		if err != nil {
			return fmt.Errorf("its entry for %s is not valid", key) // without the entry, which is secret
		}
		if found != auth.EmptyCredential { // docker leaves an empty entry if a helper has the credentials
			s.offer(depth, func(context.Context) (auth.Credential, error) { return found, nil })
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.CredHelpers)) {
		if s.depth(key) == oneRegistry {
			s.offer(oneRegistry, s.helper(f.CredHelpers[key]))
		}
	}
	if f.CredsStore != "" {
		s.offer(anyRegistry, s.helper(f.CredsStore))
	}
	return nil
}

// decodeEntry decodes one entry of a file.
func decodeEntry(entry json.RawMessage) (auth.Credential, error) {
	const key = "registry"
	text, err := json.Marshal(map[string]any{"auths": map[string]any{key: entry}})
	if err != nil {
		return auth.EmptyCredential, err
	}
	store, err := credentials.NewMemoryStoreFromDockerConfig(text)
	if err != nil {
		return auth.EmptyCredential, err
	}
	return store.Get(context.Background(), key)
}

// usualFiles returns the files of docker and podman, in their order.
func usualFiles(getenv func(string) string) []string {
	home := getenv("HOME")
	below := func(dir, name string) []string {
		if !filepath.IsAbs(dir) {
			return nil
		}
		return []string{filepath.Join(dir, filepath.FromSlash(name))}
	}
	config := getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	docker := getenv("DOCKER_CONFIG")
	if docker == "" {
		docker = filepath.Join(home, ".docker")
	}
	out := below(getenv("XDG_RUNTIME_DIR"), "containers/auth.json")
	out = append(out, below(config, "containers/auth.json")...)
	out = append(out, below(docker, "config.json")...)
	return append(out, below(home, ".dockercfg")...)
}

// FromTokens returns the credentials for registries whose hosts have a token. The token may have the form
// USER:PASSWORD; otherwise it is sent as the password of a user without a meaning.
func FromTokens(tokens hosts.Tokens) Credentials {
	return func(_ context.Context, at, _ string) (auth.Credential, error) {
		if tokens == nil {
			return auth.EmptyCredential, nil
		}
		t, ok := tokens(strings.ToLower(at))
		if !ok {
			return auth.EmptyCredential, nil
		}
		user, password, both := strings.Cut(t.Reveal(), ":")
		if !both {
			user, password = "token", t.Reveal()
		}
		return auth.Credential{Username: user, Password: password}, nil
	}
}
