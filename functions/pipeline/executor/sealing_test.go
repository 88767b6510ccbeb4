package executor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// remark begins the remark about a change of the encryption.
const remark = "**This pull request changes the encryption of `net`.**"

// TestSealedByTheBase is a table of pull requests that attack the encryption of the base branch. Whatever
// they write, plan and state are encrypted as the base branch says, and the report tells the change.
func TestSealedByTheBase(t *testing.T) {
	relaxed := strings.ReplaceAll(encrypted, "      enforced = true\n", "")
	for name, c := range map[string]struct {
		main, values string
		options      []string
		want         string // "": there is no change
	}{
		"nothing":              {main: encrypted},
		"another layout":       {main: strings.ReplaceAll(encrypted, "enforced = true", "enforced = (true) # always")},
		"not enforced":         {main: relaxed, want: "encryption of the state is no longer enforced"},
		"in clear":             {main: strings.ReplaceAll(strings.ReplaceAll(relaxed, "method.aes_gcm.m", "method.unencrypted.u"), "    state {", "    method \"unencrypted\" \"u\" {}\n    state {"), want: "the state is **no longer encrypted**"},
		"removed":              {main: encrypted[strings.Index(encrypted, "variable"):], want: "**the state written before cannot be read**"},
		"a key of its own":     {main: strings.ReplaceAll(encrypted, "correct", "another"), want: "the state is encrypted with another key"},
		"a key in a file":      {main: encrypted, values: "passphrase = \"another-horse-battery\"\n", want: "saved plans are encrypted with another key"},
		"a key in the comment": {main: strings.ReplaceAll(encrypted, "  sensitive = true\n", ""), options: []string{"passphrase=another-horse-battery"}},
		"a fallback of its own": {main: strings.ReplaceAll(encrypted, "    plan {", "    key_provider \"pbkdf2\" \"o\" {\n      passphrase = \"another-horse-battery\"\n    }\n    method \"aes_gcm\" \"o\" {\n      keys = key_provider.pbkdf2.o\n    }\n    plan {\n      fallback {\n        method = method.aes_gcm.o\n      }"),
			want: "the encryption of saved plans has other settings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"net/main.tf": encrypted})
			b.base()
			b.write(map[string]string{"net/main.tf": c.main})
			if c.values != "" {
				b.write(map[string]string{"net/terraform.tfvars": c.values})
			}
			b.job.Options = grammar.Options{Variables: c.options}
			p := b.plan()
			if p.Plan == nil || !bytes.Contains(p.Plan, []byte(`"encryption_version":"v0"`)) || bytes.Contains(p.Plan, []byte("hunter2")) {
				t.Fatalf("%+v", p)
			}
			if said := strings.HasPrefix(p.Report, remark); said != (c.want != "") || !strings.Contains(p.Report, c.want) {
				t.Errorf("want %q\n%s", c.want, p.Report)
			}
			if o := b.apply(p.Plan, true); o.Failed || o.Counts.Add != 1 {
				t.Fatalf("%+v", o)
			}
			if got := found(t, filepath.Join(b.parent, "states"), "hunter2"); len(got) > 0 {
				t.Errorf("in clear: %v", got)
			}
			b.job.Options = grammar.Options{}
			b.write(map[string]string{"net/main.tf": encrypted, "net/terraform.tfvars": ""})
			if p := b.plan(); p.Plan == nil || p.Counts.Add+p.Counts.Change+p.Counts.Destroy != 0 || p.State.Serial == 0 {
				t.Errorf("the base branch does not read its state: %+v", p)
			}
		})
	}
}

