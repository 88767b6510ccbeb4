package executor

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

const encrypted = `terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.passphrase
      iterations = 200000
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
    plan {
      method   = method.aes_gcm.m
      enforced = true
    }
  }
}

variable "passphrase" {
  default   = "correct-horse-battery"
  sensitive = true
}

resource "terraform_data" "a" {
  input = "hunter2"
}
`

// TestEncrypted holds that the plan and the state of a configuration with an encryption block are
// nowhere in clear, and that a plan or a state in clear, which somebody put in their places, is
// refused.
func TestEncrypted(t *testing.T) {
	b := newBench(t, map[string]string{"net/main.tf": encrypted})
	b.base()
	p := b.plan()
	if p.Plan == nil || bytes.Contains(p.Plan, []byte("hunter2")) || !bytes.Contains(p.Plan, []byte(`"encryption_version":"v0"`)) {
		t.Fatalf("%+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || o.Counts != (counting.Counts{Add: 1}) {
		t.Fatalf("%+v", o)
	}
	stored := ""
	err := filepath.WalkDir(b.parent, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".tf" {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("hunter2")) {
			t.Errorf("in clear in %s", path)
		}
		if filepath.Base(path) == "terraform.tfstate" {
			stored = path
		}
		return err
	})
	if err != nil || stored == "" {
		t.Fatal(stored, err)
	}

	b.write(map[string]string{"net/main.tf": strings.ReplaceAll(encrypted, "correct", "another")})
	b.base()
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "cannot be decrypted") {
		t.Errorf("with another passphrase: %+v", p)
	}
	b.write(map[string]string{"net/main.tf": encrypted[strings.Index(encrypted, "variable"):]})
	b.base()
	plain := b.plan()
	if plain.Plan != nil || !strings.Contains(flat(plain.Report), "add the encryption block") {
		t.Errorf("without the block: %+v", plain)
	}
	if err := os.Remove(stored); err != nil {
		t.Fatal(err)
	}
	if plain = b.plan(); plain.Plan == nil {
		t.Fatalf("%+v", plain)
	}
	b.write(map[string]string{"net/main.tf": encrypted})
	b.base()
	if o := b.apply(plain.Plan, true); !o.Failed || !strings.Contains(flat(o.Report), "t is not encrypted, and the configuration enforces encryption") {
		t.Errorf("a plan in clear: %+v", o)
	}
	if err := os.WriteFile(stored, []byte(`{"version": 4, "terraform_version": "1.11.4", "serial": 9, "lineage": "x", "outputs": {}, "resources": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "t is not encrypted, and the configuration enforces encryption") {
		t.Errorf("a state in clear: %+v", p)
	}
}
