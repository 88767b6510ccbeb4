package comment

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

const (
	someSHA  = "4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e"
	someHash = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
	somePlan = "**Plan:** 2 to add, 1 to change, 0 to destroy.\n\n<details><summary>Changes</summary>\n\n```diff\n+ terraform_data.subnet[\"a\"]\n```\n\n</details>\n"
)

// TestGolden holds what each comment looks like: read the files as a reviewer would.
func TestGolden(t *testing.T) {
	net := ProjectStatus{Name: "network", Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 2, Change: 1}, Hash: someHash}, Texts: Texts{Body: somePlan, Check: "lockstep/network"}}
	with := func(p ProjectStatus, s Standing, by, body string) ProjectStatus {
		p.Standing, p.By, p.Body = s, by, body
		if s == Applied || s == ApplyFailed {
			p.Done = p.Counts
		}
		return p
	}
	app := ProjectStatus{Name: "app/eu", Standing: NoChanges, Texts: Texts{Body: "**No changes.**\n"}}
	trouble := "```\nError: Unsupported argument\n\n  on main.tf line 3\n```\n"
	partly := with(net, ApplyFailed, "alice", trouble)
	partly.Done, partly.Remaining = counting.Counts{Add: 1}, 2
	gone := with(net, ApplyFailed, "alice", "```\nError: the process ended\n```")
	gone.Done, gone.Lost = counting.Counts{}, true
	big := net
	big.Whole = "aws s3 cp s3://plans/5/7/full.txt -"
	linked := net
	linked.Whole = "http://127.0.0.1:8080/acme/infra/7/network"
	command := func(s string) Command { return grammar.Parse(s)[0].Command }
	status := func(list ...ProjectStatus) Status { return Status{Head: someSHA, Projects: list} }
	merged := status(app, with(net, NotApplied, "", somePlan))
	merged.Merged = true
	done := status(with(net, Applied, "alice", ""))
	done.Merged = true
	noted := status(app, net)
	noted.Notes, noted.Approvals = []string{reasons.RenamedNote("dns", "zone")}, []string{"bob", "carol"}
	const here, there = "s3://states/acme/network.tfstate", "s3://states/network/terraform.tfstate"
	moved, kept := net, net
	moved.Body = notes.Placed{Project: net.Name, From: here, To: there, Moves: true, Imposed: []string{"dynamodb_table", "encrypt"}}.Above(somePlan)
	none := net
	none.Body = notes.Placed{Project: net.Name, From: there, To: there, Were: []string{here}}.Above(somePlan)
	kept.Body = notes.Placed{Project: net.Name, From: here, To: here, Owner: "net", Ignored: []string{"use_lockfile"}}.Above(somePlan)
	sealed, unreadable := net, app
	sealed.Body = notes.EncryptionChange{Project: net.Name, State: notes.Resealed{Any: true, Rekeyed: true, Unreadable: true, Relaxed: true}, Plan: notes.Resealed{Any: true, Ends: true}, Others: true}.Above(somePlan)
	unreadable.Body = notes.EncryptionChange{Project: app.Name, Broken: true}.Above(trouble)
	encrypted := app
	encrypted.Body = notes.EncryptionChange{Project: app.Name, State: notes.Resealed{Any: true, Begins: true}, Plan: notes.Resealed{Any: true}}.Above("**No changes.**\n")
	partial, destroying, invoking := net, net, net
	partial.Options = grammar.Options{Targets: []string{`module.a["x y"].aws_vpc.main`, "aws_subnet.a"}, Variables: []string{"size=2 3", "x=`@team`"}, NoRefresh: true}
	destroying.Options = grammar.Options{Destroy: true}
	invoking.Options, invoking.Counts = grammar.Options{Invoke: `action.aws_lambda_invoke.warm["x y"]`}, counting.Counts{Invoke: 1}
	for i := range 12 {
		destroying.Options.Variables = append(destroying.Options.Variables, fmt.Sprintf("v%d=1", i))
	}
	check := func(p ProjectStatus, others string) string {
		c := Check{ProjectStatus: p, Others: others, Merged: p.Standing == NotApplied}
		text := c.Title(255) + "\n=====\n" + c.Summary(65535) + "=====\n" + c.Text(65535)
		for _, b := range c.Buttons() {
			text += fmt.Sprintf("\n[%s] %s: %s", b.Label, b.Description, b.Identifier)
		}
		return text
	}

	halted := with(net, PlanStopped, "alice", "- `bob` cancelled the plan.\n")
	halted.StoppedBy, halted.Hash, halted.Counts = "bob", "", counting.Counts{}
	vain, vainly := with(net, NoChanges, "alice", trouble), with(net, NoChanges, "alice", "- `bob` cancelled the plan.\n")
	vain.Vain, vain.Hash, vain.Counts, vain.Options = true, "", counting.Counts{}, grammar.Options{Imports: []string{"aws_vpc.main x"}}
	vainly.Vain, vainly.Hash, vainly.Counts, vainly.Options, vainly.StoppedBy = true, "", counting.Counts{}, grammar.Options{RefreshOnly: true}, "bob"
	far := func(p ProjectStatus) ProjectStatus { p.Progress = Progress{80, 200}; return p }
	head := func(s HeadStanding, list ...ProjectStatus) string {
		h := Head{Status: status(list...), Standing: s}
		return h.Title(255) + "\n=====\n" + h.Summary(65535)
	}
	named := func(name string, p ProjectStatus) ProjectStatus { p.Name = name; return p }
	blocked := with(net, Blocked, "", somePlan)
	blocked.BlockedBy, blocked.Blockers = 8, []string{reasons.RenamedNote("dns", "zone")}
	behind := blocked
	behind.Blockers = []string{notes.Unmerged(8, "dns")}
	holder := with(net, Ready, "", somePlan)
	holder.Lock = &OwnLock{"carol", "the `database` moves", time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)}
	other := with(app, PlanFailed, "", trouble)
	other.Lock = &OwnLock{"carol", "the `database` moves", time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)}
	locked := with(net, Blocked, "", somePlan)
	locked.LockedBy, locked.Locked, locked.Blockers = 8, true, []string{reasons.LockedFor(reasons.LockedByAnother{Number: 8, By: "carol", Because: "the database moves", Since: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)})}
	enforced := Head{Status: status(net, app), Standing: HeadWaiting, Enforced: true}
	mistaken := Head{Status: Status{Head: someSHA, Policies: notes.PoliciesBroken([]notes.BrokenPolicy{
		{Name: "network", Dir: "policy", Mistakes: []string{"net.rego:4: unexpected eof token", "lists.json: invalid `character`"}, More: 2},
		{Name: "names", Dir: "rules", Mistakes: []string{"the repository has no directory rules"}},
	})}, Standing: HeadPolicies}
	untried := status(net)
	untried.Policies = notes.PoliciesUntried("Trying the policies took more than 1 GiB of memory.")
	unknown := Head{Status: Status{Head: someSHA, Problem: trouble}, Standing: HeadUnknown}
	removing := Head{Status: Status{Head: someSHA, Removed: notes.Removed([]notes.RemovedProject{{Name: "dns", State: there}})}, Standing: HeadNothing}
	twin, going := net, net
	twin.Workspace, going.Workspace, going.Removed, going.Options = "prod", "default", true, grammar.Options{Destroy: true}
	destroyed, unplanned := going, going
	destroyed.Standing, destroyed.By, unplanned.Standing = Applied, "alice", NotApplied
	broken := Head{Status: Status{Head: someSHA}, Standing: HeadGivenUp, Why: Markdown(Broken{Reason: "3 attempts failed or were interrupted"})}
	overtaken := reasons.List{reasons.ConfigMoved{Files: reasons.SomeOf([]string{"net/b.tf"})}, reasons.StateMoved{Change: reasons.SerialMoved, Was: 12, Is: 14, By: "carol", Number: 8}}
	awaiting := with(named("app", net), Awaiting, "alice", somePlan)
	awaiting.After = []string{"network"}
	turnsAhead := []Turn{{Number: 12, By: "bob"}, {Number: 15, By: ""}}
	finished := with(net, NoChanges, "", somePlan)
	finished.FinishedBy = 14
	late := with(net, NotApplied, "bob", somePlan)
	late.Late, late.Required = true, &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{{Rule: rulings.Requirement, Outcome: rulings.Fails, At: "lockstep.hcl:3", Of: []rulings.Ruling{{Rule: rulings.Windows, Outcome: rulings.Fails, Wanted: []string{"Mon-Fri 08:00-17:00 UTC"}}}}}}
	inLine, farBehind := with(net, ApplyQueued, "alice", somePlan), with(named("app", net), ApplyQueued, "alice", somePlan)
	inLine.Ahead, farBehind.Ahead = turnsAhead[:1], append(turnsAhead, Turn{Number: 16, By: "carol"}, Turn{Number: 17, By: "dave"}, Turn{Number: 18, By: "erin"})
	of := func(p ProjectStatus) ProjectStatus { p.MergeApplies = true; return p }
	othersDone := FollowUp{Number: 12, Status: status(), Others: map[string]int{"app": 13, "network": 14, "dns": 13}}
	repeated, failedTwin := with(net, PlanFailed, "alice", trouble), with(app, PlanFailed, "alice", trouble)
	repeated.AfterMerge, repeated.Options = true, grammar.Options{Imports: []string{"x.a id"}}
	failedTwin.AfterMerge, failedTwin.Removed, failedTwin.Options = true, true, grammar.Options{Destroy: true}
	followUp := FollowUp{Number: 12, Status: status(of(app), of(partly), of(named("dns", with(net, NotApplied, "", somePlan))), named("vpn", with(net, NotApplied, "", somePlan)))}
	unasked := with(net, Renewed, "", somePlan)
	unasked.ByMerge = true
	checked := func(r Rechecked) string {
		p := ProjectStatus{Texts: Texts{Body: "the plan\n"}}
		r.On(&p)
		return Check{ProjectStatus: p}.Text(65535)
	}
	together := func(list ...ProjectStatus) Status {
		for i := range list {
			since := reasons.List{reasons.InputsMoved{Files: reasons.SomeOf([]string{list[i].Name + "/one.tf"})}}
			Rechecked{Project: list[i].Name, Since: since[:min(i, 1)]}.On(&list[i])
		}
		return status(list...)
	}
	renaming, follower, renamed := with(net, OnceMerged, "", somePlan), named("app", with(net, OnceMerged, "", somePlan)), with(net, Stale, "", somePlan)
	renaming.Owner, follower.Behind, renamed.Renamed = "net", &Behind{On: []string{"network"}, Left: []string{"network"}, Once: true}, "vpc"
	superseded := with(renamed, Superseded, "", "")
	crowd := with(net, Queued, "", "")
	crowd.Crowd = 290
	for name, text := range map[string]string{
		"status-once-merged": status(renaming, follower, named("dns", net)).Markdown(65536),
		"head-once-merged":   head(HeadOnceMerged, renaming, follower),
		"check-once-merged":  check(renaming, "") + "\n=====\n" + check(follower, ""),
		"check-renamed":      check(renamed, "") + "\n=====\n" + check(superseded, ""),
		"follow-up-gone":     FollowUp{Number: 12, Gone: []string{"network"}}.Body(65536) + "=====\n" + FollowUp{Number: 12, Gone: []string{"network", "dns"}, Others: map[string]int{"app": 13}}.Body(65536),
		"status-mixture": status(app, named("net/a", with(net, OnMerge, "", somePlan)), named("db/a", with(net, Applied, "alice", "```\nid = 7\n```\n")),
			named("net/b", with(net, OnMerge, "", somePlan)), named("db/b", with(net, ApplyFailed, "alice", trouble)), named("dns", behind), named("net/c", with(net, OnMerge, "", somePlan)),
			named("mx", with(net, Planning, "", ""))).Markdown(65536),
		"head-nothing":          head(HeadNothing),
		"head-removed":          removing.Title(255) + "\n=====\n" + removing.Summary(65535),
		"status-removed":        Status{Head: someSHA, Removed: removing.Removed, Projects: []ProjectStatus{twin, going, named("dns", going)}}.Markdown(65536),
		"status-removed-done":   Status{Head: someSHA, Removed: removing.Removed, Projects: []ProjectStatus{destroyed}}.Markdown(65536),
		"status-removed-merged": Status{Head: someSHA, Merged: true, Removed: removing.Removed, Projects: []ProjectStatus{unplanned}}.Markdown(65536),
		"follow-up-removed":     FollowUp{Number: 12, Status: status(of(unplanned), of(named("dns", going)), of(app))}.Body(65536),
		"check-removed":         check(going, ""),
		"head-awaited":          head(HeadAwaited),
		"head-left":             head(HeadLeft, net),
		"head-waiting":          enforced.Title(255) + "\n=====\n" + enforced.Summary(65535),
		"head-policies":         mistaken.Title(255) + "\n=====\n" + mistaken.Summary(65535),
		"head-unknown":          unknown.Title(255) + "\n=====\n" + unknown.Summary(65535),
		"head-given-up":         broken.Title(255) + "\n=====\n" + broken.Summary(65535),
		"head-plan-failed":      head(HeadPlanFailed, app, net, with(net, PlanFailed, "", trouble)),
		"head-blocked":          head(HeadBlocked, app, blocked),
		"head-applied":          head(HeadApplied, app, with(net, Applied, "alice", "")),
		"status-blocked":        status(app, blocked).Markdown(65536),
		"check-blocked":         check(blocked, ""),
		"follow-up":             followUp.Title() + "\n=====\n" + followUp.Body(65536),
		"follow-up-planned":     FollowUp{Number: 12, Status: status(of(with(net, Ready, "", somePlan)))}.Body(65536),
		"follow-up-renewed":     FollowUp{Number: 12, Status: status(of(with(net, Ready, "", somePlan)), of(with(app, Renewed, "", somePlan)), of(named("dns", with(net, NotApplied, "", ""))))}.Body(65536),
		"check-finished":        check(finished, ""),
		"head-finished":         head(HeadNoChanges, finished),
		"status-finished":       Status{Head: someSHA, Merged: true, Projects: []ProjectStatus{finished}}.Markdown(65536),
		"follow-up-late":        FollowUp{Number: 12, Status: status(of(late))}.Body(65536),
		"status-late":           Status{Head: someSHA, Merged: true, Projects: []ProjectStatus{late, app}}.Markdown(65536),
		"check-late":            check(late, ""),
		"follow-up-others":      othersDone.Body(65536) + "\n=====\n" + othersDone.Finished(65536),
		"follow-up-other":       FollowUp{Number: 12, Status: status(of(app), of(with(net, NotApplied, "", somePlan))), Others: map[string]int{"network": 14}}.Body(65536),
		"follow-up-done":        FollowUp{Number: 12, Status: done}.Body(65536),
		"check-crowd":           check(crowd, ""),
		"head-crowd":            head(HeadPlanning, crowd),
		"status-in-line":        status(inLine, farBehind).Markdown(65536),
		"head-in-line":          head(HeadApplying, inLine, farBehind),
		"check-in-line":         check(inLine, ""),
		"status-queued":         status(with(net, Queued, "", ""), with(app, Planning, "", "")).Markdown(65536),
		"status-planning":       status(with(net, Planning, "", "")).Markdown(65536),
		"status-one":            status(net).Markdown(65536),
		"status-options":        status(app, partial, destroying).Markdown(65536),
		"check-partial":         check(partial, ""),
		"check-destroying":      check(destroying, ""),
		"check-invoking":        check(invoking, ""),
		"status-moved":          status(moved).Markdown(65536),
		"status-not-copied":     status(none).Markdown(65536),
		"status-encryption":     status(sealed, encrypted, with(unreadable, PlanFailed, "", unreadable.Body)).Markdown(65536),
		"status-kept":           status(kept).Markdown(65536),
		"status-two":            noted.Markdown(65536),
		"status-none":           status(app).Markdown(65536),
		"status-plan-failed":    status(app, with(net, PlanFailed, "", trouble)).Markdown(65536),
		"status-apply-queued":   status(with(net, ApplyQueued, "alice", somePlan)).Markdown(65536),
		"status-awaiting":       status(with(net, Applying, "alice", somePlan), awaiting, app).Markdown(65536),
		"check-awaiting":        check(awaiting, ""),
		"status-applying":       status(with(net, Applying, "alice", somePlan)).Markdown(65536),
		"status-applied":        status(app, with(net, Applied, "alice", somePlan)).Markdown(65536),
		"status-apply-failed":   status(with(net, ApplyFailed, "alice", somePlan)).Markdown(65536),
		"status-partly-applied": status(partly, net).Markdown(65536),
		"status-out-of-date":    status(with(net, Stale, "", somePlan)).Markdown(65536),
		"status-on-merge":       status(with(net, OnMerge, "", somePlan)).Markdown(65536),
		"status-conflict":       Status{Head: someSHA, Conflict: true}.Markdown(65536),
		"status-policies":       mistaken.Status.Markdown(65536),
		"status-policies-long":  untried.Markdown(65536),
		"status-problem":        Status{Head: someSHA, Problem: trouble}.Markdown(65536),
		"status-not-applied":    merged.Markdown(65536),
		"status-merged":         done.Markdown(65536),
		"status-repeated":       Status{Head: someSHA, Merged: true, Projects: []ProjectStatus{repeated, failedTwin}, Repeated: []string{"A sentence about it."}}.Markdown(65536),
		"status-closed":         Status{Head: someSHA, Projects: []ProjectStatus{app}, Closed: true}.Markdown(65536),
		"status-big":            status(big).Markdown(65536),
		"status-big-linked":     status(linked).Markdown(65536),
		"check-planning":        check(with(net, Planning, "", ""), ""),
		"check-planned":         check(net, ""),
		"check-on-merge":        check(with(net, OnMerge, "", somePlan), ""),
		"status-plan-stopped":   status(app, halted).Markdown(65536),
		"check-plan-stopped":    check(halted, ""),
		"status-plan-vain":      status(app, vain, named("dns", vainly)).Markdown(65536),
		"check-plan-vain":       check(vain, "") + "\n=====\n" + check(vainly, ""),
		"head-plan-vain":        head(HeadNoChanges, app, vain),
		"head-plan-stopped":     head(HeadPlanStopped, app, halted),
		"check-no-changes":      check(app, ""),
		"check-plan-failed":     check(with(net, PlanFailed, "", trouble), ""),
		"check-applying":        check(with(net, Applying, "alice", somePlan), ""),
		"check-applied":         check(with(net, Applied, "alice", ""), ""),
		"check-apply-failed":    check(with(net, ApplyFailed, "alice", trouble), ""),
		"check-partly-applied":  check(partly, ""),
		"check-lost":            check(gone, ""),
		"status-lost":           status(gone).Markdown(65536),
		"check-out-of-date":     check(with(net, Stale, "", somePlan), ""),
		"check-not-applied":     check(with(net, NotApplied, "", somePlan), ""),
		"check-superseded":      check(with(net, Superseded, "", ""), ""),
		"check-given-up":        check(with(net, Closed, "", ""), ""),
		"status-given-up":       Status{Head: someSHA, Projects: []ProjectStatus{with(net, Closed, "", "")}, Closed: true}.Markdown(65536),
		"check-shared":          check(net, "planning failed on #9"),
		"check-shared-merged":   check(with(net, NotApplied, "", somePlan), "success on #9"),
		"check-big":             check(big, ""),
		"answer-done":           Answer{"33", []Reply{Done{Project: "network", Counts: counting.Counts{Add: 2, Change: 1}}}}.Markdown(65536),
		"answer-all-counts":     Answer{"33", []Reply{Done{Project: "network", Counts: counting.Counts{Import: 1, Add: 2, Change: 3, Destroy: 4, Forget: 5}, Body: "```\nid = 7\n```"}}}.Markdown(65536),
		"answer-planned-again": Answer{"33", []Reply{
			Done{"network", counting.Counts{Add: 2}, reasons.List{reasons.StateMoved{Change: reasons.SerialMoved, Was: 12, Is: 14, By: "carol", Number: 8}}, nil, "```\nid = 7\n```"},
			Done{"app", counting.Counts{Add: 2}, reasons.List{reasons.OtherVersion{}, reasons.ProvidersMoved{Problem: "the plan was made with version 1.1.0 of provider lockstep/lab, and now version 1.2.0 is selected"}, reasons.OthersMoved{Files: reasons.SomeOf([]string{"docs/x.md"})}, reasons.ConfigMoved{Files: reasons.SomeOf([]string{"net/b.tf"})}}, nil, ""},
			Failed{Project: "db", Verb: Apply, Counts: counting.Counts{Add: 1}, Settled: reasons.List{reasons.StateMoved{Change: reasons.StateCreated, Is: 1}}, Body: trouble},
			Refused{command("lockstep apply"), "dns", reasons.List{reasons.PlanDiffers{Project: "dns", Plan: someHash, Since: reasons.List{reasons.StateMoved{Change: reasons.SameSerial, Is: 3}}}}},
			Refused{command("lockstep apply"), "ns", reasons.List{reasons.PlanDiffers{Project: "ns", Plan: someHash, Merged: true}}},
		}}.Markdown(65536),
		"answer-hooks": Answer{"33", []Reply{
			Done{Project: "network", Counts: counting.Counts{Add: 2}, Hooks: []reasons.Hooked{
				{Hook: "ticket", Event: "before_apply", Messages: []string{"CHG-7 is open", "@everybody <b>"}}, {Hook: "quiet", Event: "before_apply"},
				{Hook: "chat", Event: "after_apply", Mistake: "there was no answer within 10 s"},
			}, Body: "```\nid = 7\n```"},
			Failed{Project: "db", Verb: Apply, Counts: counting.Counts{Add: 1}, Hooks: []reasons.Hooked{{Hook: "ticket", Event: "after_apply", Messages: []string{"CHG-8 is open"}, More: 3}}, Body: trouble},
			Refused{command("lockstep apply"), "dns", reasons.List{reasons.Hooked{Hook: "ticket", Event: "before_apply", Refuses: true, Messages: []string{"CHG-9 is closed"}}}},
		}}.Markdown(65536),
		"replaced": Replacement{Difference: "<details>the difference</details>\n"}.Above("the plan\n") + "=====\n" + Replacement{}.Above("the plan\n") +
			"=====\n" + Replacement{Since: overtaken, Difference: "<details>the difference</details>\n"}.Above("the plan\n") + "=====\n" +
			Replacement{Since: reasons.List{reasons.InputsMoved{Files: reasons.SomeOf([]string{"net/a.txt"})}}, Equal: true}.Above("the plan\n"),
		"rechecked": checked(Rechecked{Project: "network", Since: overtaken}) + "=====\n" + checked(Rechecked{Project: "network"}) +
			"=====\n" + checked(Rechecked{Project: "network", Problem: trouble}),
		"rechecked-empty": checked(Rechecked{Project: "network", Since: overtaken, Empty: true}) + "=====\n" + checked(Rechecked{Project: "network", Empty: true}) +
			"=====\n" + checked(Rechecked{Project: "network", Problem: trouble, Empty: true}),
		"status-rechecked": together(named("a", net), named("b", net), named("c", net), named("e", net), named("f", net), named("g", net), named("d", with(net, OnMerge, "", somePlan))).Markdown(65536),
		"queued": Answer{"queue-1", []Reply{
			QueuedPlan{Project: "network", Group: someSHA, Outcome: QueueDiffers, Since: overtaken, Difference: "<details>the difference</details>\n"}, QueuedPlan{Project: "app", Group: someSHA, Outcome: QueueDiffers, Since: overtaken, On: []int{7, 9}},
			QueuedPlan{Project: "dns", Group: someSHA, Outcome: QueueFailed, Problem: "```\nError: why\n```\n"}, QueuedPlan{Project: "vpn", Group: someSHA, Outcome: QueueUnseen},
		}}.Markdown(65536) + "=====\n" + Head{Status: Status{Projects: []ProjectStatus{net}}, Standing: HeadQueuePlanning, Queue: []QueuedPlan{
			{Project: "network", Group: someSHA}, {Project: "app", Group: someSHA, Outcome: QueueSame}, {Project: "dns", Group: someSHA, Outcome: QueueOnTop, On: []int{7}},
			{Project: "vpn", Group: someSHA, Outcome: QueueSame, Empty: true}, {Project: "cdn", Group: someSHA, Outcome: QueueOnTop, On: []int{7}, Empty: true},
		}}.Summary(65535) + "=====\n" + Head{Standing: HeadDequeued}.Summary(65535) + "=====\n" +
			Head{Status: Status{Projects: []ProjectStatus{net, {Name: "dns", Standing: OnMerge, Obstacles: Obstacles{Required: &rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{{Rule: rulings.AskedBy, Outcome: rulings.Fails, Wanted: []string{"acme/sre"}, Against: []rulings.Against{{Name: "bob", Why: rulings.NotNamed}}}}}}}}}, Standing: HeadBlocked, By: "bob"}.Summary(65535),
		"answer-renewed": Answer{"check", []Reply{PlanRenewal{"network", someHash, overtaken, false}, PlanRenewal{"app", someHash,
			reasons.List{reasons.InputsMoved{Files: reasons.SomeOf([]string{"a.txt"})}, reasons.ModulesMoved{Modules: reasons.SomeOf([]string{"net from github.com/acme/net"})}, reasons.PlaceMoved{Project: "app", Planned: there, Place: here},
				reasons.StateMoved{Change: reasons.StateGone, Was: 3}, reasons.StateMoved{Change: reasons.StateReplaced, Was: 3, Is: 3}}, true}}}.Markdown(65536),
		"status-renewed":    status(with(net, Renewed, "", somePlan), app).Markdown(65536),
		"check-renewed":     check(with(net, Renewed, "", somePlan), "") + "\n=====\n" + check(unasked, ""),
		"answer-planned":    Answer{"33", []Reply{Planned{Project: "network", Counts: counting.Counts{Add: 2}}, Planned{Project: "app"}, Planned{Project: "dns", Applyable: true}}}.Markdown(65536),
		"answer-pending":    Answer{"33", []Reply{Done{Project: "network", Counts: counting.Counts{Add: 2}}, Pending{Project: "app", Verb: Apply}, Pending{Project: "db", Verb: Plan}, Pending{Project: "net", Verb: Apply, Progress: Progress{80, 200}}, Pending{Project: "ns", Verb: Apply, AfterPlan: true}, Pending{Project: "mx", Verb: Apply, After: []string{"net", "ns"}}, Pending{Project: "dns", Verb: Apply, Ahead: turnsAhead}}}.Markdown(65536),
		"answer-too-many":   Answer{"33", []Reply{TooMany{"alice", 30, time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)}}}.Markdown(65536),
		"answer-superseded": Answer{"33", []Reply{PlanSuperseded{"app"}}}.Markdown(65536),
		"answer-unapplied":  Answer{"merge", []Reply{Unapplied{Projects: []string{"network"}}}}.Markdown(65536) + "=====\n" + Answer{"merge", []Reply{Unapplied{[]string{"a", "b", "c", "d", "e", "f"}, []string{"network"}}}}.Markdown(65536),
		"answer-unfinished": Answer{"close", []Reply{Unfinished{Project: "network", By: "alice", Head: someSHA}, Unfinished{Project: "network", By: "alice", Head: someSHA, Into: "release", Main: "main"}, Unfinished{Project: "network", By: "alice", Head: someSHA, Merged: "9ab31c20000000000000000000000000000000000"}, Unfinished{Project: "network", By: "alice", Head: someSHA, Unknown: true, Workspace: "prod"}, Unfinished{Project: "network", By: "alice", Head: someSHA, Moved: "s3://states/network"}, Unfinished{Project: "network", By: "alice", Head: someSHA, Into: "release", Main: "main", Unknown: true}}}.Markdown(65536),
		"answer-not-merged": Answer{"automerge", []Reply{MergeRefused{"squash", "GitHub says 405 Method Not Allowed: At least 1 approving review is required by reviewers with write access.", "", false}}}.Markdown(65536) +
			"=====\n" + Answer{"automerge", []Reply{MergeRefused{"merge", "GitHub says 403 Forbidden: Resource not accessible by integration", "The GitHub App needs the permission to write contents.", false}}}.Markdown(65536) +
			"=====\n" + Answer{"automerge", []Reply{MergeRefused{"merge", "GitHub says 405 Method Not Allowed: Pull Request is not mergeable", "", true}}}.Markdown(65536),
		"answer-broken-merged": Answer{"33", []Reply{
			Failed{Project: "app", Verb: Apply, Untouched: true, Closed: true, Body: Markdown(Broken{Reason: "3 attempts failed or were interrupted", Closed: true, Merged: true})},
			Failed{Project: "net", Verb: Apply, Untouched: true, Closed: true, Body: Markdown(Broken{Reason: "3 attempts failed or were interrupted", Closed: true})},
			Failed{Project: "dns", Verb: Plan, Body: Markdown(Broken{Reason: "3 attempts failed or were interrupted", Merged: true})},
		}}.Markdown(65536),
		"answer-broken": Answer{"33", []Reply{Broken{Reason: "3 attempts failed or were interrupted"}}}.Markdown(65536),
		"answer-recovered": Answer{"33", []Reply{
			Recovered{Project: "network", Changed: true}, Recovered{Project: "app"},
			Recovered{"db", true, []Doubt{{Address: "aws_db_instance.main[0]", Action: "create", Begun: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC), Known: []string{`name = "main"`}}}, []string{"aws_subnet.a"}},
			Recovered{"dns", false, []Doubt{{Address: "x.a", Action: "create", Begun: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)}}, nil},
		}}.Markdown(65536),
		"answer-overridden": Answer{"33", []Reply{Overridden{Project: "network", By: "zoe", Because: "the `site` is down"}, Overridden{Project: "net", By: "zoe", Because: "it burns", Workspace: "prod"}, Overridden{Project: "net", By: "zoe", Because: "it burns", Workspace: "prod", Left: "Merging the pull request applies this plan."}, Overridden{Project: "app", By: "zoe", Because: "the `site` is down", Target: "app@default", Later: true}}}.Markdown(65536),
		"answer-locked":     Answer{"33", []Reply{Locked{"network", "the `database` moves", ""}, Locked{"net", "it moves", "prod"}, Lifted{"app", "alice", "the `database` moves", ""}, Lifted{"app", "alice", "it moves", "bob"}}}.Markdown(65536),
		"check-locked":      check(locked, ""),
		"status-locked":     status(locked).Markdown(65536),
		"check-holder":      check(holder, ""),
		"status-holder":     status(holder, other).Markdown(65536),
		"answer-stopping":   Answer{"33", []Reply{Stopping{"network", Apply, "alice", false}, Stopping{"app", Plan, "alice", false}, Stopping{"db", Apply, "alice", true}, Refused{command("lockstep stop"), "", reasons.List{reasons.NothingToStop{}}}}}.Markdown(65536),
		"answer-stopped":    Answer{"33", []Reply{StoppedApply{"network", "alice", Progress{80, 200}, false, nil, trouble}, StoppedApply{"app", "alice", Progress{0, 1}, true, nil, ""}}}.Markdown(65536),
		"status-continuing": status(far(with(net, Applying, "alice", somePlan))).Markdown(65536),
		"status-stopped":    status(far(with(net, Stopped, "alice", somePlan))).Markdown(65536),
		"check-continuing":  check(far(with(net, Applying, "alice", somePlan)), ""),
		"check-stopped":     check(far(with(net, Stopped, "alice", somePlan)), ""),
		"answer-failed": Answer{"33", []Reply{Failed{Project: "network", Verb: Plan, Body: trouble}, Failed{Project: "app", Verb: Apply, Counts: counting.Counts{Add: 1}, Body: trouble},
			Failed{Project: "db", Verb: Apply, Untouched: true, Body: trouble}, Failed{Project: "dns", Verb: Apply, Counts: counting.Counts{Add: 1}, Remaining: 4, Body: trouble}, Failed{Project: "mx", Verb: Apply, Lost: true, Unlock: Command{Verb: Unlock, Project: "mx"}, Body: "```\nError: the process ended\n```"},
			Failed{Project: "ns", Verb: Apply, Untouched: true, Closed: true, Body: trouble}}}.Markdown(65536),
		"answer-refused": Answer{"33", []Reply{
			Refused{command("lockstep apply"), "network", reasons.List{reasons.Sentence{Text: "The plan is stale, because it is.", Remedy: "Plan again."}, reasons.Sentence{Text: "The moon is full.", Remedy: "Plan again."}}},
			Refused{command("lockstep plan -p x"), "", reasons.List{reasons.NoProjectSelected{Command: command("lockstep plan -p x"), Projects: []string{"app", "db"}}}},
		}}.Markdown(65536),
		"answer-misunderstood": Answer{"33", []Reply{
			Misunderstood{grammar.Parse("lockstep aply `@team`")[0]}, Misunderstood{grammar.Parse("lockstep plan -w $(id)")[0]}, Misunderstood{grammar.Parse("lockstep")[0]},
		}}.Markdown(65536),
		"answer-problems": Answer{"33", misunderstood(
			"lockstep plan -x", "lockstep plan net", "lockstep plan net `@team`", "lockstep apply -auto-approve", "lockstep apply -destroy", "lockstep unlock -var x=y", "lockstep plan -p",
			"lockstep plan --failed=no", "lockstep plan -p a -p b", "lockstep lock --reason a --reason b", "lockstep plan -target=a.b -exclude=c.d", "lockstep help -p a",
			"lockstep plan -target=`@team`", "lockstep plan -var x", "lockstep plan -refresh=maybe", "lockstep apply 123", "lockstep apply 1234567 7654321",
			"lockstep plan 'a", "lockstep plan -p a\u202eb", "lockstep destroy", "lockstep plan -var-file=x.tfvars", "`lockstep plan`", "lockstep plan -p "+strings.Repeat("x", 5000),
			"atlantis plan", "terraform apply -auto-approve", "digger apply -p net", "atlantis plan -- -var-file=x.tfvars", "atlantis approve_policies",
		)}.Markdown(65536),
		"answer-obeyed": Answer{"33", []Reply{Obeyed{grammar.Parse("Atlantis plan -- -target=a.b")[0]}, Pending{Project: "network", Verb: Plan}}}.Markdown(65536),
		"answer-problem-of-others": Answer{"33", []Reply{
			Misunderstood{grammar.Line{Text: "lockstep x", Problem: grammar.Problem{Kind: "of tomorrow"}}},
		}}.Markdown(65536),
		"answer-help":     Answer{"33", []Reply{Guide{[]string{"app/eu", "network"}}}}.Markdown(65536),
		"answer-unlocked": Answer{"33", []Reply{Unlocked{Project: "network", Locks: 1}, Unlocked{Project: "app"}, Unlocked{Project: "db", Others: []string{"carol@laptop since 2025-01-02T15:04:05Z"}}, Unlocked{Project: "dns", Elsewhere: &reasons.LockedByAnother{Number: 8, By: "carol", Because: "it moves"}}}}.Markdown(65536),
	} {
		golden.File(t, filepath.Join("testdata", name+".md"), text)
	}
}

