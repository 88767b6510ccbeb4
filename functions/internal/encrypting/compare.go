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

// A Difference is between two configurations, the second of which is to take the place of the first.
type Difference struct {
	State, Plan Change
	// Others is set if states of others are decrypted in another way. Check that their keys and methods are the present ones.
	Others bool
}

// Any reports whether there is a difference.
func (d Difference) Any() bool { return d.State.Any || d.Plan.Any || d.Others }

// A Change is the difference of one target.
type Change struct {
	Any bool
	// Begins and Ends are set if only the second, or only the first, encrypts.
	Begins, Ends bool
	// Rekeyed is set if both encrypt, each in its own way or with its own key.
	Rekeyed bool
	// Unreadable is set if the second does not read files of the first.
	Unreadable bool
	// Relaxed is set if only the first enforces encryption.
	Relaxed bool
}

// Compare returns the difference of two configurations. Sets that differ in names alone, or in what no
// target uses, are the same.
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

// seals describe the ciphers of a set.
type seals struct {
	state, plan, others seal
	named               map[string]seal
}

// A seal describes a cipher; the zero value does not encrypt.
type seal struct {
	enforced bool
	methods  []imprint // the first encrypts
}

// An imprint is the digest of a method, or of a key provider: all of it, and the part that has to be the
// same to read its files. Both are zero for a method that does not encrypt.
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

// reads reports whether files are read that were written with p.
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

// rest are the methods of the fallbacks.
func (s seal) rest() []imprint {
	if len(s.methods) == 0 {
		return nil
	}
	return s.methods[1:]
}

// sealed describes a target that was read.
func (r *reader) sealed(t *target, enforced bool) seal {
	s := seal{enforced: enforced}
	for x := t; x != nil; x = x.fallback {
		if d, ok := r.reference(x.method, "method"); ok {
			s.methods = append(s.methods, r.imprints[d.address])
		}
	}
	return s
}

// imprint notes the digest of a key provider. chain is that of the one before it.
func (r *reader) imprint(address, name string, p encryption.PBKDF2, chain imprint) {
	reads := []any{"pbkdf2", name, p.Passphrase}
	all := []any{p.KeyLength, p.Iterations, p.Hash, p.SaltLength}
	r.imprints[address] = imprintOf(slices.Concat(reads, all, []any{chain.all}), append(reads, chain.reads))
}

// imprintKMS is imprint for a key of AWS KMS.
func (r *reader) imprintKMS(address, name string, k encryption.KMS, arguments map[string]any) {
	var b strings.Builder
	_ = json.NewEncoder(&b).Encode(arguments) // they come from JSON
	reads := []any{"aws_kms", name, k.KeyID}
	r.imprints[address] = imprintOf(slices.Concat(reads, []any{k.Spec, b.String()}), reads)
}

// imprintMethod is imprint for a method with keys.
func (r *reader) imprintMethod(address string, keys imprint, aad []byte) {
	r.imprints[address] = imprintOf([]any{keys.all, aad}, []any{keys.reads, aad})
}
