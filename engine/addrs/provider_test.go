package addrs

import (
	"strings"
	"testing"
)

// What is accepted, refused and printed is what Terraform 1.11.4 does.
func TestParseProvider(t *testing.T) {
	for _, tc := range []struct{ source, want string }{ // "!" and a part of the error
		{"aws", "registry.terraform.io/hashicorp/aws"},
		{"AWS", "registry.terraform.io/hashicorp/aws"},
		{"HashiCorp/AWS", "registry.terraform.io/hashicorp/aws"},
		{"terraform", "registry.terraform.io/hashicorp/terraform"},
		{"terraform.io/builtin/terraform", "terraform.io/builtin/terraform"},
		{"-/aws", "registry.terraform.io/-/aws"},
		{"registry.terraform.io/-/aws", "registry.terraform.io/-/aws"},
		{"1a/2b", "registry.terraform.io/1a/2b"},
		{"ünïcode/тест", "registry.terraform.io/ünïcode/тест"},
		{"Straße/ТЕСТ", "registry.terraform.io/straße/тест"},
		{"localhost/a/b", "localhost/a/b"},
		{"example.com:443/a/b", "example.com/a/b"},
		{"EXAMPLE.com:8080/a/b", "example.com:8080/a/b"},
		{"bücher.example/a/b", "bücher.example/a/b"},
		{"bücher.example:8443/a/b", "bücher.example:8443/a/b"},
		{"", "!type"},
		{" a/b", "!namespace"},
		{"a/ b", "!type"},
		{"a//b", "!"},
		{"a/b/c/d", "!HOST/NAMESPACE/TYPE"},
		{"foo_bar", "!letters, digits and dashes"},
		{"a/foo_bar", "!type"},
		{"a_B/foo", "registry.terraform.io/a_b/foo"},
		{"a__b/foo", "!namespace"},
		{"a_/foo", "!namespace"},
		{"a-_b/foo", "!namespace"},
		{"xn--bcher-kva_x/foo", "!namespace"},
		{"foo--bar/x", "!several dashes"},
		{"a/b--c", "!type"},
		{"xn--bcher-kva/x", "!several dashes"},
		{"xn--bcher-kva.example/a/b", "!host"},
		{"-a/b", "!namespace"},
		{"a-/b", "!namespace"},
		{"a/-", "!type"},
		{"_/a", "!namespace"},
		{"a/b.c", "!type"},
		{"a/b:80", "!type"},
		{"a/terraform-provider-x", `!leave out the prefix "terraform-provider-"`},
		{"\x91", "!letters, digits and dashes"},
		{"\x91/a/b", "!host"},
		{"a/Terraform-x", `!leave out the prefix "terraform-"`},
	} {
		p, err := ParseProvider(tc.source)
		if part, bad := strings.CutPrefix(tc.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, %v, want an error with %q", tc.source, p, err, part)
			}
			continue
		}
		if err != nil || p.String() != tc.want {
			t.Errorf("%q: got %v, %v, want %s", tc.source, p, err, tc.want)
		}
	}
}

func FuzzParseProvider(f *testing.F) {
	for _, s := range []string{"aws", "a/b", "example.com:8080/a/b", "bücher.example/ü/тест", "-/x", "STRASSE/straße", "a/\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseProvider(s)
		if err != nil {
			return
		}
		again, err := ParseProvider(p.String())
		if err != nil || again != p {
			t.Errorf("%q is %q, which is %v, %v", s, p, again, err)
		}
		c := AbsProviderConfig{Module: NewModule("a", "b"), Provider: p, Alias: "x"}
		if back, err := ParseAbsProviderConfig(c.String()); err != nil || back != c {
			t.Errorf("%q is %v, %v", c, back, err)
		}
	})
}

func TestProviderForDisplay(t *testing.T) {
	for _, tc := range []struct {
		p    Provider
		want string
	}{
		{DefaultProvider("aws"), "hashicorp/aws"},
		{DefaultProvider("terraform"), "terraform.io/builtin/terraform"},
		{Provider{"example.com", "a", "b"}, "example.com/a/b"},
		{Provider{"xn--bcher-kva.example", "a", "b"}, "bücher.example/a/b"},
	} {
		if got := tc.p.ForDisplay(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestParseAbsProviderConfig(t *testing.T) {
	aws := DefaultProvider("aws")
	for _, tc := range []struct {
		s    string
		want AbsProviderConfig
		ok   bool
	}{
		{`provider["registry.terraform.io/hashicorp/aws"]`, AbsProviderConfig{Provider: aws}, true},
		{`provider["registry.terraform.io/hashicorp/aws"].west`, AbsProviderConfig{Provider: aws, Alias: "west"}, true},
		{`module.a.module.b.provider["registry.terraform.io/hashicorp/aws"].w`, AbsProviderConfig{Module: NewModule("a", "b"), Provider: aws, Alias: "w"}, true},
		{`provider["terraform.io/builtin/terraform"]`, AbsProviderConfig{Provider: BuiltinTerraform}, true},
		{`provider["bücher.example/a/b"]`, AbsProviderConfig{Provider: Provider{"xn--bcher-kva.example", "a", "b"}}, true},
		{`provider["registry.terraform.io/-/aws"]`, AbsProviderConfig{Provider: Provider{DefaultRegistryHost, "-", "aws"}}, true},
		{`provider["registry.terraform.io/hashicorp/aws"].by["eu\"]."]`, AbsProviderConfig{Provider: aws, Alias: "by", Key: StringKey(`eu"].`)}, true},
		{`provider["registry.terraform.io/hashicorp/aws"].by[0]`, AbsProviderConfig{Provider: aws, Alias: "by", Key: IntKey(0)}, true},
		{`provider.aws`, AbsProviderConfig{Provider: aws}, true},
		{`provider.aws.west`, AbsProviderConfig{Provider: aws, Alias: "west"}, true},
		{`module.a.provider.terraform`, AbsProviderConfig{Module: NewModule("a"), Provider: BuiltinTerraform}, true},
		{`provider.AWS`, AbsProviderConfig{Provider: aws}, true},
		{s: `provider.foo_bar`},
		{s: ``},
		{s: `provider`},
		{s: `provider.`},
		{s: `provider.aws.`},
		{s: `provider.aws.west.x`},
		{s: `provider["aws`},
		{s: `provider["a/b"]west`},
		{s: `provider["a/b"].`},
		{s: `provider["a/b"].c[`},
		{s: `provider["a/b"].c["x"].d`},
		{s: `provider["a/b"].c[x]`},
		{s: `provider["a/b"].1`},
		{s: `provider["a/b/c/d"]`},
		{s: `module.a["x"].provider["a/b"]`},
		{s: `module.provider["a/b"]`},
		{s: `module..provider["a/b"]`},
		{s: `module.a`},
	} {
		got, err := ParseAbsProviderConfig(tc.s)
		if tc.ok != (err == nil) || got != tc.want && tc.ok {
			t.Errorf("%s: got %v, %v", tc.s, got, err)
		}
	}
}

func FuzzParseAbsProviderConfig(f *testing.F) {
	for _, s := range []string{`module.a.provider["a/b"].c`, `provider.aws.west`, `provider["example.com/a/b"]`, `provider["a/b"].c["d"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseAbsProviderConfig(s)
		if err != nil {
			return
		}
		if again, err := ParseAbsProviderConfig(c.String()); err != nil || again != c {
			t.Errorf("%q is %q, which is %v, %v", s, c, again, err)
		}
	})
}
