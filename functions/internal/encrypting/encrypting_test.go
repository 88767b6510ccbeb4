package encrypting_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/statebackend/encryption"
)

// fakeKMS is a key service whose ciphertext is the ID of a KMS key, and the key. It decrypts the keys
// of the recorded files, too.
func fakeKMS(_ context.Context, arguments map[string]any) (encryption.KMSClient, error) {
	if arguments["region"] != "eu-central-1" {
		return nil, fmt.Errorf("arguments %v", arguments)
	}
	return kms{}, nil
}

type kms struct{}

func (kms) GenerateDataKey(_ context.Context, keyID, spec string) (plain, encrypted []byte, err error) {
	n := map[string]int{"AES_256": 32, "AES_128": 16}[spec]
	plain = []byte(strings.Repeat(keyID, n))[:n]
	return plain, []byte(keyID + " " + string(plain)), nil
}

func (kms) Decrypt(_ context.Context, keyID string, encrypted []byte) ([]byte, error) {
	id, plain, own := strings.Cut(string(encrypted), " ")
	if !own {
		slices.Reverse(encrypted)
		return encrypted, nil
	}
	if id != keyID {
		return nil, errors.New("AccessDenied")
	}
	return []byte(plain), nil
}

// fakeProgram is a program whose keys are of the letter that its second word is. Its metadata count the letters.
func fakeProgram(_ context.Context, command []string, input []byte) ([]byte, error) {
	if command[0] != "keys" {
		return nil, errors.New("no such program")
	}
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(command[1], 32)))
	decryption := ""
	if string(input) == `{"external_data":{"of":"`+command[1]+`"}}` {
		decryption = fmt.Sprintf(`"decryption_key": %q,`, key)
	} else if string(input) != "null" {
		return nil, fmt.Errorf("input %s", input)
	}
	return fmt.Appendf(nil, "{\"magic\": \"OpenTofu-External-Key-Provider\", \"version\": 1, \"more\": true}\n{\"keys\": {%s \"encryption_key\": %q}, \"meta\": {\"external_data\": {\"of\": %q}}}", decryption, key, command[1]), nil
}

const (
	provider = `key_provider "pbkdf2" "k" {
  passphrase = "correct-horse-battery"
  iterations = 200000
}
`
	aes   = "method \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n}\n"
	clear = "method \"unencrypted\" \"u\" {}\n"
)

// block returns a configuration with a block.
func block(parts ...string) string {
	return "terraform {\n  encryption {\n" + strings.Join(parts, "") + "\n  }\n}\n"
}

