package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/github/githubtest/apps"
)

// A tale is what people do, in chapters: those who act in one have seen all that came of the chapters before it.
type tale struct {
	name     string
	settings string // lockstep.hcl
	chapters []func(*post)
}

// orders is the number of orders in which the webhooks of each tale arrive.
const orders = 8

// TestEachWebhookThrice holds that webhooks have one outcome, however they arrive. In a first history each arrives once, in
// order. In the others it arrives three times: once in its chapter, in any order with the chapter's others and while those
// are handled, and twice then or in a later chapter, as one of GitHub's redeliveries or of a stranger who has seen it.
// Objects, runs, comments, checks and issues are as in the first one. The janitor does not go round: it would make up for much.
func TestEachWebhookThrice(t *testing.T) {
	kinds, played := map[string]bool{}, 0
	for _, tale := range tales {
		t.Run(tale.name, func(t *testing.T) {
			played++
			for _, bucket := range []bool{false, true} {
				want := tale.play(t, 0, bucket, kinds)
				for order := uint64(1); order <= orders/2 && !t.Failed(); order++ {
					if diff := cmp.Diff(want, tale.play(t, order, bucket, kinds)); diff != "" {
						t.Errorf("order %d, states in S3 %v, of the outcome in order (-) and so (+):\n%s", order, bucket, diff)
					}
				}
			}
		})
	}
	for _, name := range slices.Concat(apps.Events, acted) {
		if !kinds[name] && played == len(tales) {
			t.Errorf("no tale has a webhook of %s", name)
		}
	}
}

// acted are the kinds of webhooks that have an effect, by event and action, and some that have none.
var acted = []string{
	"check_run completed", "check_run requested_action", "check_run rerequested", "check_suite rerequested", "installation_repositories removed",
	"issue_comment created", "issue_comment edited", "merge_group checks_requested", "merge_group destroyed",
	"pull_request closed", "pull_request converted_to_draft", "pull_request edited", "pull_request labeled", "pull_request opened",
	"pull_request ready_for_review", "pull_request reopened", "pull_request synchronize", "pull_request unlabeled",
	"pull_request_review dismissed", "pull_request_review submitted", "pull_request_review_comment created",
	"pull_request_review_thread resolved", "push", "repository renamed", "repository transferred",
}

// play plays a tale, with its states in S3 or not, and returns its outcome. In the order 0 webhooks arrive once, one after the other.
func (x tale) play(t *testing.T, order uint64, bucket bool, kinds map[string]bool) (outcome []string) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(order, length{rest: 1, further: 1, mishaps: 1})
		s.seed, s.calm, s.length.local = 6, true, !bucket // no history of a kind, but for that
		files := githubtest.Files{"README.md": "hello\n", "lockstep.hcl": x.settings}
		for i := range projects {
			files[dirOf(i)+"/backend.tf"] = s.backend(dirOf(i))
			files[dirOf(i)+"/a.tf"] = "# a = 1\n"
		}
		s.setUp(t, files)
		p := &post{simulation: s, thrice: order > 0, kinds: kinds}
		for i, chapter := range x.chapters {
			p.last = i == len(x.chapters)-1
			p.note("chapter %d", i+1)
			chapter(p)
			p.chapter()
		}
		p.answers()
		for _, bug := range s.bugs {
			t.Error(bug)
		}
		if t.Failed() || s.effects {
			t.Log(s.text())
		}
		outcome = p.outcome()
		s.leaveNothing()
	})
	return outcome
}

// post carries webhooks.
type post struct {
	*simulation
	thrice bool
	last   bool // the chapter
	known  int  // webhooks
	kinds  map[string]bool
	now    []arrival // in this chapter
	later  []arrival
	heads  []string // in the order of their pushes
}

// An arrival is one of a webhook, under its GUID or, if as is not empty, another one.
type arrival struct {
	guid, as string
	// event and body are those of one that githubtest does not send.
	event string
	body  []byte
}

// collect takes in the webhooks that are new.
func (p *post) collect() {
	all := p.hub.Deliveries()
	for _, guid := range all[p.known:] {
		p.takeIn(arrival{guid: guid})
	}
	p.known = len(all)
}

func (p *post) takeIn(a arrival) {
	p.now = append(p.now, a)
	for i := 0; p.thrice && i < 2; i++ {
		again := a
		if p.IntN(3) == 0 {
			again.as = fmt.Sprintf("%s-%d", a.guid, i)
		}
		if p.last || p.IntN(2) == 0 {
			p.now = append(p.now, again)
		} else {
			p.later = append(p.later, again)
		}
	}
}

// chapter has webhooks arrive, and all that comes of them be done, until nothing is left.
func (p *post) chapter() {
	p.later = slices.DeleteFunc(p.later, func(a arrival) bool {
		now := p.last || p.IntN(2) == 0
		if now {
			p.now = append(p.now, a)
		}
		return now
	})
	for quiet := 0; quiet < 3; {
		p.collect()
		ready := p.ready()
		switch n := p.IntN(10); {
		case len(p.now) > 0 && !p.thrice && len(p.pending())+len(p.letters) == 0:
			p.arrives(0)
		case len(p.now) > 0 && p.thrice && n == 0:
			p.arrives(p.IntN(len(p.now)))
		case len(ready) > 0 && n < 3:
			p.invoke(ready[p.IntN(len(ready))])
		case p.step():
		case len(p.now) > 0 && p.thrice || len(ready) > 0:
		case len(p.letters) > 0:
			p.pass(time.Minute)
		default:
			p.pass(10 * time.Minute)
			quiet++
			continue
		}
		quiet = 0
	}
}

