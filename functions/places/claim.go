package places

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
)

// A Claim is the record that says whose a place is: one project's of one repository. It
// is kept for ever; closing and deleting things does not end it.
type Claim struct {
	Place  string // as [Place.String]
	RepoID int64
	// Repo is the repository's name when the claim was made, Project and Workspace whose
	// state it is there.
	Repo, Project, Workspace string
}

// claims is the collection of all claims.
const claims = "place"

// maxSegment is how long the last part of a record's key may be, with room to spare.
const maxSegment = 900

// ClaimKey returns the key of the record of who owns a place, by [Place.String]:
// "place/s3:%2F%2Fbucket%2Fkey", so that people find it, and a hash for a very long one.
func ClaimKey(place string) string {
	name := url.PathEscape(place)
	if len(name) > maxSegment {
		sum := sha256.Sum256([]byte(place))
		name = "sha256:" + hex.EncodeToString(sum[:])
	}
	return claims + "/" + name
}

// DecodeClaim reads a claim; nil if there is no record.
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
