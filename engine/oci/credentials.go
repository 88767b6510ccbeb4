package oci

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// Credentials returns the credentials for a registry, HOST or HOST:PORT. The zero value means none.
type Credentials func(ctx context.Context, host string) (auth.Credential, error)

// FromFiles returns the credentials that docker, podman and oras have stored for a user, or keep in a credential
// helper. getenv returns environment variables. A file that does not exist has no credentials; the first file
// with credentials for a registry counts.
// Source: https://opentofu.org/docs/cli/oci_registries/credentials/
func FromFiles(getenv func(string) string) Credentials {
	return func(ctx context.Context, host string) (auth.Credential, error) {
		for _, path := range files(getenv) {
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			store, err := credentials.NewStore(path, credentials.StoreOptions{})
			if err != nil {
				return auth.EmptyCredential, err
			}
			found, err := credentials.Credential(store)(ctx, host)
			if err != nil || found != auth.EmptyCredential {
				return found, err
			}
		}
		return auth.EmptyCredential, nil
	}
}

// files returns the files that may have credentials, in their order.
func files(getenv func(string) string) []string {
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
	return append(out, below(docker, "config.json")...)
}

// FromTokens returns the credentials for registries whose hosts have a token. The token may have the form
// USER:PASSWORD; otherwise it is sent as the password of a user without a meaning.
func FromTokens(tokens hosts.Tokens) Credentials {
	return func(_ context.Context, host string) (auth.Credential, error) {
		if tokens == nil {
			return auth.EmptyCredential, nil
		}
		t, ok := tokens(strings.ToLower(host))
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
