package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
)

const (
	aws  = "registry.terraform.io/hashicorp/aws"
	tofu = "registry.opentofu.org/hashicorp/aws"
)

func lockText(source, version string, hashes ...string) string {
	quoted := ""
	if len(hashes) > 0 {
		quoted = "  hashes = [\"" + strings.Join(hashes, "\", \"") + "\"]\n"
	}
	return "provider \"" + source + "\" {\n  version = \"" + version + "\"\n" + quoted + "}\n"
}

// Hashes of the right form.
var (
	h1     = "h1:" + strings.Repeat("A", 43) + "="
	h2     = "h1:" + strings.Repeat("B", 43) + "="
	zipped = "zh:" + strings.Repeat("0", 64)
)

// TestProviders is a table of what base branch and pull request say of a provider.
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, settings, base string
		provider, pull       string // pull: the pull request's lock file
		want                 string // version and hashes; else part of the error
	}{
		{"built in", "", "", "terraform.io/builtin/terraform", "", "0.0.0 []"},
		{"nothing is said", "", "", aws, "", "does not allow the provider " + aws},
		{"the pull request says it", "", "", aws, lockText(aws, "5.0.0", h1), "merge a .terraform.lock.hcl with this provider first"},
		{"the base branch has it", "", lockText(aws, "5.0.0", h1, zipped), aws, lockText(aws, "5.0.0", h1, zipped), "5.0.0 [" + h1 + " " + zipped + "]"},
		{"the pull request says nothing", "", lockText(aws, "5.0.0", h1), aws, "", "5.0.0 [" + h1 + "]"},
		{"no hashes in the pull request", "", lockText(aws, "5.0.0", h1), aws, lockText(aws, "5.0.0"), "5.0.0 [" + h1 + "]"},
		{"a hash more", "", lockText(aws, "5.0.0", h1), aws, lockText(aws, "5.0.0", h1, h2), "5.0.0 [" + h1 + "]"},
		{"other hashes", "", lockText(aws, "5.0.0", h1), aws, lockText(aws, "5.0.0", h2), "other checksums"},
		{"another version", "", lockText(aws, "5.0.0", h1), aws, lockText(aws, "5.0.1", h1), "selects version 5.0.1 of the provider " + aws + ", but the base branch selects 5.0.0"},
		{"no hashes on the base branch", "", lockText(aws, "5.0.0"), aws, lockText(aws, "5.0.0", h1), "has no checksums"},
		{"another provider's lock", "", lockText("registry.terraform.io/hashicorp/awscc", "5.0.0", h1), aws, "", "does not allow"},
		{"another registry's", "", lockText("registry.example.com/hashicorp/aws", "5.0.0", h1), aws, "", "does not allow"},
		{"allowed by name", "allow {\n  providers = [\"hashicorp/aws\"]\n}\n", "", aws, lockText(aws, "6.0.0", h2), "6.0.0 [" + h2 + "]"},
		{"allowed, and nothing is locked", "allow {\n  providers = [\"hashicorp/*\"]\n}\n", "", aws, "", "0.0.0 []"},
		{"allowed on another registry", "allow {\n  providers = [\"registry.example.com/hashicorp/*\"]\n}\n", "", aws, "", "does not allow"},
		{"allowed at Terraform's registry alone", "allow {\n  providers = [\"hashicorp/*\"]\n}\n", lockText(aws, "5.0.0", h1), tofu, lockText(tofu, "5.0.0", h1), "does not allow the provider " + tofu},
		{"allowed at OpenTofu's", "allow {\n  providers = [\"registry.opentofu.org/hashicorp/*\"]\n}\n", "", tofu, lockText(tofu, "5.0.0", h1), "5.0.0 [" + h1 + "]"},
		{"external, locked", "", lockText("hashicorp/external", "2.0.0", h1), "hashicorp/external", "", "set external = true"},
		{"external, allowed as a provider alone", "allow {\n  providers = [\"hashicorp/*\"]\n}\n", "", "hashicorp/external", "", "set external = true"},
		{"external of another namespace", "allow {\n  providers = [\"*/*/*\"]\n}\n", "", "acme/external", "", "set external = true"},
		{"external, alone", "allow {\n  external = true\n}\n", "", "hashicorp/external", "", "does not allow"},
		{"external, both", "allow {\n  external = true\n}\n", lockText("registry.terraform.io/hashicorp/external", "2.0.0", h1), "hashicorp/external", "", "2.0.0 [" + h1 + "]"},
	} {
		base, ds := Parse(FileName, []byte(test.settings))
		if ds != nil {
			t.Fatalf("%s: %v", test.what, ds)
		}
		g, err := GrantsOf(base, []byte(test.base))
		if err != nil && test.provider == aws {
			t.Fatalf("%s: %v", test.what, err)
		}
		p, err := addrs.ParseProvider(test.provider)
		if strings.HasPrefix(test.provider, "terraform.io") {
			p, err = addrs.BuiltinTerraform, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		pull, ds := lockfile.Parse([]byte(test.pull), lockfile.Name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		wanted, _ := pull.Lock(p)
		lock, err := g.Provider(p, wanted)
		got := lock.Version.String() + " [" + strings.Join(lock.Hashes, " ") + "]"
		if err != nil {
			got = err.Error()
			if lock.Hashes != nil {
				t.Errorf("%s: a lock in spite of the error: %v", test.what, lock)
			}
		}
		if strings.Contains(test.want, "[") != (err == nil) || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s\nwant %s", test.what, got, test.want)
		}
	}
}

