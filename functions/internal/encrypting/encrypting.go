// Package encrypting reads the encryption block of a configuration, and the environment variable
// TF_ENCRYPTION, which adds to it: how states and plans are encrypted, in OpenTofu's words. It makes
// the ciphers of package encryption.
//
// It refuses to know how expressions are evaluated, where states are, and AWS: its user passes
// functions. Start at [Read].
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

// Variable is the environment variable with the body of a block, which is merged into that of the
// configuration.
const Variable = "TF_ENCRYPTION"

// KMS connects to AWS KMS with the arguments of a block `key_provider "aws_kms"` that are not about
// the key itself, in the form that encoding/json gives.
type KMS func(ctx context.Context, arguments map[string]any) (encryption.KMSClient, error)

// Input is the configuration of encryption.
type Input struct {
	// Blocks are those of the root module; later ones override parts of the first.
	Blocks []*config.Encryption
	// Environment is the value of [Variable].
	Environment string
	// Evaluate returns the value of an expression, which may be secret. If values may be unknown, the
	// configuration is validated, and the [Set] is of no use.
	Evaluate func(hcl.Expression) (cty.Value, hcl.Diagnostics)
	KMS      KMS
	// Refuse returns the reason, for people, why an argument of a block `key_provider "aws_kms"` must
	// not be set, "" if it may be. nil: all may.
	Refuse func(argument string) string
}

// A Set has the ciphers that are configured. The nil Set has none.
type Set struct {
	state, plan, others *encryption.Cipher
	named               map[string]*encryption.Cipher
	described           seals
}

// State returns the cipher of states; nil: they are not encrypted.
func (s *Set) State() *encryption.Cipher {
	if s == nil {
		return nil
	}
	return s.state
}

// Plan returns the cipher of saved plans; nil: they are not encrypted.
func (s *Set) Plan() *encryption.Cipher {
	if s == nil {
		return nil
	}
	return s.plan
}

// RemoteState returns the cipher of the state that a data source terraform_remote_state reads. address
// is the data source's, a resource instance; the labels of blocks are "NAME", "MODULE.NAME" or
// "NAME[KEY]".
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

// Read returns the ciphers that are configured, nil if there are none. Key providers and methods that
// no target uses are not evaluated. No key is made yet.
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
