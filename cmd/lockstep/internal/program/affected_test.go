package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const affectedPair = `resource "terraform_data" "a" {
  input = "1"
}
resource "terraform_data" "b" {
  input = "hunter2"
}
`

// TestAffectedInS3 keeps the digests beside an encrypted state in S3: encrypted, too. A role that may not write there,
// and a digest of another key, cost a full read and nothing else.
func TestAffectedInS3(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", affectedPair)
	const digests = "states/.lockstep/journal/x/digests"
	s := (&statebackendtest.S3{Deny: func(method, key string) bool {
		return d.has("denied") && (key == digests || "states/"+key == digests) && method == d.read("denied")
	}}).Start(t)
	d.Write("backend.tf", fakeBackend(s.URL))
	d.Write("encryption.tf", encryptedBy("pbkdf2", `passphrase = "correct-horse-battery"
      iterations = 200000`))
	d.want(0, "init")
	d.want(0, "apply -auto-approve -refresh=affected")
	stored, _ := s.Object(digests)
	if !strings.Contains(string(stored), `"encrypted_data"`) || strings.Contains(string(stored), "terraform_data") {
		t.Errorf("%q; there is %q", stored, s.Keys())
	}
	d.want(0, "plan -refresh=affected", "2 objects were not read.")

	d.Write("denied", "GET")
	d.want(0, "plan -refresh=affected", "All objects were read, because the digests beside the state cannot be read")
	d.Write("denied", "PUT")
	d.Write("main.tf", strings.Replace(affectedPair, `"1"`, `"2"`, 1))
	d.want(0, "apply -auto-approve -refresh=affected", "1 object was not read.", "The digests were not kept", "Apply complete!")
	if err := os.Remove(d.file("denied")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "plan -refresh=affected", "All objects were read, because the state was last written without")
	d.want(0, "apply -auto-approve -refresh=affected")
	d.want(0, "plan -refresh=affected", "2 objects were not read.")

	state, _ := s.Object("states/x") // another ciphertext of the same key is no record
	s.SetObject(digests, state)
	d.want(0, "plan -refresh=affected", "All objects were read, because the digests beside the state cannot be read", "No changes.")
}

// TestAffectedAfterAStockTool has Terraform write the state in between: the digests are of no use any more, and Terraform
// does not mind them.
func TestAffectedAfterAStockTool(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", affectedPair)
	stock := statebackendtest.NewStock(t, d.Path, affectedPair)
	d.want(0, "init")
	d.want(0, "apply -auto-approve -refresh=affected")
	record := d.read(".terraform.tfstate.digests")
	stock.Must("init")
	stock.Must("plan", "-detailed-exitcode")
	d.want(0, "plan -refresh=affected", "2 objects were not read.")
	changed := strings.Replace(affectedPair, `"1"`, `"2"`, 1)
	d.Write("main.tf", changed)
	stock.Must("apply", "-auto-approve")
	if d.read(".terraform.tfstate.digests") != record {
		t.Error("Terraform has written the digests")
	}
	d.want(0, "plan -refresh=affected", "All objects were read, because the state was last written without")
	d.want(0, "apply -auto-approve -refresh=affected")
	d.want(0, "plan -refresh=affected", "2 objects were not read.")

	// The state of before the apply, with its digests: a copy that somebody has restored.
	backup, err := os.ReadFile(filepath.Join(d.Path, "terraform.tfstate.backup"))
	if err != nil {
		t.Fatal(err)
	}
	d.Write("terraform.tfstate", string(backup))
	d.want(0, "plan -refresh=affected", "All objects were read, because the state was last written without")
}
