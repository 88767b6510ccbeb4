package encryption

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// secret is a source of keys by passphrase.
func secret(passphrase string) PBKDF2 {
	p := DefaultPBKDF2()
	p.Passphrase, p.Iterations = passphrase, minIterations
	return p
}

// TestEdited holds that a state which somebody has edited is refused, wherever the edit is.
func TestEdited(t *testing.T) {
	t.Parallel()
	target := Target{Methods: []Method{method("a", new(open)), unencrypted}}
	c := New(target)
	sealed, err := c.EncryptState(t.Context(), []byte(state))
	if err != nil {
		t.Fatal(err)
	}
	if plain, _, err := c.DecryptState(t.Context(), sealed); err != nil || string(plain) != state {
		t.Fatalf("%s, %v", plain, err)
	}
	change := func(f func(*payload)) []byte {
		p, _ := parse(sealed)
		f(&p)
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	serial := json.Number("8")
	for name, c := range map[string]struct {
		edited []byte
		want   string
	}{
		"serial":     {change(func(p *payload) { p.Serial = &serial }), "it was edited: outside of what is encrypted it has serial 8"},
		"lineage":    {change(func(p *payload) { p.Lineage = "x" }), `lineage "x", and inside serial 7, lineage "l"`},
		"nonce":      {change(func(p *payload) { p.Data[0] ^= 1 }), "changed since it was written"},
		"ciphertext": {change(func(p *payload) { p.Data[20] ^= 1 }), "changed since it was written"},
		"tag":        {change(func(p *payload) { p.Data[len(p.Data)-1] ^= 1 }), "changed since it was written"},
		"cut":        {change(func(p *payload) { p.Data = p.Data[:5] }), "cut short"},
		"nothing":    {change(func(p *payload) { p.Data = nil }), "cut short"},
		"meta":       {change(func(p *payload) { p.Meta["key_provider.open.a"] = []byte("7") }), "key_provider.open.a"},
		"no meta":    {change(func(p *payload) { p.Meta = nil }), "its keys are not of key_provider.open.a"},
		"version":    {change(func(p *payload) { p.Version = "v9" }), `the format "v9"`},
	} {
		plain, _, err := New(target).DecryptState(t.Context(), c.edited)
		if err == nil || plain != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v, want %s", name, plain, err, c.want)
		}
	}
}

// TestHostileMetadata holds that a file cannot keep a process busy for hours, nor take all its memory.
func TestHostileMetadata(t *testing.T) {
	t.Parallel()
	for meta, want := range map[string]string{
		`{"salt": "AAAA", "iterations": 10000001, "hash_function": "sha512", "key_length": 32}`:    "more than anybody sets",
		`{"salt": "AAAA", "iterations": -1, "hash_function": "sha512", "key_length": 32}`:          "more than anybody sets",
		`{"salt": "AAAA", "iterations": 200000, "hash_function": "sha512", "key_length": 1000000}`: "no sensible key length",
		`{"salt": "", "iterations": 200000, "hash_function": "sha512", "key_length": 32}`:          "no salt",
		`{"salt": "AAAA", "iterations": 200000, "hash_function": "md5", "key_length": 32}`:         `hash function "md5"`,
		`{"salt": 7}`: "damaged",
	} {
		if key, err := secret("correct-horse-battery").Restore(t.Context(), nil, []byte(meta)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %x, %v", meta, key, err)
		}
	}
}

// TestWrongPassphrase holds the words for it, and that nothing in clear is taken where it is not
// accepted.
func TestWrongPassphrase(t *testing.T) {
	t.Parallel()
	keys := func(passphrase string) Method {
		return Method{Name: "method.aes_gcm.m", Keys: NewKeys("key_provider.pbkdf2.k", secret(passphrase), nil)}
	}
	sealed, err := New(Target{Methods: []Method{keys("correct-horse-battery")}}).EncryptState(t.Context(), []byte(state))
	if err != nil {
		t.Fatal(err)
	}
	wrong := New(Target{Methods: []Method{keys("battery-horse-correct")}})
	var failed *DecryptError
	if _, _, err := wrong.DecryptState(t.Context(), sealed); !errors.As(err, &failed) || len(failed.Reasons) != 1 || !strings.Contains(err.Error(), "a wrong passphrase") {
		t.Errorf("%v", err)
	}
	var clear *UnencryptedError
	if _, _, err := wrong.DecryptState(t.Context(), []byte(state)); !errors.As(err, &clear) {
		t.Errorf("in clear: %v", err)
	}
	enforced := New(Target{Methods: []Method{keys("correct-horse-battery"), unencrypted}, Enforced: true})
	if _, _, err := enforced.DecryptState(t.Context(), []byte(state)); !errors.As(err, &clear) || !clear.Enforced {
		t.Errorf("in clear, enforced: %v", err)
	}
	if _, err := New(Target{Methods: []Method{unencrypted}, Enforced: true}).EncryptPlan(t.Context(), []byte("PK")); err == nil {
		t.Error("a plan is not encrypted, though that is enforced")
	}
	if _, err := New(Target{Methods: []Method{keys("correct-horse-battery")}}).EncryptState(t.Context(), []byte("no state")); err == nil {
		t.Error("what is no state was encrypted as one")
	}
}

// TestCiphertextsDiffer holds that no two files have a nonce in common.
func TestCiphertextsDiffer(t *testing.T) {
	t.Parallel()
	c, seen := New(Target{Methods: []Method{method("a", new(open))}}), map[string]bool{}
	for range 100 {
		sealed, err := c.EncryptPlan(t.Context(), []byte("PK"))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := parse(sealed)
		if nonce := string(p.Data[:12]); seen[nonce] {
			t.Fatal("a nonce is used twice")
		} else {
			seen[nonce] = true
		}
	}
}

// TestSegmentsStay holds that a segment of a journal is refused under another number, and in the place
// of a plan.
func TestSegmentsStay(t *testing.T) {
	t.Parallel()
	stored, c := new(statebackendtest.Log), New(Target{Methods: []Method{method("a", new(open))}})
	l := &log{stored, c}
	for n := range 2 {
		if err := l.Append(t.Context(), uint64(n+1), fmt.Appendf(nil, "record %d", n), true); err != nil {
			t.Fatal(err)
		}
	}
	all, err := stored.Segments(t.Context(), nil)
	if err != nil || bytes.Contains(all[0].Data, []byte("record")) {
		t.Fatalf("%v, %v", all, err)
	}
	if plain, err := c.DecryptPlan(t.Context(), all[0].Data); err == nil {
		t.Errorf("in the place of a plan: %s", plain)
	}
	moved := new(statebackendtest.Log)
	if err := moved.Append(t.Context(), 1, all[1].Data, true); err != nil {
		t.Fatal(err)
	}
	if got, err := (&log{moved, c}).Segments(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "record group 1 of the journal memory") {
		t.Errorf("under another number: %v, %v", got, err)
	}
}
