package requirements

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// Terragrunt is the terragrunt block of lockstep.hcl: how Lockstep runs Terragrunt to find and to prepare projects.
//
//	tools = { terragrunt = "sha256:..." }
//
//	terragrunt {
//	  env = { TG_FEATURE = "new_cluster=true" }
//	}
type Terragrunt struct {
	// Digest is the SHA-256 checksum of the program, in hexadecimal digits.
	Digest string
	// Env are environment variables of the program. The program gets no other variables, except a few
	// of the system's.
	Env map[string]string `json:",omitempty"`
	// Network allows the program to use the network.
	Network bool `json:",omitempty"`
	// Timeout is the time limit of each run, in seconds.
	Timeout int
}

// ID returns a digest of everything in the block.
func (t Terragrunt) ID() string {
	data, err := json.Marshal(t) // with sorted keys
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// TerragruntTool is the name of Terragrunt in the argument tools.
const TerragruntTool = "terragrunt"

// ParseTerragrunt parses the terragrunt block. tools are the digests of tools by name. It returns nil if there is no
// block, or if the block has errors.
func ParseTerragrunt(list hcl.Blocks, tools map[string]string) (*Terragrunt, hcl.Diagnostics) {
	if len(list) == 0 {
		return nil, nil
	}
	r, b := &blocks.Reader{}, list[0]
	if len(list) > 1 {
		r.Errorf(list[1].DefRange, "Second terragrunt block", "There is one at %s already: merge the two.", b.DefRange)
	}
	r.Content(b.Body, blocks.Schema([]string{"env", "network", "timeout"}))
	s := Step{Env: r.Texts("env"), Network: r.Flag("network"), Timeout: DefaultStepTimeout}
	s.checkEnv(r)
	if r.Has("timeout") {
		s.timeout(r)
	}
	digest, ok := tools[TerragruntTool]
	if !ok {
		r.Errorf(b.DefRange, "Unknown tool", "The argument tools has no tool %q. Run `lockstep toolbox add %[1]s FILE` with the file of Terragrunt, which adds it.", TerragruntTool)
	}
	if r.Diags.HasErrors() {
		return nil, r.Diags
	}
	return &Terragrunt{Digest: digest, Env: s.Env, Network: s.Network, Timeout: s.Timeout}, r.Diags
}
