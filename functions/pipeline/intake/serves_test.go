package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestServes is a table of what is named, which repository asks, "owner@account/name@ID",
// what is known of its names, "account repository", and what is decided: served, and what
// is known then, or a part of the reasons.
func TestServes(t *testing.T) {
	for _, test := range []struct{ named, asks, known, want string }{
		{"", "acme@7/infra@1", "0 0", "is not enabled: no repository is"},
		{"acme", "acme@7/infra@1", "0 0", "served 7 1"},
		{"acme/*", "acme@7/infra@1", "0 0", "served 7 1"},
		{"acme/infra", "acme@7/infra@1", "0 0", "served 7 1"},
		{"ACME/Infra", "Acme@7/inFRA@1", "0 0", "served 7 1"},
		{"eve acme/infra,\n bob", "acme@7/infra@1", "0 0", "served 7 1"},
		{"acme/team-*", "acme@7/team-a@1", "0 0", "served 7 1"},
		{"acme/*-infra-*", "acme@7/a-infra-b@1", "0 0", "served 7 1"},

		// strangers
		{"acme", "eve@9/infra@1", "0 0", "`eve/infra` is not enabled"},
		{"acme", "acme-inc@9/infra@1", "0 0", "is not enabled"},
		{"acme", "xacme@9/infra@1", "0 0", "is not enabled"},
		{"acme/infra", "acme@7/infra2@1", "0 0", "is not enabled"},
		{"acme/infra", "eve@9/infra@1", "0 0", "is not enabled"},
		{"acme/team-*", "acme@7/ateam-a@1", "0 0", "is not enabled"},
		{"acme/team-*", "eve@9/team-a@1", "0 0", "is not enabled"},
		{"acme/i.fra", "acme@7/infra@1", "0 0", "is not enabled"},
		{"acme/infra", "acme@7/infra@0", "0 0", "is not enabled"},

		// names that changed hands
		{"acme", "acme@7/infra@1", "7 1", "served 7 1"},
		{"acme", "acme@7/infra@2", "7 1", "has the ID 2, and the other one had 1. To enable it, an operator of Lockstep adds `acme/infra=2` to the parameter `Serves` of the template, or to the option `-serves`"},
		{"acme", "acme@8/infra@2", "7 1", "has the ID 2, and the other one had 1"},
		{"acme", "acme@8/other@2", "7 0", "has the ID 8, and the other one had 7. To enable it, an operator of Lockstep adds `acme=8` to the parameter `Serves` of the template, or to the option `-serves`"},
		{"acme/infra", "acme@8/infra@1", "7 1", "has the ID 8, and the other one had 7"},
		{"acme", "acme@0/infra@1", "7 1", "served 7 1"}, // nobody says whose it is
		{"acme", "acme@0/infra@2", "7 1", "had 1"},

		// and were given to somebody
		{"acme/infra=2", "acme@7/infra@2", "7 1", "served 7 2"},
		{"acme acme/infra=2", "acme@7/infra@2", "7 1", "served 7 2"},
		{"acme/infra=2", "acme@8/infra@2", "7 1", "served 7 2"},
		{"acme/infra=2", "acme@7/infra@1", "7 1", "has the ID 1, and the other one had 2"},
		{"acme/infra=2 acme", "acme@7/infra@1", "0 0", "has the ID 1, and the other one had 2"},
		{"acme/infra=1 acme/infra=2", "acme@7/infra@1", "0 0", "served 0 1"},
		{"acme=8", "acme@8/other@2", "7 0", "served 8 2"},
		{"acme=8", "acme@8/infra@2", "7 1", "has the ID 2, and the other one had 1"},
		{"acme=8", "acme@7/other@2", "7 0", "has the ID 7, and the other one had 8"},
		{"acme/*=8", "acme@8/other@2", "7 0", "served 8 2"},
	} {
		s, err := ParseServes(test.named)
		if err != nil {
			t.Fatalf("%q: %v", test.named, err)
		}
		var r github.Repo
		var k Known
		words := strings.FieldsFunc(test.asks, func(c rune) bool { return c == '@' || c == '/' })
		r.Owner, r.Name = words[0], words[2]
		fmt.Sscan(words[1], &r.OwnerID)
		fmt.Sscan(words[3], &r.ID)
		fmt.Sscan(test.known, &k.Owner, &k.Repo)
		got := s.Decide(r, k)
		said := fmt.Sprintf("served %d %d", got.Known.Owner, got.Known.Repo)
		if !got.Allowed() {
			said = got.Refused.Reason()
		}
		if !strings.Contains(said, test.want) || got.Allowed() != strings.HasPrefix(test.want, "served") {
			t.Errorf("%q, %s, known %s: %s, want %s", test.named, test.asks, test.known, said, test.want)
		}
	}
}

func TestServesOwner(t *testing.T) {
	s, err := ParseServes("acme/infra, Bob=7")
	if err != nil {
		t.Fatal(err)
	}
	for login, want := range map[string]bool{"acme": true, "ACME": true, "bob": true, "eve": false, "": false} {
		if s.NamesOwner(login) != want {
			t.Errorf("%q: %t", login, !want)
		}
	}
	if s.Empty() || !(Serves{}).Empty() {
		t.Error("None")
	}
}

func TestServesMistakes(t *testing.T) {
	_, err := ParseServes("acme, *, */infra, ac*me/x, acme/, acme/x/y, acme/.., acme/in?ra, acme/team-*=7, acme=x, acme=0, acme/infra=-1, /infra, acme/[a-z], https://github.com/acme")
	if err == nil {
		t.Fatal("all is well")
	}
	for _, want := range []string{
		`"*": an owner has to be named in full`, `"*/infra": an owner`, `"ac*me/x": an owner`, `"acme/": "" is not the name of a repository`, `"acme/x/y": "x/y" is not`,
		`"acme/..": ".." is not`, `"acme/in?ra"`, `"acme/team-*=7": an ID belongs to one`, `"acme=x": "x" is not an ID`, `"acme=0": "0"`, `"acme/infra=-1"`,
		`"/infra": "" is not the name of an owner`, `"acme/[a-z]"`, `"https://github.com/acme"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n"); n != 13 {
		t.Errorf("%d mistakes:\n%v", n+1, err)
	}
}