// TestModules is a table of where modules may come from, by what the base branch says.
func TestModules(t *testing.T) {
	t.Parallel()
	s, ds := Parse(FileName, []byte("allow {\n  modules = [\"modules.example.com\", \"s3://acme-modules\", \"github.com/Acme/net-*\", \"github.com/acme/db\"]\n}\n"))
	if ds != nil {
		t.Fatal(ds)
	}
	some, err := GrantsOf(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host       string
		some, none bool
	}{
		{"registry.terraform.io", true, true}, {"registry.opentofu.org", true, true},
		{"github.com", true, true}, {"codeload.github.com", true, true},
		{"modules.example.com", true, false}, {"example.com", false, false}, {"x.modules.example.com", false, false},
		{"api.github.com", false, false},
		{"169.254.169.254", false, false}, {"2130706433", false, false}, {"::1", false, false}, {"localhost", false, false}, {"modules.example.com.", false, false}, {"", false, false},
	} {
		for g, want := range map[*Grants]bool{&some: test.some, {}: test.none} {
			err := g.ModuleHost(test.host)
			remedy := "Lockstep cannot allow modules from the host"
			if _, e := parseModulePattern(test.host); e == nil {
				remedy = "modules = [\"" + test.host + "\"]"
			}
			if (err == nil) != want || err != nil && !strings.Contains(err.Error(), remedy) {
				t.Errorf("%s: %v", test.host, err)
			}
		}
		// Those that need no grant are public ones.
		if got := some.NamesModuleHost(test.host); got != (test.some && !test.none) || (Grants{}).NamesModuleHost(test.host) {
			t.Errorf("%s is named: %v", test.host, got)
		}
	}
	for bucket, want := range map[string]bool{"acme-modules": true, "acme-module": false, "Acme-Modules": false, "acme-states": false, "modules.example.com": false, "": false} {
		if err := some.Bucket(bucket); (err == nil) != want || !want && !strings.Contains(err.Error(), fmt.Sprintf("modules = [%q]", "s3://"+bucket)) {
			t.Errorf("the bucket %s: %v", bucket, err)
		}
		if (Grants{}).Bucket(bucket) == nil {
			t.Errorf("%s: nobody has granted it", bucket)
		}
	}
	if some.ModuleHost("acme-modules") == nil || some.NamesModuleHost("") {
		t.Error("a bucket is no host")
	}
	for _, test := range []struct {
		owner, name string
		want        bool
	}{
		{"acme", "net-vpc", true}, {"ACME", "Net-VPC", true}, {"acme", "db", true}, {"acme", "db2", false}, {"acme", "net", false},
		{"example", "db", false}, {"acme", "", false}, {"", "", false},
	} {
		if some.Repository(test.owner, test.name) != test.want {
			t.Errorf("%s/%s: %v", test.owner, test.name, !test.want)
		}
		if (Grants{}).Repository(test.owner, test.name) {
			t.Errorf("%s/%s: nobody has granted it", test.owner, test.name)
		}
	}
}

func TestGrantsOf(t *testing.T) {
	t.Parallel()
	none, err := GrantsOf(nil, nil)
	if err != nil || none.Provisioners || none.External {
		t.Errorf("without anything: %+v, %v", none, err)
	}
	if _, err := (Grants{}).Provider(addrs.DefaultProvider("aws"), lockfile.Lock{}); err == nil {
		t.Error("the zero value allows a provider")
	}
	s, _ := Parse(FileName, []byte("allow {\n  provisioners = true\n  external = true\n}\n"))
	if g, err := GrantsOf(s, nil); err != nil || !g.Provisioners || !g.External {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := GrantsOf(nil, []byte("provider {")); err == nil || !strings.Contains(err.Error(), "base branch's dependency lock file") {
		t.Errorf("a broken lock file: %v", err)
	}
}
