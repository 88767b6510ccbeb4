package constraint

import (
	"strings"
	"testing"

	goversion "github.com/hashicorp/go-version"
)

// The wanted strings are what Terraform 1.11.4 shows in `Finding ... versions
// matching`, and records in the lock file.
func TestNormalForm(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"1", "1.0.0"},
		{"=1.0.0", "1.0.0"},
		{"01.0.0", "1.0.0"},
		{"1.0.0-", "1.0.0"},
		{"1.0.0+", "1.0.0"},
		{"~>1.1", "~> 1.1"},
		{"~> 1", "~> 1.0"},
		{"~> 1.3-beta1", "~> 1.3-beta1"},
		{">1,<2", "> 1.0.0, < 2.0.0"},
		{"~> 1.0, >= 1.0.0, != 1.2", ">= 1.0.0, ~> 1.0, != 1.2.0"},
		{"> 1.0, >= 1.0, < 3, <= 3.0, ~> 1, ~> 1.0, ~> 1.0.0, = 1.0, 1.0.0, != 1.5, != 1.0",
			"> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, != 1.0.0, != 1.5.0, <= 3.0.0, < 3.0.0"},
		{"!= 1.0.0, 1.0.0, <= 1.0.0, < 1.0.0, ~> 1.0.0, ~> 1.0, >= 1.0.0, > 1.0.0",
			"> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0"},
		{"1.3.0-beta1, ~> 1.2.0", "~> 1.2.0, 1.3.0-beta1"},
		{">= 1.0.0-rc1, >= 1.0.0-rc.1, >= 1.0.0-1, >= 1.0.0-rc.10, >= 1.0.0-rc.9, >= 1.0.0",
			">= 1.0.0-1, >= 1.0.0-rc1, >= 1.0.0-rc.1, >= 1.0.0-rc.9, >= 1.0.0-rc.10, >= 1.0.0"},
		{">= 1.0.0-z, >= 1.0.0-a.1, >= 1.0.0-a.b.c, >= 1.0.0-1.1.1, >= 1.0.0-11, >= 1.0.0-1a, >= 1.0.0-9, >= 1.0.0-a-b, >= 1.0.0-2.1",
			">= 1.0.0-9, >= 1.0.0-11, >= 1.0.0-1a, >= 1.0.0-a-b, >= 1.0.0-z, >= 1.0.0-1.1.1, >= 1.0.0-2.1, >= 1.0.0-a.1, >= 1.0.0-a.b.c"},
		{">= 1.0.0-1.2, >= 1.0.0-1.1.1, >= 1.0.0-0.9.9.9", ">= 1.0.0-0.9.9.9, >= 1.0.0-1.2, >= 1.0.0-1.1.1"},
		{">= 1.0.0-10, >= 1.0.0-01, >= 1.0.0-2, >= 1.0.0-002, >= 1.0.0-a",
			">= 1.0.0-2, >= 1.0.0-01, >= 1.0.0-10, >= 1.0.0-002, >= 1.0.0-a"},
		{">= 1.0.0+b1, >= 1.0.0+b2, >= 1.0.0", ">= 1.0.0, >= 1.0.0+b1, >= 1.0.0+b2"},
		{"> 1.0.0+9, >= 1.0.0+9, >= 1.0.0+11, != 1.0.0-1+z", "!= 1.0.0-1+z, > 1.0.0+9, >= 1.0.0+9, >= 1.0.0+11"},
		{">= 99999999999.0.0", ">= 99999999999.0.0"},
	} {
		set, err := Parse(test.in)
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		if got := set.String(); got != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		",", "> 1.0,", "foo", "v1.0.0", "1.*", "1.2.3.4", "=> 1.0", "^1.0", "> 1 . 0", "1.0.0 2.0.0",
		"1.0.0-beta_1", ">= 99999999999999999999999.0.0", "1..2",
	} {
		if set, err := Parse(in); err == nil {
			t.Errorf("%q was read as %q", in, set)
		}
	}
}