// TestMistakes is a table of blocks and what is said of them. Each has one error.
func TestMistakes(t *testing.T) {
	t.Parallel()
	state := "state {\n  method = method.aes_gcm.m\n}\n"
	for name, c := range map[string]struct{ main, environment, want string }{
		"no such method":        {block(state), "", "no block for method.aes_gcm.m"},
		"no such provider":      {block(aes, state), "", "no block for key_provider.pbkdf2.k"},
		"no method":             {block("state {}\n"), "", "Missing encryption method"},
		"not a reference":       {block("state {\n  method = \"m\"\n}\n"), "", "Invalid encryption reference"},
		"short passphrase":      {block("key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"fifteen-letters\"\n}\n", aes, state), "", "at least 16 characters"},
		"no passphrase":         {block("key_provider \"pbkdf2\" \"k\" {}\n", aes, state), "", "no passphrase"},
		"few iterations":        {block("key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct-horse-battery\"\n  iterations = 199999\n}\n", aes, state), "", "dangerously few"},
		"hash":                  {block("key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct-horse-battery\"\n  hash_function = \"md5\"\n}\n", aes, state), "", "sha512"},
		"unknown argument":      {block("key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct-horse-battery\"\n  pepper = 1\n}\n", aes, state), "", "pepper"},
		"chained to itself":     {block("key_provider \"pbkdf2\" \"k\" {\n  chain = key_provider.pbkdf2.k\n}\n", aes, state), "", "Circular reference"},
		"other provider":        {block("key_provider \"openbao\" \"k\" {}\n", strings.Replace(aes, "pbkdf2", "openbao", 1), state), "", "Unsupported key provider"},
		"gcp_kms":               {block("key_provider \"gcp_kms\" \"k\" {}\n", strings.Replace(aes, "pbkdf2", "gcp_kms", 1), state), "", `run "tofu apply" once`},
		"azure_vault":           {block("key_provider \"azure_vault\" \"k\" {}\n", strings.Replace(aes, "pbkdf2", "azure_vault", 1), state), "", `Use "pbkdf2" or "aws_kms"`},
		"external, no command":  {block("key_provider \"external\" \"k\" {}\n", strings.Replace(aes, "pbkdf2", "external", 1), state), "", "it names no program"},
		"external, no list":     {block("key_provider \"external\" \"k\" {\n  command = \"sh\"\n}\n", strings.Replace(aes, "pbkdf2", "external", 1), state), "", "Unsuitable value type"},
		"external, a null":      {block("key_provider \"external\" \"k\" {\n  command = [\"sh\", null]\n}\n", strings.Replace(aes, "pbkdf2", "external", 1), state), "", "The command has a null"},
		"external, unknown":     {block("key_provider \"external\" \"k\" {\n  command = [\"sh\"]\n  shell = true\n}\n", strings.Replace(aes, "pbkdf2", "external", 1), state), "", "shell"},
		"no such provider kind": {block("key_provider \"pgp\" \"k\" {}\n", strings.Replace(aes, "pbkdf2", "pgp", 1), state), "", "Unknown key provider"},
		"other method":          {block("method \"external\" \"m\" {}\n", strings.Replace(state, "aes_gcm", "external", 1)), "", "no external programs"},
		"no such method kind":   {block("method \"rot13\" \"m\" {}\n", strings.Replace(state, "aes_gcm", "rot13", 1)), "", "Unknown encryption method"},
		"without keys":          {block("method \"aes_gcm\" \"m\" {}\n", state), "", "Missing keys"},
		"aad":                   {block(provider, "method \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n  aad = [256]\n}\n", state), "", "whole numbers from 0 to 255"},
		"twice":                 {block(state, state, provider, aes), "", "Duplicate encryption settings"},
		"kms without a key":     {block("key_provider \"aws_kms\" \"k\" {\n  key_spec = \"AES_256\"\n}\n", strings.Replace(aes, "pbkdf2", "aws_kms", 1), state), "", "no kms_key_id"},
		"kms key spec":          {block("key_provider \"aws_kms\" \"k\" {\n  kms_key_id = \"a\"\n  key_spec = \"RSA\"\n}\n", strings.Replace(aes, "pbkdf2", "aws_kms", 1), state), "", "AES_256"},
		"a resource":            {block("key_provider \"pbkdf2\" \"k\" {\n  passphrase = terraform_data.a.id\n}\n", aes, state), "", "not known early enough"},
		"environment":           {"", "state {", "Unclosed configuration block"},
		// Whoever sets the environment can enforce encryption against the configuration.
		"enforced by the environment": {block(clear, "state {\n  method = method.unencrypted.u\n}\n"), "state {\n  enforced = true\n}\n", "Unencrypted method is forbidden"},
		"enforced is not taken back":  {block(clear, "state {\n  method = method.unencrypted.u\n  enforced = true\n}\n"), "state {\n  enforced = false\n}\n", "Unencrypted method is forbidden"},
		"enforced fallback":           {block(provider, aes, clear, "state {\n  method = method.aes_gcm.m\n  enforced = true\n  fallback {\n    method = method.unencrypted.u\n  }\n}\n"), "", "Unencrypted method is forbidden"},
	} {
		s, ds := read(t, c.main, c.environment)
		if s != nil || len(ds) != 1 || !ds.HasErrors() || !strings.Contains(ds[0].Summary+" "+ds[0].Detail, c.want) {
			t.Errorf("%s: %v, want %s", name, ds, c.want)
		}
	}
}