// misunderstood are the replies to lines with problems.
func misunderstood(lines ...string) (out []Reply) {
	for _, l := range lines {
		out = append(out, Misunderstood{grammar.Parse(l)[0]})
	}
	return out
}

// TestBigPlans holds that a plan of a megabyte, in characters of several bytes, keeps
// within the limits of comments and checks, is closed where it is cut, and says where
// all of it is.
func TestBigPlans(t *testing.T) {
	p := ProjectStatus{Name: "net", Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 9}}, Texts: Texts{Check: "lockstep/net"}}
	p.Body = "<details><summary>Changes</summary>\n\n" + markdown.Fence("diff", strings.Repeat("+ eine große Änderung `x` @team ```\n", 30000)) + "\n\n</details>\n"
	if len(p.Body) < 1<<20 {
		t.Fatalf("only %d bytes", len(p.Body))
	}
	const where = "aws s3 cp s3://plans/full.txt -"
	for _, whole := range []string{"", where} {
		p.Whole = whole
		want := "The check `lockstep/net` shows more of it."
		if whole != "" {
			want = "The full text: `" + where + "`."
		}
		status := Status{Head: someSHA, Projects: []ProjectStatus{p}}.Markdown(65536)
		if len(status) > 65536 || len(status) < 60000 || strings.Count(status, want) != 1 {
			t.Errorf("the status has %d bytes, and says %d times where the rest is", len(status), strings.Count(status, want))
		}
		c := Check{ProjectStatus: p}
		text := c.Text(65535)
		if len(text) > 65535 || len(text) < 60000 || whole != "" && !strings.Contains(text, want) {
			t.Errorf("the check's text has %d bytes", len(text))
		}
		for what, markdown := range map[string]string{"status": status, "check": text} {
			if !utf8.ValidString(markdown) || strings.Count(markdown, "````") != 2 || strings.Count(markdown, "</details>") != 1 {
				t.Errorf("the %s is not closed, or cut in a character", what)
			}
		}
	}
}

