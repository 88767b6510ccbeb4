//go:build linux

package lambdatest_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/kms/kmstest"
)

// keyed encrypts the state and the plans of a configuration with keys of AWS KMS.
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
      method = method.aes_gcm.m
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
`

// TestEncryptionKey plans and applies a configuration with an encryption block: the keys are made and
// decrypted by sessions of the roles with access to states, which are for keys only.
func TestEncryptionKey(t *testing.T) {
	t.Parallel()
	const key = "arn:aws:kms:us-east-1:111122223333:key/encryption"
	server := kmstest.Start(t, "")
	r := newRoad(t, githubtest.Files{"net/main.tf": project(netState), "net/encryption.tf": keyed}, func(o *lambdatest.StackOptions) {
		o.Parameters["EncryptionKeyArn"], o.Services.KMS = key, server.URL
		o.Aliases = map[string]string{kmstest.KeyID: key}
	})
	n := r.pull("one", githubtest.Files{"net/a.tf": thing("a", horse)})
	r.expect("the plan", r.status(n), "1 to add")
	r.expect("the answer", r.say("alice", n, "lockstep apply"), "**Applied** `net`")
	r.expect("the state", r.state(netState), "encrypted_data")
	if strings.Contains(r.state(netState), horse) {
		t.Error("the state is in clear")
	}
	r.expect("the next plan", r.status(r.pull("two", githubtest.Files{"net/b.tf": thing("b", "b")})), "1 to add")
	by := map[string]bool{}
	for _, d := range r.stack.Decisions() {
		if d.Resource == key {
			by[d.Who+" "+d.Action] = true
			if !d.Allowed || strings.Contains(d.Session, "s3:") || strings.Contains(d.Session, "dynamodb:") {
				t.Errorf("%+v", d)
			}
		}
	}
	for _, role := range []string{"StatePlanRole", "StateApplyRole"} {
		for _, action := range []string{" kms:Decrypt", " kms:GenerateDataKey"} {
			if !by[r.stack.Att(role+".Arn")+action] {
				t.Errorf("%s has not done%s: %v", role, action, by)
			}
		}
	}
}
