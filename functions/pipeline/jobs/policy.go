package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Policy is a policy block of the base branch, together with the files of its directory.
type Policy struct {
	requirements.Policy
	// Files are the policy and data files, by slash-separated path relative to the directory. Problem is the
	// reason if they could not be read; the policy then allows nothing.
	Files   map[string][]byte `json:",omitempty"`
	Problem string            `json:",omitempty"`
}

// ID returns a digest of the whole policy. A verdict with a different ID was made by another version of the
// policy.
func (p Policy) ID() string {
	data, err := json.Marshal(p) // with sorted keys
	if err != nil {
		panic(err) // texts and bytes can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