// TestReplies holds that what is kept of a reply is the reply, for each kind.
func TestReplies(t *testing.T) {
	since := reasons.List{reasons.StateMoved{Change: reasons.SerialMoved, Was: 3, Is: 5}}
	all := []Reply{
		Pending{"app", Apply, Progress{80, 200}, Ongoing{}, true, []string{"net"}, []Turn{{Number: 7, By: "bob"}}}, Stopping{"app", Apply, "alice", true}, Overridden{"app", "zoe", "the site is down", "prod", "what is left", "app@default", true}, Locked{"app", "it moves", "prod"}, Lifted{"app", "zoe", "it moves", "bob"}, StoppedApply{"app", "alice", Progress{80, 200}, true, nil, "body"}, Recovered{"app", true, []Doubt{{Address: "x.a", Action: "create", Begun: time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC), Known: []string{"a = 1"}}}, []string{"x.b"}}, Planned{"app", counting.Counts{Add: 1}, true, "The plan."}, PlanSuperseded{"app"}, PlanRenewal{"app", someHash, since, true}, QueuedPlan{"app", someSHA, QueueDiffers, []int{7}, since, "the difference", "why", true}, Done{"app", counting.Counts{Add: 1}, since, []reasons.Hooked{{Hook: "ticket", Event: "after_apply"}}, "body"},
		Failed{"app", Apply, counting.Counts{Add: 1}, true, true, 2, true, Command{}, since, nil, true, "body"}, Refused{Command{Verb: Plan, Dir: "x"}, "app", reasons.List{reasons.Sentence{Text: "no", Remedy: "yes"}, reasons.NotOpen{}, reasons.NoPermission{Login: "alice", Has: "read", Needs: "write"}}},
		Unlocked{"app", 1, []string{"carol"}, &reasons.LockedByAnother{Number: 8, By: "carol", Because: "it moves"}}, Misunderstood{grammar.Line{Text: "text", Command: Command{Verb: Help}, Problem: grammar.Problem{Kind: grammar.BadName, Word: "x", Flag: "-p", Want: "NAME", Most: 7}, Suggestion: "suggestion"}}, Guide{[]string{"app"}}, Obeyed{grammar.Parse("atlantis plan -p app")[0]},
		Unfinished{"app", "alice", someSHA, "release", "main", someSHA, "s3://states/app", true, "prod"}, Unapplied{[]string{"app"}, []string{"net"}}, MergeRefused{"merge", "why", "remedy", true}, Shown{Command{Verb: Show, Arguments: []string{"x"}}, "app", "x", true, 3, 1, 1, true}, Queried{"app", "app", []QueriedList{{"list.x.all", 3, 1, 2}}, []QueriedObject{{"list.x.all", "a", "{}", "x.a"}}, "import {}", 1, 4, &QueriedImport{7, true, "imports.tf", "problem", "remedy"}, true, "warning"}, DriftProposed{"app", 7, true, 3, true, []string{"x.a: it is sensitive"}, 2, "problem", "remedy"}, Broken{Reason: "reason"}, TooMany{"alice", 30, time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC)},
	}
	if len(all) != len(kinds) {
		t.Errorf("%d of %d kinds", len(all), len(kinds))
	}
	for _, want := range all {
		data, err := MarshalReply(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalReply(data)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v%s", data, err, diff)
		}
	}
	for _, bad := range []string{"", "{}", `{"done":7}`} {
		if r, err := UnmarshalReply([]byte(bad)); err == nil {
			t.Errorf("%s is %+v", bad, r)
		}
	}
}