// TestSealingNotHidden holds that no failure hides the change of an encryption block, and that a block
// with errors is reported before the merge, with which nothing would work.
func TestSealingNotHidden(t *testing.T) {
	t.Parallel()
	relaxed := strings.ReplaceAll(encrypted, "      enforced = true\n", "")
	for name, c := range map[string]struct{ main, want string }{
		"a failing resource": {relaxed + "resource \"terraform_data\" \"b\" {\n  input = nosuch.thing\n}\n", "no longer enforced"},
		"a failing provider": {relaxed + "resource \"aws_vpc\" \"b\" {}\n", "no longer enforced"},
		"a missing module":   {relaxed + "module \"m\" {\n  source = \"./nowhere\"\n}\n", "no longer enforced"},
		"errors in it":       {strings.ReplaceAll(encrypted, "key_provider.pbkdf2.k", "key_provider.pbkdf2.x"), "**nothing can be planned or applied**"},
		"a resource in it":   {strings.ReplaceAll(encrypted, "var.passphrase", "terraform_data.a.id"), "**nothing can be planned or applied**"},
	} {
		b := newBench(t, map[string]string{"net/main.tf": encrypted})
		b.base()
		b.write(map[string]string{"net/main.tf": c.main})
		if p := b.plan(); p.Plan != nil || !strings.HasPrefix(p.Report, remark) || !strings.Contains(p.Report, c.want) || !strings.Contains(p.Report, "Error: ") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestSealingLife holds what becomes of a state whose encryption begins, and whose key is rolled over,
// with plans that are open at each merge.
func TestSealingLife(t *testing.T) {
	t.Parallel()
	plain := encrypted[strings.Index(encrypted, "variable"):]
	begins := strings.NewReplacer("      enforced = true\n", "      fallback {\n        method = method.unencrypted.u\n      }\n", "    state {", "    method \"unencrypted\" \"u\" {}\n    state {").Replace(encrypted)
	rolls := strings.NewReplacer("    state {", `    key_provider "pbkdf2" "n" {
      passphrase = "another-horse-battery"
      iterations = 200000
    }
    method "aes_gcm" "n" {
      keys = key_provider.pbkdf2.n
    }
    state {`, "      method   = method.aes_gcm.m\n      enforced = true\n", "      method   = method.aes_gcm.n\n      enforced = true\n      fallback {\n        method = method.aes_gcm.m\n      }\n").Replace(encrypted)
	rolled := strings.ReplaceAll(rolls, "      fallback {\n        method = method.aes_gcm.m\n      }\n", "")
	changed := func(main string) string { return strings.ReplaceAll(main, "hunter2", "hunter2 again") }

	b := newBench(t, map[string]string{"net/main.tf": plain})
	b.base()
	b.write(map[string]string{"net/main.tf": begins})
	p := b.plan()
	if p.Plan == nil || bytes.Contains(p.Plan, []byte("encryption_version")) || !strings.Contains(p.Report, "the state is encrypted from the next apply on") {
		t.Fatalf("introduced: %+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || len(found(t, filepath.Join(b.parent, "states"), "hunter2")) == 0 {
		t.Fatalf("introduced: %+v", o)
	}
	b.base() // merged
	b.write(map[string]string{"net/main.tf": changed(begins)})
	if p = b.plan(); strings.Contains(p.Report, remark) {
		t.Error(p.Report)
	}
	if o := b.apply(p.Plan, true); o.Failed {
		t.Fatalf("after the merge: %+v", o)
	}
	if got := inState(t, b, "hunter2"); got {
		t.Error("the first apply after the merge leaves the state in clear")
	}

	b.write(map[string]string{"net/main.tf": encrypted})
	b.base()
	open := b.plan() // and the key is rolled over meanwhile
	b.write(map[string]string{"net/main.tf": rolls})
	b.base()
	if o := b.apply(open.Plan, true); o.Failed || o.Counts.Change != 1 {
		t.Fatalf("a plan from before the merge: %+v", o)
	}
	b.write(map[string]string{"net/main.tf": rolled})
	b.base()
	if p = b.plan(); p.Plan == nil || p.Counts.Change != 0 {
		t.Fatalf("with the new key alone: %+v", p)
	}
	b.write(map[string]string{"net/main.tf": encrypted})
	b.base()
	if p = b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "cannot be decrypted") {
		t.Errorf("with the former key: %+v", p)
	}
}

// inState reports whether a text is in the state, as it is stored.
func inState(t *testing.T, b *bench, text string) bool {
	for _, name := range found(t, filepath.Join(b.parent, "states"), text) {
		if filepath.Base(name) == "terraform.tfstate" {
			return true
		}
	}
	return false
}

// TestSealingShowsNothing holds that values that are sensitive on the base branch are in no report,
// though the pull request makes them public.
func TestSealingShowsNothing(t *testing.T) {
	t.Parallel()
	const secret = "a-horse-of-the-base-branch"
	main := strings.ReplaceAll(encrypted, "  default   = \"correct-horse-battery\"\n", "")
	b := newBench(t, map[string]string{"net/main.tf": main, "net/terraform.tfvars": "passphrase = \"" + secret + "\"\n"})
	b.base()
	b.write(map[string]string{"net/main.tf": strings.ReplaceAll(main, "  sensitive = true\n", "") + "output \"o\" {\n  value = var.passphrase\n}\n"})
	p := b.plan()
	if p.Plan == nil || strings.Contains(p.Report+p.Full, secret) {
		t.Errorf("%+v", p)
	}
	if o := b.apply(p.Plan, true); o.Failed || strings.Contains(o.Report, secret) {
		t.Errorf("%+v", o)
	}
	b.write(map[string]string{"net/main.tf": strings.ReplaceAll(main, "iterations = 200000", "iterations = length(var.passphrase)")})
	b.base()
	if p := b.plan(); p.Plan != nil || strings.Contains(p.Report, secret) || !strings.Contains(p.Report, "The encryption of the base branch cannot be used") {
		t.Errorf("%+v", p)
	}
}

// TestSealingBroken holds that a block of the base branch that cannot be read counts: nothing is written
// without it.
func TestSealingBroken(t *testing.T) {
	t.Parallel()
	const broken = "resource \"terraform_data\" \"a\" {\n"
	for name, c := range map[string]struct{ base, want string }{
		"a block that cannot be read": {encrypted + broken, "The encryption of the base branch cannot be used"},
		"no block":                    {broken, ""},
		"a value that nothing sets":   {strings.ReplaceAll(encrypted, "  default   = \"correct-horse-battery\"\n", ""), "The encryption of the base branch cannot be used"},
	} {
		b := newBench(t, map[string]string{"net/main.tf": c.base})
		b.base()
		b.write(map[string]string{"net/main.tf": "resource \"terraform_data\" \"a\" {}\n"})
		p := b.plan()
		if (p.Plan == nil) != (c.want != "") || !strings.Contains(p.Report, c.want) || c.want != "" && !strings.Contains(p.Report, "main.tf (base branch)") {
			t.Errorf("%s: %+v", name, p)
		}
		if _, err := os.Stat(filepath.Join(b.parent, "states")); p.Plan == nil && err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}
