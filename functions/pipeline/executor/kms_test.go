package executor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend/kms/kmstest"
)

// keyed is a configuration whose state and plans are encrypted with keys of AWS KMS.
const keyed = `terraform {
  encryption {
    key_provider "aws_kms" "k" {
      kms_key_id = "alias/states"
      key_spec   = "AES_256"
    }
    method "aes_gcm" "m" {
      keys = key_provider.aws_kms.k
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

resource "terraform_data" "a" {
  input = "hunter2"
}
`

// withKMS is a bench with a KMS, and with sessions for its keys, which are reported to asked.
func withKMS(t *testing.T, files map[string]string, asked func(jobs.Job) error) (*bench, *kmstest.Server) {
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "the-functions-own") // which may not use the key
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	s := kmstest.Start(t, "ASIASESSION")
	t.Setenv("AWS_ENDPOINT_URL_KMS", s.URL)
	b := newBench(t, files)
	b.base()
	b.engine.KMS = kmsWith(func(_ context.Context, j jobs.Job) (aws.CredentialsProvider, error) {
		return credentials.NewStaticCredentialsProvider("ASIASESSION", "y", "token"), asked(j)
	})
	return b, s
}

// TestKMS holds that plans and applies have keys of AWS KMS with a session that is for keys only, in
// the function's region, and that nothing is in clear.
func TestKMS(t *testing.T) {
	var access []jobs.Access
	b, s := withKMS(t, map[string]string{"net/main.tf": keyed}, func(j jobs.Job) error {
		access = append(access, j.Access)
		return nil
	})
	p := b.plan()
	if p.Plan == nil || bytes.Contains(p.Plan, []byte("hunter2")) || !bytes.Contains(p.Plan, []byte(`"encryption_version":"v0"`)) {
		t.Fatalf("%+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || o.Counts != (counting.Counts{Add: 1}) {
		t.Fatalf("%+v", o)
	}
	if got := found(t, b.parent+"/states", "hunter2"); len(got) > 0 {
		t.Errorf("in clear: %v", got)
	}
	if p := b.plan(); p.Counts != (counting.Counts{}) || p.State.Serial == 0 {
		t.Errorf("the plan of what was applied: %+v", p)
	}
	if slices.ContainsFunc(access, func(a jobs.Access) bool { return a != jobs.Keys }) || len(access) != 3 {
		t.Errorf("sessions for %v", access)
	}
	for _, line := range s.Asked() {
		if line != "GenerateDataKey alias/states eu-central-1" && line != "Decrypt alias/states eu-central-1" {
			t.Error(line)
		}
	}
	b.engine.KMS = nil
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "AWS KMS is not available here") {
		t.Errorf("without KMS: %+v", p)
	}
}

// TestKMSRefuses is a table of mistakes and attacks: no credentials but those of the session, no other
// address, no other key.
func TestKMSRefuses(t *testing.T) {
	for name, c := range map[string]struct{ add, want string }{
		"another key":     {"kms_key_id = \"alias/others\"", "allow kms:GenerateDataKey on the key, in the role's policy or the key's"},
		"credentials":     {"access_key = \"AKIA\"\n secret_key = \"s\"", "The key provider sets access_key, which is not for a pull request to say"},
		"a profile":       {"profile = \"admin\"", "The key provider sets profile"},
		"a role":          {"assume_role = { role_arn = \"arn:aws:iam::1:role/x\" }", "The key provider sets assume_role"},
		"another address": {"endpoints {\n    kms = \"http://127.0.0.1:1\"\n  }", "The key provider sets endpoints"},
		"a proxy":         {"http_proxy = \"http://127.0.0.1:1\"", "The key provider sets http_proxy"},
		"a file":          {"shared_credentials_files = [\"/etc/passwd\"]", "The key provider sets shared_credentials_files"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(keyed, "kms_key_id = \"alias/states\"", "kms_key_id = \"alias/states\"\n  "+c.add, 1)
			if name == "another key" {
				text = strings.Replace(keyed, "kms_key_id = \"alias/states\"", c.add, 1)
			}
			b, s := withKMS(t, map[string]string{"net/main.tf": text}, func(jobs.Job) error { return nil })
			b.write(map[string]string{"net/main.tf": keyed[strings.Index(keyed, "resource"):]}) // the base branch's counts
			if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), c.want) {
				t.Errorf("%+v", p)
			}
			if asked := s.Asked(); len(asked) > 0 && name != "another key" {
				t.Errorf("asked: %v", asked)
			}
		})
	}
	b, _ := withKMS(t, map[string]string{"net/main.tf": keyed}, func(jobs.Job) error { return errors.New("assume the role: AccessDenied") })
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "no credentials for AWS KMS: assume the role: AccessDenied") {
		t.Errorf("without a session: %+v", p)
	}
}

// TestEncryptionOfTheBase holds that TF_ENCRYPTION of the base branch's environment adds to the block,
// and that neither plugins nor reports get it.
func TestEncryptionOfTheBase(t *testing.T) {
	const block = `key_provider "pbkdf2" "k" {
  passphrase = "correct-horse-battery"
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
`
	values := map[string]string{"TF_ENCRYPTION": block, "TOKEN": "of plugins"}
	const main = "resource \"terraform_data\" \"a\" {\n  input = \"hunter2\"\n}\n"
	b := vaulted(t, map[string]string{"net/main.tf": main}, values)
	p := b.plan()
	if p.Plan == nil || bytes.Contains(p.Plan, []byte("hunter2")) {
		t.Fatalf("%+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed {
		t.Fatalf("%+v", o)
	}
	if got := found(t, b.parent+"/states", "hunter2"); len(got) > 0 {
		t.Errorf("in clear: %v", got)
	}
	if got := (secretVariables(values)).env(); !slices.Equal(got, []string{"TOKEN=of plugins"}) {
		t.Errorf("plugins get %q", got)
	}
	// A pull request cannot take the base branch's encryption back.
	b.write(map[string]string{"net/main.tf": `terraform {
  encryption {
    method "unencrypted" "u" {}
    state {
      method = method.unencrypted.u
      fallback {
        method = method.aes_gcm.m
      }
    }
  }
}
` + main})
	if p := b.plan(); p.Plan != nil && bytes.Contains(p.Plan, []byte("hunter2")) || strings.Contains(p.Report, "correct-horse") {
		t.Errorf("encryption is taken back: %+v", p)
	} else if p.Plan != nil {
		if o := b.apply(p.Plan, true); len(found(t, b.parent+"/states", "hunter2")) > 0 || strings.Contains(o.Report, "correct-horse") {
			t.Errorf("encryption was taken back: %+v", o)
		}
	}
	b.write(map[string]string{"net/main.tf": main})
	values["TF_ENCRYPTION"] = strings.Replace(block, "key_provider.pbkdf2.k", "key_provider.pbkdf2.x", 1)
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "no block for key_provider.pbkdf2.x") || strings.Contains(p.Report, "correct-horse") {
		t.Errorf("a mistake: %+v", p)
	}
	// Our own environment is none of a project's.
	t.Setenv("TF_ENCRYPTION", block)
	delete(values, "TF_ENCRYPTION")
	if err := os.RemoveAll(b.parent + "/states"); err != nil {
		t.Fatal(err)
	}
	if p := b.plan(); p.Plan == nil || bytes.Contains(p.Plan, []byte(`"encryption_version"`)) {
		t.Errorf("our own environment counts: %+v", p)
	}
}
