package encrypting

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// A Difference describes how the encryption of one configuration differs from that of an earlier one.
// [Compare] returns it.
type Difference struct {
	State, Plan Change
	// Others is set if the states of other configurations (terraform_remote_state) are decrypted differently.
	// The user must check that the keys and methods are those of these states.
	Others bool
}

// Any reports whether there is a difference.
func (d Difference) Any() bool { return d.State.Any || d.Plan.Any || d.Others }

// A Change describes how the encryption of states, or of plans, differs between an old and a new configuration.
type Change struct {
	Any bool
	// Begins is set if only the new configuration encrypts. Ends is set if only the old configuration encrypts.
	Begins, Ends bool
	// Rekeyed is set if both configurations encrypt, but with different methods or keys.
	Rekeyed bool
	// Unreadable is set if the new configuration cannot read files that were written with the old one.
	Unreadable bool
	// Relaxed is set if only the old configuration enforces encryption.
	Relaxed bool
}

// Compare returns the difference between two configurations. Different names, and differences in blocks that no
// target uses, do not count.
func Compare(before, after *Set) Difference {
	x, y := before.seals(), after.seals()
	d := Difference{State: x.state.to(y.state), Plan: x.plan.to(y.plan)}
	d.Others = x.others.to(y.others).Any || !maps.EqualFunc(x.named, y.named, func(a, b seal) bool { return !a.to(b).Any })
	return d
}

func (s *Set) seals() seals {
	if s == nil {
		return seals{}
	}
	return s.described
}

// seals describe the ciphers of a set, so that two sets can be compared.
type seals struct {
	state, plan, others seal
	named               map[string]seal
}

// A seal describes a cipher. The zero value does not encrypt.
type seal struct {
	enforced bool
	methods  []imprint // the first encrypts
}

// An imprint describes a method or a key provider. all is the digest of all its settings. reads is the digest
// of only those settings that must stay the same to read the files that it has written. Both are zero for a
// method that does not encrypt.
type imprint struct{ all, reads [sha256.Size]byte }

func imprintOf(all, reads []any) imprint {
	return imprint{sha256.Sum256(fmt.Appendf(nil, "%q", all)), sha256.Sum256(fmt.Appendf(nil, "%q", reads))}
}

func (s seal) first() imprint {
	if len(s.methods) == 0 {
		return imprint{}
	}
	return s.methods[0]
}

// reads reports whether the cipher can read files written with the method p.
func (s seal) reads(p imprint) bool {
	clear := p == imprint{}
	if len(s.methods) == 0 {
		return clear
	}
	return !(clear && s.enforced) && slices.ContainsFunc(s.methods, func(m imprint) bool { return m.reads == p.reads })
}

func (s seal) to(after seal) Change {
	was, is := s.first(), after.first()
	return Change{
		Any:    s.enforced != after.enforced || was != is || !slices.Equal(s.rest(), after.rest()),
		Begins: was == imprint{} && is != imprint{}, Ends: was != imprint{} && is == imprint{},
		Rekeyed: was != imprint{} && is != imprint{} && was != is, Unreadable: !after.reads(was),
		Relaxed: s.enforced && !after.enforced,
	}
}

// rest returns the methods of the fallbacks, which only decrypt.
func (s seal) rest() []imprint {
	if len(s.methods) == 0 {
		return nil
	}
	return s.methods[1:]
}

// sealed returns the seal of a target.
func (r *reader) sealed(t *target, enforced bool) seal {
	s := seal{enforced: enforced}
	for x := t; x != nil; x = x.fallback {
		if d, ok := r.reference(x.method, "method"); ok {
			s.methods = append(s.methods, r.imprints[d.address])
		}
	}
	return s
}

// imprint records the digest of a key provider. chain is the digest of the provider that it is chained to.
func (r *reader) imprint(address, name string, p encryption.PBKDF2, chain imprint) {
	reads := []any{"pbkdf2", name, p.Passphrase}
	all := []any{p.KeyLength, p.Iterations, p.Hash, p.SaltLength}
	r.imprints[address] = imprintOf(slices.Concat(reads, all, []any{chain.all}), append(reads, chain.reads))
}

// imprintKMS records the digest of a key provider for AWS KMS.
func (r *reader) imprintKMS(address, name string, k encryption.KMS, arguments map[string]any) {
	var b strings.Builder
	_ = json.NewEncoder(&b).Encode(arguments) // they come from JSON
	reads := []any{"aws_kms", name, k.KeyID}
	r.imprints[address] = imprintOf(slices.Concat(reads, []any{k.Spec, b.String()}), reads)
}

// imprintExternal records the digest of a key provider that runs a program.
func (r *reader) imprintExternal(address, name string, x encryption.External) {
	reads := []any{"external", name, x.Command}
	r.imprints[address] = imprintOf(reads, reads)
}

// imprintMethod records the digest of a method. keys is the digest of its key provider.
func (r *reader) imprintMethod(address string, keys imprint, aad []byte) {
	r.imprints[address] = imprintOf([]any{keys.all, aad}, []any{keys.reads, aad})
}