func TestVerdict(t *testing.T) {
	good, bad := Done{Project: "app"}, Refused{}
	for _, test := range []struct {
		replies []Reply
		want    Verdict
	}{{nil, Good}, {[]Reply{good}, Good}, {[]Reply{good, bad}, Bad}, {[]Reply{bad, Pending{}}, Waiting}, {[]Reply{PlanSuperseded{}}, Bad}} {
		if got := VerdictOn(test.replies); got != test.want {
			t.Errorf("%v: %v", test.replies, got)
		}
	}
}

// TestManyLongPlans holds that a status keeps within its limit whatever is in it, and
// that short plans are not cut for the sake of long ones.
func TestManyLongPlans(t *testing.T) {
	s := Status{Head: someSHA}
	for i := range 12 {
		body := "```\n" + strings.Repeat("+ a line of a plan\n", 1<<(2*i)/4+1) + "```\n"
		s.Projects = append(s.Projects, ProjectStatus{Name: strings.Repeat("p", i+1), Standing: Ready, Texts: Texts{Body: body}})
	}
	const limit = 65536
	got := s.Markdown(limit)
	if len(got) > limit || len(got) < limit*9/10 {
		t.Errorf("%d bytes of %d", len(got), limit)
	}
	if n := strings.Count(got, "*Shortened to fit"); n == 0 || n > 6 {
		t.Errorf("%d of 12 plans are cut", n)
	}
	if !strings.HasSuffix(got, "lists all commands.\n") {
		t.Errorf("the end is cut: %q", got[len(got)-200:])
	}
}

