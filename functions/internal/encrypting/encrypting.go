// Package encrypting reads how states and plans are encrypted, in OpenTofu's syntax: from the encryption block
// of a configuration, and from the environment variable TF_ENCRYPTION, which adds to the block. It creates the
// ciphers of package encryption.
//
// The package does not evaluate expressions, does not know where states are stored, and does not know AWS. Its
// caller passes functions for that. Start at [Read].
//
// Source: https://opentofu.org/docs/language/state/encryption/
package encrypting

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// Variable is the environment variable that can contain the body of an encryption block. Read merges that body
// into the configuration's block.
const Variable = "TF_ENCRYPTION"

// KMS returns a client of AWS KMS. arguments are the arguments of a `key_provider "aws_kms"` block, as
// encoding/json decodes them. Those that are about the key itself are left out.
type KMS func(ctx context.Context, arguments map[string]any) (encryption.KMSClient, error)

// Input is everything from which [Read] reads how to encrypt.
type Input struct {
	// Blocks are the encryption blocks of the root module. A later block overrides parts of the earlier ones.
	Blocks []*config.Encryption
	// Environment is the value of the environment variable that [Variable] names.
	Environment string
	// Evaluate returns the value of an expression, which may be secret. If it returns an unknown value, Read
	// only validates the configuration, and its [Set] must not be used.
	Evaluate func(hcl.Expression) (cty.Value, hcl.Diagnostics)
	KMS      KMS
	// Program runs the programs of key providers; nil forbids them.
	Program encryption.RunProgram
	// Refuse returns the reason, for users, why an argument of a block `key_provider "aws_kms"` must not be
	// set; "" if it may be set. If Refuse is nil, all arguments are allowed.
	Refuse func(argument string) string
}

// A Set has the ciphers for states and plans that a configuration asks for. The nil Set has none.
type Set struct {
	state, plan, others *encryption.Cipher
	named               map[string]*encryption.Cipher
	described           seals
}

// State returns the cipher of states; nil if they are not encrypted.
func (s *Set) State() *encryption.Cipher {
	if s == nil {
		return nil
	}
	return s.state
}

// Plan returns the cipher of saved plans; nil if they are not encrypted.
func (s *Set) Plan() *encryption.Cipher {
	if s == nil {
		return nil
	}
	return s.plan
}

// RemoteState returns the cipher of the state that an instance of a terraform_remote_state data source reads.
// address is the instance's address. The configuration names it by a block with the label "NAME", "MODULE.NAME"
// or "NAME[KEY]".
func (s *Set) RemoteState(address string) *encryption.Cipher {
	if s == nil {
		return nil
	}
	label := strings.TrimPrefix(strings.Replace(address, "data.terraform_remote_state.", "", 1), "module.")
	if c, ok := s.named[label]; ok {
		return c
	}
	return s.others
}

// Read returns the ciphers that a configuration asks for; nil if it asks for none. It evaluates only those key
// providers and methods that a target uses. It derives no keys yet.
func Read(in Input) (*Set, diags.Diagnostics) {
	r := &reader{in: in, declared: map[string]*declared{}, keys: map[string]*encryption.Keys{}, lengths: map[string]int{}, methods: map[string]encryption.Method{}, failed: map[string]bool{}, imprints: map[string]imprint{}}
	for _, b := range in.Blocks {
		r.at = b.Range
		r.block(b.Body)
	}
	if text := strings.TrimSpace(in.Environment); text != "" {
		parse := parsing.Config
		if text[0] == '{' {
			parse = parsing.JSON
		}
		f, hs := parse([]byte(text), Variable)
		if r.problems(hs); hs.HasErrors() {
			return nil, r.ds
		}
		r.at = hcl.Range{Filename: Variable, Start: hcl.InitialPos, End: hcl.InitialPos}
		r.block(f.Body)
	}
	if r.ds.HasErrors() || len(in.Blocks) == 0 && strings.TrimSpace(in.Environment) == "" {
		return nil, r.ds
	}
	s := &Set{named: map[string]*encryption.Cipher{}, described: seals{named: map[string]seal{}}}
	s.state, s.described.state = r.cipher("state", r.state)
	s.plan, s.described.plan = r.cipher("plan", r.plan)
	s.others, s.described.others = r.cipher("default", r.others)
	for _, t := range r.named {
		s.named[t.label], s.described.named[t.label] = r.cipher("remote_state_data_source", t)
	}
	if r.ds.HasErrors() {
		return nil, r.ds
	}
	if r.unencrypted != nil {
		r.ds = append(r.ds, diags.Warningf(r.unencrypted, "Unencrypted method configured",
			"The method \"unencrypted\" lets states or plans in clear be read, or written. That is for the time of a migration only: take it out once everything is encrypted.")...)
	}
	return s, r.ds
}
