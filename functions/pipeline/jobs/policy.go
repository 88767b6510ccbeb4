package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Policy is a policy block of the base branch, with the content of its directory.
type Policy struct {
	requirements.Policy
	// Files are the policy and data files of the directory, by slash-separated path from it. Problem is the
	// reason if they could not be read; then the policy allows nothing.
	Files   map[string][]byte `json:",omitempty"`
	Problem string            `json:",omitempty"`
}

// ID returns a digest of the whole policy. A verdict with another ID was made by another version of the policy.
func (p Policy) ID() string {
	data, err := json.Marshal(p) // with sorted keys
	if err != nil {
		panic(err) // texts and bytes can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
