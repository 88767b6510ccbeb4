package signin

import (
	"errors"

	"github.com/lockstep-iac/lockstep/github"
)

// A Secret is the secret of the page. ClientID and ClientSecret are those of the GitHub App; they are empty if nobody can sign in,
// and readers come with signed links.
type Secret struct{ Key, ClientID, ClientSecret github.Secret }

// ReadSecret reads the JSON object {"key": ..., "client_id": ..., "client_secret": ...}. The last two may be missing together. The
// error does not quote the secret.
func ReadSecret(all github.Secret) (s Secret, err error) {
	for _, x := range []struct {
		name string
		to   *github.Secret
	}{{"key", &s.Key}, {"client_id", &s.ClientID}, {"client_secret", &s.ClientSecret}} {
		if *x.to, err = all.Field(x.name); err != nil {
			return Secret{}, err
		}
	}
	if _, err := newKeys(s.Key); err != nil {
		return Secret{}, err
	}
	if s.ClientID.IsEmpty() != s.ClientSecret.IsEmpty() {
		return Secret{}, errors.New("it needs client_id and client_secret, or neither of them")
	}
	return s, nil
}
