package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// A Gate is a gate block of lockstep.hcl: a function or a webhook that must allow a plan. Like a policy block,
// it is a requirement for applies.
type Gate struct {
	Name string
	endpoints.Endpoint
}

// ID returns a digest of everything that affects the verdict. If a verdict has another ID, it comes from
// another gate.
func (g Gate) ID() string {
	data, err := json.Marshal(g)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// maxGates is the maximum number of gate blocks in a file. Lockstep calls each gate after each plan and before
// each apply.
const maxGates = 10

// ParseGates parses gate blocks as requirements. If there are errors, some blocks are missing, and the result
// must not be used to allow anything.
func ParseGates(list hcl.Blocks) ([]Requirement, hcl.Diagnostics) {
	return blocks.Named(list, maxGates, "a function can call others", gate)
}

// gate reads one block.
func gate(r *blocks.Reader, b *hcl.Block) Requirement {
	g := &Gate{Name: b.Labels[0]}
	x := Requirement{Command: "apply", At: blocks.Place(b), Rules: Rules{Gate: g}}
	r.Content(b.Body, blocks.Schema(append([]string{"projects", "override"}, endpoints.Arguments(endpoints.Function, endpoints.URL)...)))
	g.Endpoint = endpoints.Read(r, b, endpoints.Function, endpoints.URL)
	x.Projects, x.Override = r.Projects(), lifters(r)
	r.NotEmpty(map[string]bool{"projects": x.Projects == nil, "override": x.Override == nil})
	return x
}
