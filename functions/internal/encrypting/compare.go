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
	// Others is set if the states of other configurations (terraform_remote_state) are decrypted differently
	// than before. The user must check that the new keys and methods fit these states.
	Others bool
}

// Any reports whether there is a difference.
func (d Difference) Any() bool { return d.State.Any || d.Plan.Any || d.Others }

// A Change describes how the encryption of states, or of plans, differs between an old and a new configuration.
type Change struct {
	Any bool
	// Begins is set if only the new configuration encrypts. Ends is set if only the old configuration encrypts.
	Begins, Ends bool
	// Rekeyed is set if both configurations encrypt, but with different keys or methods.
	Rekeyed bool
	// Unreadable is set if files that were written with the old configuration cannot be read with the new one.
	Unreadable bool
	// Relaxed is set if the old configuration enforces encryption, and the new one does not.
	Relaxed bool
}

// Compare returns the difference between the encryption of two configurations. Names do not count, and neither
// do blocks that are not used.
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

// seals describe all encryption of a [Set], so that two sets can be compared.
type seals struct {
	state, plan, others seal
	named               map[string]seal
}

// A seal describes the encryption of states or plans, so that it can be compared. The zero value does not
// encrypt.
type seal struct {
	enforced bool
	methods  []imprint // the first encrypts
}

// An imprint has two digests of the settings of a method or a key provider. all is the digest of all settings.
// reads is the digest of the settings that must stay the same, so that existing files can be read. Both are
// zero for a method that does not encrypt.
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

// reads reports whether the seal can read files that were written with the method p.
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

// rest returns the methods of the fallback blocks. They only decrypt.
func (s seal) rest() []imprint {
	if len(s.methods) == 0 {
		return nil
	}
	return s.methods[1:]
}

// sealed returns the description of how a target encrypts. enforced is set if the target enforces encryption.
func (r *reader) sealed(t *target, enforced bool) seal {
	s := seal{enforced: enforced}
	for x := t; x != nil; x = x.fallback {
		if d, ok := r.reference(x.method, "method"); ok {
			s.methods = append(s.methods, r.imprints[d.address])
		}
	}
	return s
}

// imprint stores the digests of a key provider. chain has the digests of the key provider to which it is
// chained.
func (r *reader) imprint(address, name string, p encryption.PBKDF2, chain imprint) {
	reads := []any{"pbkdf2", name, p.Passphrase}
	all := []any{p.KeyLength, p.Iterations, p.Hash, p.SaltLength}
	r.imprints[address] = imprintOf(slices.Concat(reads, all, []any{chain.all}), append(reads, chain.reads))
}

// imprintKMS stores the digests of a key provider that uses AWS KMS.
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

// imprintMethod stores the digests of a method. keys has the digests of the method's key provider.
func (r *reader) imprintMethod(address string, keys imprint, aad []byte) {
	r.imprints[address] = imprintOf([]any{keys.all, aad}, []any{keys.reads, aad})
}