// TestManyProjects holds that a status keeps within its limit, however many projects and
// notes there are, that it says how many it does not list, and that trouble is listed.
func TestManyProjects(t *testing.T) {
	s := Status{Head: someSHA}
	for i := range 400 {
		name := fmt.Sprintf("%s-%03d", strings.Repeat("region/", 40), i)
		s.Projects = append(s.Projects, ProjectStatus{Name: name, Standing: Ready, Texts: Texts{Body: fmt.Sprintf("line %d\n", i)}})
		s.Notes = append(s.Notes, fmt.Sprintf("#7 was applied to %s and is not merged yet.", markdown.Code(name)))
	}
	s.Projects[399].Standing = PlanFailed
	const limit = 65536
	got := s.Markdown(limit)
	if len(got) > limit {
		t.Errorf("%d bytes of %d", len(got), limit)
	}
	table, _, _ := strings.Cut(got, "\n\n*")
	listed, notes := strings.Count(table, "region/-"), strings.Count(got, "\n#7 was applied")
	for _, want := range []string{
		fmt.Sprintf("*%d more projects do not fit here: see the check of each project.*", 400-listed),
		fmt.Sprintf("*%d more notes do not fit here: see the checks of the projects.*", 400-notes),
		"| **failed to plan** | `region/", "### 1 project failed to plan, 399 ready to apply (`4f2a1c9`)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if listed < 90 || notes < 40 {
		t.Errorf("%d projects and %d notes", listed, notes)
	}
	if !strings.HasSuffix(got, "lists all commands.\n") {
		t.Errorf("the end is cut: %q", got[len(got)-200:])
	}
	if s.Projects[399].Standing != PlanFailed {
		t.Error("the caller's list was sorted")
	}
}