// arrives has one of the waiting webhooks arrive.
func (p *post) arrives(i int) {
	a := p.now[i]
	p.now = slices.Delete(p.now, i, i+1)
	p.start(fmt.Sprintf("webhook %s %s", a.guid, a.as), 20*time.Second, func(ctx context.Context, q *process) {
		hook := &intake.Webhook{Intake: p.pipeline(q).Intake(), Secrets: []github.Secret{hush}}
		p.receiver = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var said struct{ Action string }
			if err != nil || json.Unmarshal(body, &said) != nil {
				p.bug("the body of %s cannot be read", a.guid)
			}
			event := r.Header.Get(github.EventHeader)
			p.kinds[event], p.kinds[event+" "+said.Action] = true, true
			r.Body = io.NopCloser(bytes.NewReader(body))
			hook.ServeHTTP(w, r)
		})
		guid, status, err := a.guid, 0, error(nil)
		if a.as != "" {
			guid = a.as
		}
		switch {
		case a.body != nil:
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/", bytes.NewReader(a.body))
			r.Header = http.Header{github.SignatureHeader: {github.Sign(hush, a.body)}}
			r.Header.Set(github.EventHeader, a.event)
			r.Header.Set(github.DeliveryHeader, guid)
			status = respond(p.receiver, r).StatusCode
		case a.as == "":
			_, err = p.hub.Redeliver(ctx, a.guid)
		default:
			status, _, err = p.hub.Replay(ctx, a.guid, guid, "")
		}
		if err != nil || status/100 > 2 {
			p.bug("%s: %d, %v", a.guid, status, err)
		}
	})
}

// sends has a webhook be sent that githubtest does not send.
func (p *post) sends(event, action string) {
	p.collect()
	r := p.repo.Repo()
	body, err := json.Marshal(map[string]any{
		"action": action, "ref": "refs/heads/main", "sender": map[string]any{"login": "alice"}, "installation": map[string]any{"id": p.repo.Installation()},
		"repository": map[string]any{"id": r.ID, "name": r.Name, "full_name": r.String(), "owner": map[string]any{"login": r.Owner}},
	})
	if err != nil {
		p.bug("%v", err)
	}
	p.takeIn(arrival{guid: fmt.Sprintf("10000000-0000-4000-8000-%012x", p.IntN(1<<30)), event: event, body: body})
}

// outcome is what has become of a tale, in lines without the IDs and times that differ each time.
func (p *post) outcome() (out []string) {
	add := func(format string, args ...any) { out = append(out, p.plain(fmt.Sprintf(format, args...))) }
	for _, dir := range slices.Sorted(maps.Keys(p.states)) {
		st := p.states[dir]
		add("objects of %s: %v, by %v, written %d times, locked %v", dir, st.objects, st.by, st.serial, st.lock != nil)
	}
	add("%d applies", len(p.beginnings))
	for i, sha := range p.heads {
		for _, c := range slices.SortedFunc(maps.Values(p.newest(sha)), func(a, b github.Check) int { return strings.Compare(a.Name, b.Name) }) {
			add("check %s of commit %d: %s %s, %s\n%s\n%s", c.Name, i+1, c.Status, c.Conclusion, c.Title, c.Summary, c.Text)
		}
	}
	for _, v := range p.repo.Pulls() {
		add("#%d is %s at %s", v.Number, v.State, v.Head)
		pull := pipeline.Pull{Installation: p.repo.Installation(), Repo: p.repo.Repo(), Number: v.Number}
		for _, rec := range p.Peek(pull.Runs()) {
			r, err := ledger.DecodeRun(rec)
			add("run %s of #%d: %s at %s, merged %v, after the merge %v, waits %v, by %s, %v %v", r.Project, v.Number, r.Phase, r.Spec.Head, r.End.Fate == runs.Merged, r.Spec.AfterMerge, r.Waiting(), r.Asked.By, r.Plan.Counts, err)
		}
		var said []string
		for _, c := range p.repo.Comments(v.Number) {
			if c.Author == "lockstep[bot]" {
				said = append(said, p.plain(c.Body))
			}
		}
		for _, text := range slices.Sorted(slices.Values(said)) {
			add("comment on #%d: %s", v.Number, text)
		}
	}
	for _, x := range p.repo.Issues() {
		add("issue %s, open %v: %s", x.Title, x.Open, x.Body)
	}
	for _, dir := range []string{"lease", "lock", "queue", "open"} {
		add("%s: %d records", dir, len(p.Peek(dir)))
	}
	return out
}

// various are the parts of texts that differ each time: names of commits and plans, times, IDs of comments, issues and artifacts.
var various = regexp.MustCompile(`\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{7}\b|\b\d\d [A-Z][a-z]{2} 20\d\d, \d\d:\d\d( UTC)?|\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?|issuecomment-\d+|:answer:\d+|:result:\d+|\bruns/\d+|rerun-[0-9a-f]+`)

// plain returns a text with names for the heads, and without what is various.
func (p *post) plain(text string) string {
	return various.ReplaceAllStringFunc(text, func(was string) string {
		for i, sha := range p.heads {
			if strings.HasPrefix(sha, was) {
				return fmt.Sprintf("<commit %d>", i+1)
			}
		}
		return "<>"
	})
}