func TestNewest(t *testing.T) {
	have := strings.Fields("1.0.0+b1 1.0.0 1.0.0+b2 1.1.0 1.2.0 1.3.0-beta1 1.3.0-beta.2 2.0.0-rc1 2.0.0 2.1.0 3.0.0-rc1")
	for _, test := range []struct{ constraint, want string }{
		{"", "2.1.0"},
		{">= 1.0", "2.1.0"},
		{"~> 1.2", "1.2.0"},
		{"~> 1.0.0", "1.0.0+b2"},
		{"> 1, < 2", "1.2.0"},
		{"!= 2.1, < 3", "2.0.0"},
		{"9.9", ""},
		// Pre-releases come when asked for, and only then.
		{"2.0.0-rc1", "2.0.0-rc1"},
		{">= 2.0.0-rc1, < 2.0.0", ""},
		{">= 2.0.0-rc1", "2.1.0"},
		{"~> 2.0.0-rc1", "2.0.0"},
		{"~> 1.3.0-beta1", ""},
		{"1.3.0-beta1, >= 1.2", "1.3.0-beta1"},
		{"1.3.0-beta1, ~> 1.2.0", "1.3.0-beta1"},
		{"3.0.0-rc1, ~> 2.0", "3.0.0-rc1"},
		{"3.0.0-rc1, < 3.0.0", "3.0.0-rc1"},
		{"3.0.0-rc1, > 3.0.0", ""},
		{"1.3.0-beta1, 1.3.0-beta.2", ""},
		{"2.0.0-rc1, != 2.0.0-rc1", ""},
		// Metadata is part of the name of a release, but not of its rank.
		{"1.0.0", "1.0.0"},
		{"1.0.0+b1", "1.0.0+b1"},
		{"= 1.0.0, != 1.0.0+b1", "1.0.0"},
		{"< 1.0.0+b2", ""},
	} {
		set, err := Parse(test.constraint)
		if err != nil {
			t.Fatal(err)
		}
		var versions []Version
		for _, s := range have {
			v, err := ParseVersion(s)
			if err != nil {
				t.Fatal(err)
			}
			versions = append(versions, v)
		}
		got := ""
		if v, ok := set.Newest(versions); ok {
			got = v.String()
		}
		if got != test.want {
			t.Errorf("newest of %q is %q, want %q", test.constraint, got, test.want)
		}
	}
}

func TestAnd(t *testing.T) {
	a, _ := Parse("~> 1.0, != 1.2")
	b, _ := Parse(">= 1.0.0, ~> 1.0")
	if got, want := a.And(b).String(), ">= 1.0.0, ~> 1.0, != 1.2.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := a.String(); got != "~> 1.0, != 1.2.0" {
		t.Errorf("And changed its receiver to %s", got)
	}
}

func TestFromGoVersion(t *testing.T) {
	parsed, err := goversion.NewConstraint("~> 1.0,>=1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	set, err := From(parsed)
	if err != nil || set.String() != "~> 1.0, >= 1.1.0" {
		t.Errorf("got %q, %v", set, err)
	}
	if set, err := From(nil); err != nil || !set.IsAll() {
		t.Errorf("no constraints became %q, %v", set, err)
	}
	parsed, err = goversion.NewConstraint("1.2.3.4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := From(parsed); err == nil {
		t.Error("four numbers were accepted")
	}
}

func TestParseVersion(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"1.2.3", "1.2.3"}, {"01.2.3", "1.2.3"}, {"1.2.3-a.b+c", "1.2.3-a.b+c"},
		{"1.2", "1.2.0"}, {"v1.2.3", ""}, {"99999999999999999999999.0.0", ""}, {"", ""}, {"1.2.3.4", ""},
	} {
		v, err := ParseVersion(test.in)
		if test.want == "" {
			if err == nil {
				t.Errorf("%q was read as %s", test.in, v)
			}
			continue
		}
		if err != nil || v.String() != test.want {
			t.Errorf("%q: got %s, %v", test.in, v, err)
		}
	}
}

// What String writes, Parse reads, and it is in the normal form already.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "~> 1.0, >= 1.0.0, != 1.2", "1.3.0-beta1, < 2", "> 1.0.0+9", "~> 1-rc.1+m", "=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		set, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(set.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", s, set, err)
		}
		if again.String() != set.String() {
			t.Errorf("%q became %q, then %q", s, set, again)
		}
		for _, term := range set.terms {
			if set.Has(boundary(term)) != again.Has(boundary(term)) {
				t.Errorf("%q and %q differ about %s", s, set, boundary(term))
			}
		}
	})
}
