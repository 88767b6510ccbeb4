package places

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// A Claim records which project of which repository owns a place. It is kept for ever, even after a pull
// request is closed or a repository is deleted.
type Claim struct {
	Place string // by [Place.String]
	// App is the App of the repository; "" for the first App.
	App    string `json:",omitempty"`
	RepoID int64
	// Repo is the repository's name when the claim was made. Project and Workspace are the owner of the state.
	Repo, Project, Workspace string
	// Left is set if the owner has left the place. Then another project was planned there while the base branch
	// no longer had the owner. Taken is set if this owner took the place over from a project that had left it.
	Left, Taken bool `json:",omitempty"`
	// Lineage is the lineage of the owner's state, as the last plan of the base branch's configuration read it;
	// "" before that.
	Lineage string `json:",omitempty"`
}

// Of reports whether the project with this name and workspace is the owner in the claim.
func (c Claim) Of(project, workspace string) bool {
	return c.Project == project && c.Workspace == workspace
}

// claims is the first part of the keys of all claims.
const claims = "place"

// maxSegment is the maximum length in bytes of the last part of a record's key, with a reserve.
const maxSegment = 900

// ClaimKey returns the key of the claim for a place, such as "place/s3:%2F%2Fbucket%2Fkey". The parameter place
// is the result of [Place.String]. If the key with the place would be too long, it contains a hash of the place
// instead.
func ClaimKey(place string) string {
	name := url.PathEscape(place)
	if len(name) > maxSegment {
		sum := sha256.Sum256([]byte(place))
		name = "sha256:" + hex.EncodeToString(sum[:])
	}
	return claims + "/" + name
}

// IsClaim reports whether a key is the key of a claim.
func IsClaim(key string) bool { return strings.HasPrefix(key, claims+"/") }

// DecodeClaim decodes a claim. It returns nil if value is nil, because there is no claim then.
func DecodeClaim(value []byte) (*Claim, error) {
	if value == nil {
		return nil, nil
	}
	var c Claim
	if err := json.Unmarshal(value, &c); err != nil {
		return nil, fmt.Errorf("read the claim on a state: the record is damaged: %w", err)
	}
	return &c, nil
}