// TestCrowdedHidesNothing holds, for pull requests of many projects, that a reader finds each project,
// each failure with its reason, each requirement that is not met, and every change by its address
// unless its plan is counted among those that are left out.
func TestCrowdedHidesNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{26, 150, 302, 600} {
		for _, failing := range []int{1, n / 10, n / 2, n} {
			t.Run(fmt.Sprintf("%d projects, %d fail", n, failing), func(t *testing.T) {
				t.Parallel()
				s := Status{Head: someSHA}
				missing := unknownTree()
				for i := range n {
					p := ProjectStatus{Name: fmt.Sprintf("live/team-%03d", i), Standing: Ready, PlanSummary: PlanSummary{Hash: someHash, Counts: counting.Counts{Change: 1}, Applyable: true}}
					switch {
					case i < failing:
						p.Standing, p.Counts, p.Hash = PlanFailed, counting.Counts{}, ""
						p.Body = fmt.Sprintf("```\nWarning: Doubt\n\n  on main.tf line 1:\n\nError: Reason %03d\n\n  on main.tf line 1:\n\n%s```\n", i, strings.Repeat("a line of the error\n", 40))
					case i == n-1:
						p.Required = &missing
						fallthrough
					default:
						p.Body = fmt.Sprintf("**Plan:** 0 to add, 1 to change, 0 to destroy.\n\n<details open><summary>Changes</summary>\n\n```diff\n# a.n%03d will be updated in-place\n!   resource \"a\" \"n\" {\n%s    }\n```\n\n</details>\n", i, strings.Repeat("!       x = 1 -> 2\n", 60))
					}
					s.Projects = append(s.Projects, p)
				}
				const limit = 65536
				got := s.Markdown(limit)
				if len(got) > limit {
					t.Errorf("%d bytes", len(got))
				}
				changes := 0
				for i, p := range s.Projects {
					if !strings.Contains(got, "`"+p.Name+"`") {
						t.Fatalf("%s is not named", p.Name)
					}
					if i < failing && !strings.Contains(got, fmt.Sprintf("Reason %03d", i)) {
						t.Fatalf("the reason why %s failed is missing:\n%s", p.Name, got)
					}
					if i >= failing && strings.Contains(got, fmt.Sprintf("a.n%03d will be updated", i)) {
						changes++
					}
				}
				if left := n - failing - changes; left > 0 && !strings.Contains(got, fmt.Sprintf("The plans of %d more projects do not fit here", left)) {
					t.Errorf("%d plans are left out, and nothing tells how many", left)
				}
				if failing < n && !strings.Contains(got, "Requirements for the apply") {
					t.Error("a requirement that is not met is missing")
				}
			})
		}
	}
}
