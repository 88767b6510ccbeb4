package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// TestRenumber holds that states which were kept by name are those of the repository that
// had the name, and of no other one that got it later.
func TestRenumber(t *testing.T) {
	t.Parallel()
	m := newMachine(t) // whose runs are of acme/infra, 1, and acme/shop, 2
	old := func(owner, name, text string) string {
		t.Helper()
		file := filepath.Join(m.Data.States, owner, name, "network", "default", "terraform.tfstate")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ran := func(id int64, owner, name string, number int) {
		t.Helper()
		r := runs.Run{Pull: pipeline.Pull{Repo: github.Repo{ID: id, Owner: owner, Name: name}, Number: number}, Project: "network", Workspace: "default"}
		value, err := json.Marshal(r)
		if err == nil {
			_, err = m.Data.Records.Put(t.Context(), fmt.Sprintf("run/%d/%d/network@default", id, number), value, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ran(3, "acme", "taken", 1)
	ran(4, "acme", "taken", 1)
	ran(5, "acme", "before", 1)
	ran(5, "acme", "after", 2)
	old("acme", "infra", "infra's")
	taken, nobody, before := old("acme", "taken", "whose?"), old("42", "nobody", "?"), old("acme", "before", "the old name's")
	old("acme", "after", "the new name's")
	if err := os.MkdirAll(executor.LocalState(m.Data.States, 2, "network", "default"), 0o700); err != nil {
		t.Fatal(err)
	}
	shop := old("acme", "shop", "shop's, by its name")

	err := renumber(t.Context(), m.Data)
	for _, want := range []string{"acme/taken stay where they are, and are not used: several repositories", "42/nobody stay where they are, and are not used: no record", "before are of a former name", "shop are of a former name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	for id, want := range map[int64]string{1: "infra's", 2: "", 3: "", 4: "", 5: "the new name's"} {
		text, _ := os.ReadFile(filepath.Join(executor.LocalState(m.Data.States, id, "network", "default"), "terraform.tfstate"))
		if string(text) != want {
			t.Errorf("repository %d has %q, want %q", id, text, want)
		}
	}
	for _, file := range []string{taken, nobody, before, shop} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(m.Data.States, "acme", "infra")); err == nil {
		t.Error("what was moved is there still")
	}
}
