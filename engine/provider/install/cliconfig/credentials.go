package cliconfig

import (
	"errors"
	"fmt"
	"sync"

	svchost "github.com/hashicorp/terraform-svchost"
	"github.com/hashicorp/terraform-svchost/auth"

	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A TokenPlace is the place where the token of a host is stored.
type TokenPlace int

const (
	// TokenNowhere means that there is no token. A new token is stored in the credentials file.
	TokenNowhere TokenPlace = iota
	// TokenInFile means that the token is in the credentials file.
	TokenInFile
	// TokenWithHelper means that the credentials helper is responsible for the host, whether or not it has a
	// token.
	TokenWithHelper
	// TokenElsewhere means that the token is in a file of the CLI configuration other than the credentials
	// file. Only the owner edits such a file.
	TokenElsewhere
)

// errOtherFile is the error for a change to a token that is not in the credentials file, but in a file of the
// CLI configuration.
var errOtherFile = errors.New("the credentials are in a file of the CLI configuration, and not in the credentials file")

// A CredentialStore stores tokens. It is safe for concurrent use. Hosts have the form of
// [cliconfig.Config.Token].
type CredentialStore struct {
	config *Config
	mu     sync.Mutex
	helper auth.CredentialsSource // nil: there is none; used while mu is held, since it caches answers in a map
}

// OpenCredentials returns the token store of a CLI configuration: its credentials file, or its credentials
// helper.
//
// Source: https://developer.hashicorp.com/terraform/cli/config/config-file#credentials and
// https://developer.hashicorp.com/terraform/internals/credentials-helpers
func OpenCredentials(config *Config) *CredentialStore {
	s := &CredentialStore{config: config}
	if h := config.Helper; h != nil && h.Program != "" {
		s.helper = auth.CachingCredentialsSource(auth.HelperProgramCredentialsSource(h.Program, h.Args...))
	}
	return s
}

// Token returns the token for requests to a host. It asks the CLI configuration first, then the helper. The
// second result is false if neither has a token. If the helper fails, there is no token, as in Terraform: the
// host may need none.
func (s *CredentialStore) Token(host string) (hosts.Token, bool) {
	if token, ok := s.config.Token(host); ok || s.helper == nil {
		return token, ok
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.helper.ForHost(svchost.Hostname(host))
	if err != nil || found == nil || found.Token() == "" {
		return hosts.Token{}, false
	}
	return hosts.NewToken(found.Token()), true
}

// Place returns the place where the token of a host is stored. Environment variables do not count.
func (s *CredentialStore) Place(host string) TokenPlace {
	switch s.config.Origin(host) {
	case fromConfig:
		return TokenElsewhere
	case fromLogin:
		return TokenInFile
	}
	if s.helper != nil {
		return TokenWithHelper
	}
	return TokenNowhere
}

// Put stores the token of a host in its place.
func (s *CredentialStore) Put(host string, token hosts.Token) error {
	switch s.Place(host) {
	case TokenElsewhere:
		return errOtherFile
	case TokenWithHelper:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.helper.StoreForHost(svchost.Hostname(host), auth.HostCredentialsToken(token.Reveal()))
	}
	return s.edit(func(hosts map[string]any) {
		dropHost(hosts, host)
		hosts[svchost.ForDisplay(host)] = map[string]any{"token": token.Reveal()}
	})
}

// Forget removes the token of a host from its place.
func (s *CredentialStore) Forget(host string) error {
	switch s.Place(host) {
	case TokenElsewhere:
		return errOtherFile
	case TokenWithHelper:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.helper.ForgetForHost(svchost.Hostname(host))
	}
	return s.edit(func(hosts map[string]any) { dropHost(hosts, host) })
}

// edit changes the member "credentials" of the credentials file.
func (s *CredentialStore) edit(change func(hosts map[string]any)) error {
	if s.config.CredentialsFile == "" {
		return errors.New("there is no home directory for the credentials file")
	}
	file, err := readCredentials(s.config.CredentialsFile)
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
	return writeCredentials(s.config.CredentialsFile, file)
}

// dropHost removes a host from the map, in all its spellings.
func dropHost(hosts map[string]any, host string) {
	for name := range hosts {
		if normal, err := svchost.ForComparison(name); err == nil && string(normal) == host {
			delete(hosts, name)
		}
	}
}
