// Package credentials keeps the tokens of hosts: in the credentials file, or with the credentials
// helper that the CLI configuration names.
//
// It refuses to know how a token is obtained and its use. Start at [Open].
//
// Source: https://developer.hashicorp.com/terraform/cli/config/config-file#credentials and
// https://developer.hashicorp.com/terraform/internals/credentials-helpers
package credentials

import (
	"errors"
	"fmt"
	"sync"

	svchost "github.com/hashicorp/terraform-svchost"
	"github.com/hashicorp/terraform-svchost/auth"

	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/secret"
)

// A Place is where the token of a host is kept.
type Place int

const (
	// Nowhere is the place of no token. A new one goes into the credentials file.
	Nowhere Place = iota
	// InFile is the credentials file.
	InFile
	// WithHelper is the credentials helper, whether it has a token for the host or not.
	WithHelper
	// Elsewhere is another file of the CLI configuration, which only its owner edits.
	Elsewhere
)

// errOtherFile is the error of a change to a token that another file gives.
var errOtherFile = errors.New("the credentials are in a file of the CLI configuration, and not in the credentials file")

// A Store keeps tokens. It may be used by many goroutines. Hosts have the form of
// [cliconfig.Config.Token].
type Store struct {
	config *cliconfig.Config
	mu     sync.Mutex
	helper auth.CredentialsSource // nil: there is none; mu is held, as it remembers answers in a map
}

// Open returns the store of a CLI configuration.
func Open(config *cliconfig.Config) *Store {
	s := &Store{config: config}
	if h := config.Helper; h != nil && h.Program != "" {
		s.helper = auth.CachingCredentialsSource(auth.HelperProgramCredentialsSource(h.Program, h.Args...))
	}
	return s
}

// Token returns the token for requests to a host: of the CLI configuration, else the helper's. A
// failure of the helper counts as no token, as in the stock tool: the host may need none.
func (s *Store) Token(host string) (secret.Token, bool) {
	if token, ok := s.config.Token(host); ok || s.helper == nil {
		return token, ok
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.helper.ForHost(svchost.Hostname(host))
	if err != nil || found == nil || found.Token() == "" {
		return secret.Token{}, false
	}
	return secret.NewToken(found.Token()), true
}

// Place returns the place for the token of a host. Variables of the environment are none.
func (s *Store) Place(host string) Place {
	switch s.config.Origin(host) {
	case cliconfig.FromConfig:
		return Elsewhere
	case cliconfig.FromLogin:
		return InFile
	}
	if s.helper != nil {
		return WithHelper
	}
	return Nowhere
}

// Put stores a token at its place.
func (s *Store) Put(host string, token secret.Token) error {
	switch s.Place(host) {
	case Elsewhere:
		return errOtherFile
	case WithHelper:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.helper.StoreForHost(svchost.Hostname(host), auth.HostCredentialsToken(token.Reveal()))
	}
	return s.edit(func(hosts map[string]any) {
		drop(hosts, host)
		hosts[svchost.ForDisplay(host)] = map[string]any{"token": token.Reveal()}
	})
}

// Forget removes the token of a host from its place.
func (s *Store) Forget(host string) error {
	switch s.Place(host) {
	case Elsewhere:
		return errOtherFile
	case WithHelper:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.helper.ForgetForHost(svchost.Hostname(host))
	}
	return s.edit(func(hosts map[string]any) { drop(hosts, host) })
}

// edit changes the member "credentials" of the credentials file.
func (s *Store) edit(change func(hosts map[string]any)) error {
	if s.config.CredentialsFile == "" {
		return errors.New("there is no home directory for the credentials file")
	}
	file, err := read(s.config.CredentialsFile)
	if err != nil {
		return err
	}
	if file["credentials"] == nil {
		file["credentials"] = map[string]any{}
	}
	hosts, ok := file["credentials"].(map[string]any)
	if !ok {
		return fmt.Errorf("the member \"credentials\" of %s is no object", s.config.CredentialsFile)
	}
	change(hosts)
	return write(s.config.CredentialsFile, file)
}

// drop removes every spelling of a host.
func drop(hosts map[string]any, host string) {
	for name := range hosts {
		if normal, err := svchost.ForComparison(name); err == nil && string(normal) == host {
			delete(hosts, name)
		}
	}
}
