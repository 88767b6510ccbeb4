package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
)

// ShortestKey is the minimum length of the deployment's key in bytes.
const ShortestKey = 32

// A session is the content of the session's cookie. Either Token or Link is set.
type session struct {
	Login string `json:",omitempty"`
	Token string `json:",omitempty"`
	Link  *Scope `json:",omitempty"`
	End   int64  // in Unix seconds
}

// An attempt is the content of the cookie of a sign-in that has begun.
type attempt struct {
	State, Verifier, To string
	End                 int64 // in Unix seconds
}

// A Scope is what a signed link shows: a repository, or one of its pull requests.
type Scope struct {
	Owner, Name string
	Pull        int `json:",omitempty"` // 0 for the whole repository
}

// path returns the path below which everything belongs to the scope.
func (s Scope) path() string {
	if s.Pull > 0 {
		return page.PullID{Owner: s.Owner, Name: s.Name, Number: s.Pull}.Path()
	}
	return page.RepositoryID{Owner: s.Owner, Name: s.Name}.Path()
}

// covers reports whether a session may see a path: a person's session may see all paths, and a link's session only
// the paths of its scope.
func (s session) covers(path string) bool {
	return s.Link == nil || path == s.Link.path() || strings.HasPrefix(path, s.Link.path()+"/")
}

// A purpose says what a sealed value is for. A value for one purpose is worthless for another.
type purpose string

const (
	sessionPurpose purpose = "lockstep page session 1"
	attemptPurpose purpose = "lockstep page sign-in 1"
	linkPurpose    purpose = "lockstep page link 1"
)

// keys are derived from the deployment's key, one for each purpose.
type keys struct {
	sealed map[purpose]cipher.AEAD
	link   []byte
}

func newKeys(secret github.Secret) (keys, error) {
	if secret.Len() < ShortestKey {
		return keys{}, fmt.Errorf("the key of the page is shorter than %d characters: put at least %d random characters into the secret", ShortestKey, ShortestKey)
	}
	k := keys{sealed: map[purpose]cipher.AEAD{}, link: secret.DeriveKey(string(linkPurpose))}
	for _, p := range []purpose{sessionPurpose, attemptPurpose} {
		block, err := aes.NewCipher(secret.DeriveKey(string(p)))
		if err != nil {
			return keys{}, err
		}
		if k.sealed[p], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return keys{}, err
		}
	}
	return k, nil
}

// seal encrypts a value for a cookie.
func (k keys) seal(p purpose, value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // the types have texts and numbers only
	}
	return base64.RawURLEncoding.EncodeToString(k.sealed[p].Seal(nil, nil, data, []byte(p)))
}

// open decrypts a value that seal has encrypted, with the same key and for the same purpose. Otherwise, it returns
// false.
func (k keys) open(p purpose, text string, value any) bool {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil {
		data, err = k.sealed[p].Open(nil, nil, data, []byte(p))
	}
	return err == nil && json.Unmarshal(data, value) == nil
}

// sign returns the signature of a link.
func (k keys) sign(s Scope, end int64) string {
	h := hmac.New(sha256.New, k.link)
	fmt.Fprintf(h, "%s\n%d", s.path(), end)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
