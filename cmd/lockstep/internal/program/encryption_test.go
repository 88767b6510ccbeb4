package program

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestErroredStateIsEncrypted holds that a state which its backend does not take is kept encrypted, and
// pushed from there; and that nothing is applied whose state could not be encrypted at the end.
func TestErroredStateIsEncrypted(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", `resource "terraform_data" "a" {
  input = "hunter2"
}
`)
	s := (&statebackendtest.S3{Deny: func(method, key string) bool { return method == "PUT" && key == "x" && d.has("denied") }}).Start(t)
	d.Write("backend.tf", fakeBackend(s.URL))
	d.Write("encryption.tf", encryptedBy("aws_kms", `kms_key_id = "alias/state"
      key_spec   = "AES_256"
      region     = "eu-central-1"
      access_key = "a"
      secret_key = "b"
      https_proxy = "http://127.0.0.1:1"
      max_retries = 1
      skip_credentials_validation = true
      skip_requesting_account_id  = true`))
	d.want(0, "init")
	d.want(1, "apply -auto-approve", "No key to encrypt with", "127.0.0.1:1", "nothing was changed")
	d.Write("encryption.tf", encryptedBy("pbkdf2", `passphrase = "correct-horse-battery"
      iterations = 200000`))
	d.Write("denied", "")
	d.want(1, "apply -auto-approve", "Failed to save state", "lockstep state push errored.tfstate")
	if kept := d.read("errored.tfstate"); strings.Contains(kept, "hunter2") || !strings.Contains(kept, `"encrypted_data"`) {
		t.Errorf("kept is %s", kept)
	}
	if err := os.Remove(d.file("denied")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "state push errored.tfstate")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	if stored, _ := s.Object("states/x"); strings.Contains(string(stored), "hunter2") || !strings.Contains(string(stored), `"encrypted_data"`) {
		t.Errorf("stored is %s", stored)
	}
}

// encryptedBy is a block that encrypts states with keys of a provider.
func encryptedBy(kind, arguments string) string {
	return fmt.Sprintf(`terraform {
  encryption {
    key_provider %q "k" {
      %s
    }
    method "aes_gcm" "m" {
      keys = key_provider.%[1]s.k
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
`, kind, arguments)
}

// TestExternalKeys holds that a state and a saved plan are encrypted with the keys of a program, and that the program
// is run by commands that need a key alone.
func TestExternalKeys(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", "resource \"terraform_data\" \"a\" {\n  input = \"hunter2\"\n}\n")
	d.Write("keys.sh", `#!/bin/sh
echo run >>runs
echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'
if [ "$(cat)" = null ]; then
  echo '{"keys":{"encryption_key":"AQIDBAUGBwgJCgsMDQ4PEA=="},"meta":{"external_data":{"n":1}}}'
else
  echo '{"keys":{"encryption_key":"AQIDBAUGBwgJCgsMDQ4PEA==","decryption_key":"AQIDBAUGBwgJCgsMDQ4PEA=="},"meta":{"external_data":{"n":1}}}'
fi
`)
	d.Write("encryption.tf", strings.Replace(encryptedBy("external", `command = ["sh", "keys.sh"]`), "    state {", "    plan {\n      method = method.aes_gcm.m\n    }\n    state {", 1))
	d.want(0, "init")
	d.want(0, "validate", "valid")
	if d.has("runs") {
		t.Error("init or validate has run the program")
	}
	d.want(0, "plan -out=p", "1 to add")
	d.want(0, "apply p", "1 added")
	if state := d.read("terraform.tfstate"); strings.Contains(state, "hunter2") || !strings.Contains(state, `"key_provider.external.k":"eyJleHRlcm5hbF9kYXRhIjp7Im4iOjF9fQ=="`) {
		t.Errorf("the state is %s", state)
	}
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.want(0, "state pull", "hunter2")
	d.Write("keys.sh", "echo no key today >&2\nexit 1\n")
	d.want(1, "plan", "no key today")
}
