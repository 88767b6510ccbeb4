package encrypting_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
)

// described is a change in words.
func described(c encrypting.Change) string {
	var out []string
	for _, x := range []struct {
		word string
		set  bool
	}{{"any", c.Any}, {"begins", c.Begins}, {"ends", c.Ends}, {"rekeyed", c.Rekeyed}, {"unreadable", c.Unreadable}, {"relaxed", c.Relaxed}} {
		if x.set {
			out = append(out, x.word)
		}
	}
	return strings.Join(out, " ")
}

// TestCompare is a table of two bodies of a block, and of the change of the state between them.
func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		state    = "state {\n  method = method.aes_gcm.m\n}\n"
		enforced = "state {\n  method = method.aes_gcm.m\n  enforced = true\n}\n"
		begins   = "state {\n  method = method.aes_gcm.m\n  fallback {\n    method = method.unencrypted.u\n  }\n}\n"
		ends     = "state {\n  method = method.unencrypted.u\n  fallback {\n    method = method.aes_gcm.m\n  }\n}\n"
		inClear  = "state {\n  method = method.unencrypted.u\n}\n"
		other    = "key_provider \"pbkdf2\" \"o\" {\n  passphrase = \"another-horse-battery\"\n}\nmethod \"aes_gcm\" \"o\" {\n  keys = key_provider.pbkdf2.o\n}\n"
		rolls    = "state {\n  method = method.aes_gcm.o\n  fallback {\n    method = method.aes_gcm.m\n  }\n}\n"
		kms      = "key_provider \"aws_kms\" \"k\" {\n  kms_key_id = \"one\"\n  key_spec = \"AES_256\"\n  region = \"eu-central-1\"\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.aws_kms.k\n}\n"
		chained  = "key_provider \"pbkdf2\" \"c\" {\n  chain = key_provider.pbkdf2.k\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.c\n}\n"
	)
	all := provider + aes
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":               {"", "", ""},
		"the same":              {all + enforced, all + enforced, ""},
		"a block of nothing":    {"", all, ""},
		"another name":          {all + state, all + strings.ReplaceAll(aes, "\"m\"", "\"x\"") + strings.ReplaceAll(state, "m.m", "m.x"), ""},
		"introduced":            {"", all + clear + begins, "any begins"},
		"introduced at once":    {"", all + state, "any begins unreadable"},
		"enforced in clear":     {clear + inClear, all + enforced, "any begins unreadable"},
		"removed":               {all + state, "", "any ends unreadable"},
		"phased out":            {all + enforced, all + clear + ends, "any ends relaxed"},
		"in clear":              {all + enforced, clear + inClear, "any ends unreadable relaxed"},
		"in clear already":      {"", clear + inClear, ""},
		"relaxed":               {all + enforced, all + state, "any relaxed"},
		"enforced":              {all + state, all + enforced, "any"},
		"fallback taken out":    {all + clear + begins, all + state, "any"},
		"another key":           {all + state, strings.ReplaceAll(all, "correct", "another") + state, "any rekeyed unreadable"},
		"another key's name":    {all + state, strings.ReplaceAll(strings.ReplaceAll(all, "\"k\"", "\"n\""), "2.k", "2.n") + state, "any rekeyed unreadable"},
		"rolled over":           {all + state, all + other + rolls, "any rekeyed"},
		"more iterations":       {all + state, strings.ReplaceAll(all, "200000", "300000") + state, "any rekeyed"},
		"additional data":       {all + state, strings.ReplaceAll(all, "2.k\n", "2.k\n  aad = [1]\n") + state, "any rekeyed unreadable"},
		"a key of KMS":          {all + state, kms + state, "any rekeyed unreadable"},
		"another key of KMS":    {kms + state, strings.ReplaceAll(kms, "one", "two") + state, "any rekeyed unreadable"},
		"another region of KMS": {kms + state, strings.ReplaceAll(kms, "central", "west") + state, "any rekeyed"},
		"a chain":               {provider + chained + state, strings.ReplaceAll(provider, "correct", "another") + chained + state, "any rekeyed unreadable"},
		"the same chain":        {provider + chained + state, provider + chained + state, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sets []*encrypting.Set
			for _, body := range []string{c.before, c.after} {
				s, ds := read(t, "", body)
				if ds.HasErrors() {
					t.Fatal(ds)
				}
				sets = append(sets, s)
			}
			d := encrypting.Compare(sets[0], sets[1])
			if got := described(d.State); got != c.want || described(d.Plan) != "" || d.Any() != (c.want != "") {
				t.Errorf("%s, want %s; %+v", got, c.want, d)
			}
		})
	}
}

// TestCompareTargets holds that plans and others' states are compared, too.
func TestCompareTargets(t *testing.T) {
	t.Parallel()
	const named = "remote_state_data_sources {\n  remote_state_data_source \"a\" {\n    method = method.aes_gcm.m\n  }\n}\n"
	set := func(body string) *encrypting.Set {
		s, ds := read(t, "", body)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return s
	}
	d := encrypting.Compare(set(provider+aes+"plan {\n  method = method.aes_gcm.m\n}\n"), nil)
	if described(d.State) != "" || described(d.Plan) != "any ends unreadable" || d.Others {
		t.Errorf("%+v", d)
	}
	if d := encrypting.Compare(nil, set(provider+aes+named)); !d.Others || d.State.Any || d.Plan.Any {
		t.Errorf("%+v", d)
	}
}
