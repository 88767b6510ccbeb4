package dispatch_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestBotsAreNotHeard carries out an attack: somebody without rights has an App repeat a
// command, ours, or one that quotes what people write. It holds that nothing follows from
// it, whether GitHub tells us of the comment or the janitor finds it.
func TestBotsAreNotHeard(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.round(reconcile.Found{})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	say := func() {
		for _, bot := range []string{"helper[bot]", "lockstep[bot]"} {
			for _, text := range []string{"lockstep plan", "mallory says:\n\nlockstep apply", "lockstep unlock", "lockstep help", "lockstep aply"} {
				s.repo.Comment(bot, n, text)
			}
		}
	}
	for name, hear := range map[string]func(){
		"webhooks": s.settle,
		"a round": func() {
			s.hub.LoseDeliveries(20)
			s.settle()
			s.hub.LoseDeliveries(0)
			s.round(reconcile.Found{Deliveries: 8}) // those without a mistake: only the settings tell whose count
		},
	} {
		say()
		was := len(s.hub.Lines())
		hear()
		if got := s.hub.Lines(); len(got) != was {
			t.Errorf("%s led to %q", name, got[was:])
		}
	}
}

// TestNamedBots holds that an App commands where the default branch names it, and that neither another one is answered, nor
// a named one that makes no sense, nor any by the settings of a pull request.
func TestNamedBots(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  bots = [\"Renovate[bot]\"]\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  bots = [\"evil[bot]\"]\n}\n"})
	for _, x := range []struct{ who, text string }{
		{"evil[bot]", "lockstep apply"}, {"renovate[bot]", "lockstep aply"}, {"renovate[bot]", "lockstep"}, {"renovate[bot]", "<!-- lockstep:answer 7 -->\n\nlockstep apply"},
		{"renovate[bot]", "> lockstep apply"}, {"renovate", "nothing"},
	} {
		s.repo.Comment(x.who, n, x.text)
		was := len(s.hub.Lines())
		s.settle()
		if got := s.hub.Lines(); len(got) > was {
			t.Errorf("%s: %s led to %q", x.who, x.text, got[was:])
		}
	}
	s.expect("by the one that is named", s.say("renovate[bot]", n, "Now I apply it.\n\nlockstep apply"), "**Applied** `net`: 2 added")
	s.expect("what it may not", s.say("renovate[bot]", n, "lockstep override --reason \"I may\""), "**Not overridden**")
	s.repo.Push("bob", "main", "No Apps", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
	s.settle()
	s.repo.Comment("renovate[bot]", n, "lockstep plan")
	was := len(s.hub.Lines())
	s.settle()
	if got := s.hub.Lines(); len(got) > was {
		t.Errorf("once it is not named any more: %q", got[was:])
	}
}

// TestBotsOfTheDefaultBranch carries out an attack: whoever may push to another base branch names an App in its settings. It holds that
// the default branch alone names those that command.
func TestBotsOfTheDefaultBranch(t *testing.T) {
	t.Parallel()
	const allow = "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  branches = [\"release\"]\n  bots = [%q]\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": fmt.Sprintf(allow, "renovate[bot]")})
	s.repo.Push("mallory", "release", "Name an App", githubtest.Files{"lockstep.hcl": fmt.Sprintf(allow, "evil[bot]")})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.repo.Comment("evil[bot]", n, "lockstep apply")
	was := len(s.hub.Lines())
	s.settle()
	if got := s.hub.Lines(); len(got) > was {
		t.Errorf("the App of the base branch: %q", got[was:])
	}
	s.expect("the App of the default branch", s.say("renovate[bot]", n, "lockstep apply"), "**Applied** `net`")
}

// claim is a webhook about a comment, as GitHub signs it.
const claim = `{"action":"created","issue":{"number":1,"pull_request":{"url":"x"}},
	"comment":{"id":1,"created_at":"2026-03-02T09:00:00Z","body":"lockstep plan","user":{"login":"alice"}},
	"repository":{"id":%d,"name":%q,"owner":{"login":%q,"id":%d}},
	"sender":{"login":"alice","type":"User"},"installation":{"id":%d}}`

// claims posts one, and lets everything happen that follows.
func (s *stage) claims(nth int, installation int64, r github.Repo) {
	s.t.Helper()
	body := fmt.Appendf(nil, claim, r.ID, r.Name, r.Owner, r.OwnerID, installation)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.address(), bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set(github.EventHeader, "issue_comment")
	req.Header.Set(github.DeliveryHeader, fmt.Sprintf("00000000-0000-4000-a000-%012x", nth))
	req.Header.Set(github.SignatureHeader, github.Sign(hush, body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		s.t.Errorf("the webhook: %s", res.Status)
	}
	s.settle()
}

// TestClaims carries out an attack: the webhook of one installation is about another one's
// repository, by name, by ID or both, or has one repository's name and another one's ID. It
// holds that nothing is read, kept or written for it; all of them are served.
func TestClaims(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(own, neighbour, foreign *githubtest.Repository) (int64, github.Repo){
		"another's repository": func(own, _, foreign *githubtest.Repository) (int64, github.Repo) {
			return foreign.Installation(), own.Repo()
		},
		"by name": func(own, _, foreign *githubtest.Repository) (int64, github.Repo) {
			r := own.Repo()
			r.ID = foreign.Repo().ID
			return foreign.Installation(), r
		},
		"by ID": func(own, _, foreign *githubtest.Repository) (int64, github.Repo) {
			r := foreign.Repo()
			r.ID = own.Repo().ID
			return foreign.Installation(), r
		},
		"a neighbour's ID": func(own, neighbour, _ *githubtest.Repository) (int64, github.Repo) {
			r := own.Repo()
			r.ID = neighbour.Repo().ID
			return own.Installation(), r
		},
		"no claim": func(own, _, _ *githubtest.Repository) (int64, github.Repo) { return own.Installation(), own.Repo() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := withBackends(githubtest.Files{"main.tf": resource("a", "1")})
			s := newStage(t, files)
			s.pipeline.Serves = serving(t, "acme, eve")
			s.webhook.Intake = s.pipeline.Intake()
			all := []*githubtest.Repository{s.repo, s.hub.AddRepository("acme", "neighbour", files), s.hub.AddRepository("eve", "infra", files)}
			s.hub.LoseDeliveries(20)
			for _, r := range all {
				r.Grant("alice", "write")
				r.Push("alice", "b", "Change", githubtest.Files{"b.tf": resource("b", "1")})
				r.Comment("alice", r.OpenPull("alice", "Change", "b"), "lockstep plan")
			}
			s.settle()
			s.hub.LoseDeliveries(0)
			installation, repo := forge(all[0], all[1], all[2])
			s.claims(1, installation, repo)
			var got []string
			for _, r := range all {
				got = append(got, s.done(r)...)
			}
			kept, err := s.records.List(t.Context(), pipeline.Pull{Repo: repo, Number: 1}.Runs())
			if err != nil {
				t.Fatal(err)
			}
			if led := len(got) > 0 || len(kept) > 0; led != (name == "no claim") {
				t.Errorf("it led to %d runs, and\n%s", len(kept), strings.Join(got, "\n"))
			}
		})
	}
}