// TestTargets holds which state is encrypted how, and that nothing is without a block.
func TestTargets(t *testing.T) {
	t.Parallel()
	if s, ds := read(t, "", " "); s != nil || len(ds) > 0 || s.State() != nil || s.Plan() != nil || s.RemoteState("data.terraform_remote_state.a") != nil {
		t.Errorf("without a block: %v, %v", s, ds)
	}
	s, ds := read(t, block(provider, aes, clear, `
remote_state_data_sources {
  default {
    method = method.aes_gcm.m
  }
  remote_state_data_source "a" {
    method = method.unencrypted.u
  }
  remote_state_data_source "m[1].b[0]" {
    method = method.unencrypted.u
  }
}`), "")
	if ds.HasErrors() || len(ds) != 1 || ds[0].Summary != "Unencrypted method configured" || s.State() != nil || s.Plan() != nil {
		t.Fatal(ds)
	}
	const plain = `{"serial": 1, "lineage": "l"}`
	for address, want := range map[string]bool{
		"data.terraform_remote_state.a": false, "data.terraform_remote_state.a[0]": true, "data.terraform_remote_state.b": true,
		"module.m[1].data.terraform_remote_state.b[0]": false, "module.m.data.terraform_remote_state.b": true,
	} {
		got, err := s.RemoteState(address).EncryptState(t.Context(), []byte(plain))
		if err != nil || encryption.IsEncrypted(got) != want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
}

// TestKMS holds that keys of AWS KMS are made and had again, and that another key's are not.
func TestKMS(t *testing.T) {
	t.Parallel()
	const main = `
    key_provider "aws_kms" "k" {
      kms_key_id = "KEY"
      key_spec   = "AES_256"
      region     = "eu-central-1"
      endpoints {
        sts = "https://sts.example"
      }
    }
    method "aes_gcm" "m" {
      keys = key_provider.aws_kms.k
    }
    plan {
      method = method.aes_gcm.m
    }
`
	set := func(key string) *encrypting.Set {
		s, ds := read(t, block(strings.Replace(main, "KEY", key, 1)), "")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return s
	}
	sealed, err := set("one").Plan().EncryptPlan(t.Context(), []byte("PK plan"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := set("one").Plan().DecryptPlan(t.Context(), sealed); err != nil || string(got) != "PK plan" {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := set("two").Plan().DecryptPlan(t.Context(), sealed); err == nil || !strings.Contains(err.Error(), "with the KMS key two: AccessDenied") {
		t.Errorf("%s, %v", got, err)
	}
}

// external is a configuration whose keys come from a program.
func external(command, methods string) string {
	return block("key_provider \"external\" \"k\" {\n  command = "+command+"\n}\n", methods, "state {\n  method = method.aes_gcm.m\n}\n")
}

// TestExternal holds that the keys of a program encrypt and decrypt, alone and in a chain, and what of a program is
// refused: an answer with a mistake, and every program where none may run.
func TestExternal(t *testing.T) {
	t.Parallel()
	own := strings.Replace(aes, "pbkdf2", "external", 1)
	chained := "key_provider \"pbkdf2\" \"p\" {\n  chain = key_provider.external.k\n  iterations = 200000\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.p\n}\n"
	const plain = `{"serial": 1, "lineage": "l"}`
	for _, methods := range []string{own, chained} {
		main := external(`["keys", "a"]`, methods)
		first, ds := read(t, main, "")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		sealed, err := first.State().EncryptState(t.Context(), []byte(plain))
		if err != nil || !encryption.IsEncrypted(sealed) || !bytes.Contains(sealed, []byte(`"key_provider.external.k":"`+base64.StdEncoding.EncodeToString([]byte(`{"external_data":{"of":"a"}}`))+`"`)) {
			t.Fatalf("%s, %v", sealed, err)
		}
		again, _ := read(t, main, "") // another process
		if got, current, err := again.State().DecryptState(t.Context(), sealed); err != nil || string(got) != plain || !current {
			t.Errorf("%s, %v, %v", got, current, err)
		}
		other, _ := read(t, external(`["keys", "b"]`, methods), "")
		if _, _, err := other.State().DecryptState(t.Context(), sealed); err == nil {
			t.Error("another program's key decrypts")
		}
		if d := encrypting.Compare(first, other); !d.State.Rekeyed || !d.State.Unreadable {
			t.Errorf("%+v", d)
		}
		if d := encrypting.Compare(first, again); d.Any() {
			t.Errorf("%+v", d)
		}
	}
	if s, ds := readWith(t, external(`["keys", "a"]`, own), "", nil); s != nil || len(ds) != 1 || !strings.Contains(ds[0].Detail, "Lockstep runs no external programs for keys in a pipeline") {
		t.Errorf("without programs: %v", ds)
	}
	const header = "{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}\n"
	for output, want := range map[string]string{
		"":                                  "is no key provider",
		"s3cret":                            "is no key provider",
		"{\"magic\":\"x\",\"version\":1}\n": "is no key provider",
		strings.Replace(header, "1", "2", 1) + "{}": "speaks version 2 of the protocol",
		header:            "returned no valid answer",
		header + "s3cret": "returned no valid answer",
		header + `{"keys": {"encryption_key": "s3cret!"}}`:              "returned no valid answer",
		header + `{"keys": {"encryption_key": "YQ=="}, "s3cret": 1}`:    "returned no valid answer",
		header + `{"keys": {}, "meta": {}}`:                             "returned no encryption_key",
		header + `{"keys": {"encryption_key": "YWFhYWE="}, "meta": {}}`: "needs a key of 16, 24 or 32 bytes, and has one of 5",
	} {
		s, ds := readWith(t, external(`["keys"]`, own), "", func(context.Context, []string, []byte) ([]byte, error) { return []byte(output), nil })
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if _, err := s.State().EncryptState(t.Context(), []byte(plain)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, want %s", output, err, want)
		}
	}
}
