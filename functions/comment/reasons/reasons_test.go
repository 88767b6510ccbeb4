package reasons

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

const (
	someSHA  = "4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e4f2a1c9d0e"
	someHash = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
)

// samples are reasons of each type.
func samples() List {
	other := strings.Repeat("ab", 32)
	many := strings.Fields("a.tf b.tf c.tf d.tf e.tf f.tf g.tf h.tf i.tf j.tf k.tf l.tf")
	const here, there = "s3://states/network", "s3://states/else"
	return List{
		Sentence{"The moon is full.", "Wait."},
		NoPermission{"x`@team`", "read", "write"}, FormerCommit{grammar.Command{Verb: grammar.Plan, Project: "net"}, someSHA, strings.Repeat("0", 40)}, FormerCommit{grammar.Command{Verb: grammar.Apply, Plan: "1a2b3c4d5e6f", Project: "net"}, someSHA, strings.Repeat("0", 40)}, FromFork{}, FromFork{grammar.Unlock}, ForkUnnamed{someSHA}, OtherCommit{"4f2a1c9", someSHA}, OtherCommit{strings.Repeat("0", 40), someSHA}, OwnFork{"eve"}, ForkOnlyPlanned{grammar.Apply}, StateElsewhere{"network"}, NotOnBase{"network"}, OtherBase{"release", "main"}, IssueClosed{"network"}, NotOnIssue{grammar.Command{Verb: grammar.Lock, Reason: "x"}, "network"}, OnlyOnIssue{grammar.Command{Verb: grammar.DriftAccept, Project: "net"}}, OnlyOnIssue{grammar.Command{Verb: grammar.DriftRevert}}, NotOpen{}, NotOpen{Merged: true}, NotOpen{true, true}, NotMerged{},
		NotAll{[]string{"-target=a.b"}}, NotOnMerge{"network"}, AppliedLater{Project: "network"}, AppliedLater{Project: "net", Renewed: true}, AppliedLater{Project: "net", Options: []string{"-target=a.b"}}, AppliedLater{Project: "net", Held: true}, AppliedLater{Project: "net", Held: true, Comes: true}, Required{Verb: grammar.Apply, Tree: rulings.Ruling{Of: []rulings.Ruling{{Rule: rulings.Ready, Outcome: rulings.Fails}}}, Later: true}, Required{Verb: grammar.Apply, Tree: rulings.Ruling{Of: []rulings.Ruling{{Rule: rulings.Ready, Outcome: rulings.Fails}}}, OnIssue: true}, OutOfOrder{Project: "app", Left: []string{"net"}, Later: true}, Conflicts{someSHA, false}, Conflicts{someSHA, true},
		NoPlan{false}, RequestedFailed{}, NoPlan{true}, BeingPlanned{}, BeingPlanned{Merged: true}, BeingPlanned{Verb: grammar.Override},
		BeingApplied{By: "bob", Verb: grammar.Plan}, BeingApplied{By: "bob", Verb: grammar.Apply}, BeingApplied{By: "bob", Verb: grammar.Unlock}, BeingApplied{By: "bob", Verb: grammar.Apply, Late: true}, PlanIsBad{Head: someSHA}, PlanIsBad{Head: someSHA, Merged: true}, PlanIsBad{Head: someSHA, StoppedBy: "carol"}, PlanIsBad{Head: someSHA, Merged: true, StoppedBy: "carol"}, PlanIsBad{Head: someSHA, Merged: true, Plain: "lockstep plan -p net"}, PlanIsBad{Head: someSHA, Vain: true},
		AlreadyDone{someSHA, "bob", 0}, AlreadyDone{someSHA, "", 8}, ApplyBroken{false}, ApplyBroken{true}, NothingToDo{},
		PlanIsNewer{"network", someHash, false, false}, PlanIsNewer{"network", someHash, true, false}, PlanIsNewer{"network", someHash, false, true}, PlanIsNewer{"network", someHash, true, true}, PlanRenewed{"network", someHash, false, false}, PlanRenewed{"network", someHash, true, false}, PlanRenewed{"network", someHash, false, true}, OtherPlan{"network", "1234567", someHash}, OtherPlan{"network", "1234567", ""},
		SavedExchanged{other, someHash, false}, ShownExchanged{"lockstep/network", "", someHash, false}, ShownExchanged{"lockstep/network", other, someHash, false}, KeptExchanged{"they have another hash", true},
		FoundStale{false}, HeadIsNewer{"network"}, PlannedAbove{"network", grammar.Command{Verb: grammar.Plan, Options: grammar.Options{Destroy: true}}, grammar.Plan}, PlannedAbove{"network", grammar.Command{Verb: grammar.Plan}, grammar.Apply}, PlanUnseen{"network", false}, PlanUnseen{"network", true}, ShownFirst{"network", grammar.Command{Verb: grammar.Import, Arguments: []string{"a.b", "x"}}}, NotReplaced{"network"}, HeadMoved{someHash, someSHA, false, "", false}, HeadMoved{someHash, someSHA, false, "network", false}, HeadMoved{someHash, someSHA, false, "network", true}, Restored{"network", false}, Restored{"network", true}, RemovedByBase{[]string{"app", "network"}}, RemovedHere{"network"}, RenamedByBase{"net", "network", grammar.Plan}, RenamedByBase{"net", "network", grammar.Apply}, RenamedByBase{Project: "net", Name: "network"}, InputsMoved{SomeOf(many), false, false, false, false}, InputsMoved{SomeOf(many[:2]), true, true, false, false}, InputsMoved{SomeOf(many[:1]), false, true, true, false}, InputsMoved{SomeOf(many[:1]), false, false, false, true},
		SettingsBroken{"network", "```\nError: Unclosed configuration block\n\n  on lockstep.hcl line 4\n```", true, false}, SettingsBroken{"network", "```\nError: Two projects with one name\n```", false, false}, SettingsBroken{"network", "```\nError: x\n```", true, true},
		ModulesMoved{SomeOf([]string{"net from github.com/acme/net"}), false}, OtherVersion{false}, OtherUnmerged{Number: 8}, OtherUnmerged{Number: 8, Merged: true}, OtherUnmerged{Number: 8, Mutual: true},
		ProvidersMoved{"version 1.2.0 of \"lab\" is selected", false}, OthersMoved{SomeOf(many[:2]), false}, ConfigMoved{SomeOf(many[:2]), false, false}, ConfigMoved{SomeOf(many[:2]), false, true}, OutputsPlanned{[]string{"network", "dns"}, false}, OutputsMoved{[]string{"network", "dns"}, false}, PlanDiffers{"network", someHash, List{OtherVersion{}, OutputsPlanned{[]string{"network"}, false}}, false}, PlanDiffers{"network", someHash, nil, true},
		StateMoved{Change: StateCreated, Is: 1}, StateMoved{Change: StateGone, Was: 3}, StateMoved{Change: StateReplaced, Was: 3, Is: 3},
		StateMoved{Change: SerialMoved, Was: 3, Is: 5, By: "carol", Number: 8}, StateMoved{Change: SameSerial, Was: 3, Is: 3, Merged: true},
		PlaceTaken{"network", here, "net"}, PlaceClaimed{"network", here, "net", "acme/shop", false, false}, PlaceClaimed{"network", here, "net", "acme/shop", false, true}, PlaceClaimed{"network", here, "net", "", false, false}, PlaceClaimed{"network", here, "net", "", false, true}, PlaceClaimed{"network", here, "net", "", true, true}, PlaceLeft{"network", here, "net", 8}, PlaceLeft{"network", here, "net", 0}, StateCopied{"net", here, "network"},
		PlaceUnknown{"network", here}, PlaceNotAllowed{"network", here}, PlaceRenamed{"network", "net"}, NotEncrypted{"network"}, PlaceMoved{"network", there, here, false}, PlaceKeptElse{"network"},
		StateUnreachable{"put state: access denied", "Grant `s3:PutObject`."}, NothingToUnlock{}, NothingToStop{}, NothingToRecover{}, NothingToQuery{}, QueryOfFork{}, NotInBase{"main"}, BeingApplied{By: "bob", Verb: grammar.Recover}, WasStopped{By: "alice"}, WasStopped{By: "alice", Merged: true}, Hooked{"ticket", "before_plan", true, []string{"CHG-9 is closed"}, 0, "", ""}, Hooked{"quiet", "before_apply", true, nil, 0, "", "lockstep retry -p net"}, Hooked{"chat", "before_apply", false, nil, 0, "there was no answer within 10 s", ""}, StepFailed{"freeze", "before_apply", "the program ended with exit code 3", "frozen until Monday", "https://lockstep.example.com/acme/infra/pull/7/steps/net", "lockstep apply -p net"}, StepFailed{"cdk", "generate", "the program did not end within its time limit of 1m0s", "", "", "lockstep plan -p net"}, NotRecorded{"write the audit record: access denied", "lockstep apply -p net"}, Unavailable{"too large an archive", "Ask an operator of Lockstep to raise the limit."}, ProcessEnded{"planning was ended: It took more than 512 MiB of memory.", "A part of the configuration is too large, or grows without end. Make that part smaller and push, or ask an operator of Lockstep to give its Lambda function more memory."},
		Unusable{"the repository has no project network"}, CommitGone{"404 Not Found"},
		Required{Verb: grammar.Apply, Tree: requiredTree(), Merged: false}, Required{Verb: grammar.Apply, Tree: requiredTree(), Merged: true}, Required{Verb: grammar.Apply, Tree: requiredTree(), Merged: true, Waits: true}, Required{Verb: grammar.Unlock, Tree: unknownTree(), Merged: false}, Required{Verb: grammar.Unlock, Tree: rulings.Ruling{Of: []rulings.Ruling{{Rule: rulings.Ready, Outcome: rulings.Fails}}}, Elsewhere: true},
		NotLifted{Login: "bob"}, NotLifted{Login: "bob", Nobody: true}, NotLifted{Login: "bob", Empty: true}, VoidOverride{}, VoidOverride{Edited: true}, NotAsWritten{}, NotInConversation{}, ReasonNeeded{grammar.Command{Verb: grammar.Override, Project: "network", Workspace: "prod", Reason: "..."}}, NothingToLock{},
		Awaits{"app", []string{"net"}, false, false}, Awaits{"app", []string{"db", "net"}, false, false}, Awaits{"net", []string{"app"}, true, false}, Awaits{"net", []string{"app", "db"}, true, false}, Awaits{"app", []string{"net"}, false, true}, OutOfOrder{Project: "app", Left: []string{"net"}, Held: true}, OutOfOrder{Project: "app", Left: []string{"dns", "net"}, OnMerge: []string{"net"}}, OutOfOrder{Project: "app", Left: []string{"net"}, Again: []string{"net"}, OnMerge: []string{"net"}, Later: true}, OutOfOrder{Project: "app", Left: []string{"net"}, Again: []string{"net"}, Held: true},
		OutOfOrder{Project: "app", Left: []string{"net"}}, OutOfOrder{Project: "app", Left: []string{"db", "net"}}, OutOfOrder{Project: "app", Left: []string{"net"}, Merged: true}, OutOfOrder{Project: "app", Left: []string{"net"}, Once: true},
		OutOfOrder{Project: "app", Left: []string{"net"}, Again: []string{"net"}}, OutOfOrder{Project: "app", Left: []string{"db", "net"}, Again: []string{"net"}},
		OutOfOrder{Project: "net", Left: []string{"app"}, Destroys: true}, OutOfOrder{Project: "net", Left: []string{"app", "db"}, Destroys: true, Removed: true}, OutOfOrder{Project: "net", Left: []string{"app"}, Again: []string{"app"}, Destroys: true, Removed: true},
		RenamedByBase{"net", "net", grammar.Plan}, OutOfOrder{Project: "app", Left: []string{"net"}, OnMerge: []string{"net"}, Later: true}, OutOfOrder{Project: "app", Left: []string{"db", "net"}, OnMerge: []string{"db", "net"}, Later: true}, OutOfOrder{Project: "net", Left: []string{"app"}, OnMerge: []string{"app"}, Destroys: true, Removed: true}, InCycle{[]string{"app", "net", "app"}},
		SetNotLocked{[]string{"dns", "net"}}, LockedByAnother{8, "carol", "the database moves", time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC), false, false, false}, LockedByAnother{8, "carol", "it moves", time.Time{}, true, false, false}, LockedByAnother{8, "carol", "it moves", time.Time{}, true, true, false}, LockedByAnother{8, "carol", "it moves", time.Time{}, false, false, true},
		NoneSelected{grammar.Command{Verb: grammar.Apply, Project: "x"}, []string{"app/eu", "network"}, nil}, NoneSelected{grammar.Command{Verb: grammar.Apply, Project: "x"}, nil, []string{"app/eu", "network"}}, OwnApply{"net", "", false}, OwnApply{"net", "default", false}, OwnApply{"net", "", true}, ServedElsewhere{"net", "ou-a"}, ServedElsewhere{"net", ""}, InShadow{"net"}, SeveralProjects{grammar.Command{Verb: grammar.Plan, Options: grammar.Options{Forgets: []string{"a.b"}}}, []string{"app/eu", "network"}, false}, SeveralProjects{grammar.Command{Verb: grammar.Plan, Options: grammar.Options{Forgets: []string{"a.b"}}}, []string{"net (default)", "net (prod)"}, true}, NoProjectSelected{grammar.Command{Verb: grammar.Plan}, nil}, NothingFailed{grammar.Command{Verb: grammar.Unlock, Failed: true}, []string{"app/eu", "network"}}, NothingFailed{grammar.Command{Verb: grammar.Retry, Project: "net*"}, []string{"net", "network"}}, NothingFailed{grammar.Command{Verb: grammar.Retry}, nil}, TouchesNothing{}, NoneSelected{grammar.Command{Verb: grammar.Lock, Project: "x", Reason: "it moves"}, nil, nil}, NoProjectSelected{grammar.Command{Verb: grammar.Apply, Project: "x"}, []string{"app/eu", "network"}},
	}
}

// TestReasons holds the words of each reason, and that what is kept of it is the reason.
func TestReasons(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var seen []reflect.Type
	for _, r := range samples() {
		text, remedy := r.words()
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", strings.TrimPrefix(fmt.Sprintf("%T", r), "reasons."), text)
		if remedy != "" {
			fmt.Fprintf(&b, "> %s\n\n", remedy)
		}
		seen = append(seen, reflect.TypeOf(r))
	}
	for name, kind := range types {
		if !slices.Contains(seen, kind) {
			t.Errorf("%s has no sample", name)
		}
	}
	if n := len(slices.Compact(slices.SortedFunc(maps.Values(types), func(x, y reflect.Type) int { return strings.Compare(x.String(), y.String()) }))); n != len(types) {
		t.Errorf("%d types under %d names", n, len(types))
	}
	golden.File(t, "testdata/reasons.md", b.String())
	data, err := json.Marshal(samples())
	if err != nil {
		t.Fatal(err)
	}
	var got List
	err = json.Unmarshal(data, &got)
	if diff := cmp.Diff(samples(), got); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
}

// TestBadReasons holds that what is no list of reasons is an error.
func TestBadReasons(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`[{}]`, `[7]`, `{}`} {
		var rs List
		if err := rs.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is %+v", bad, rs)
		}
	}
}

// requiredTree has every rule with facts against it, and some that hold.
func requiredTree() rulings.Ruling {
	no := func(rule rulings.Rule, r rulings.Ruling) rulings.Ruling {
		r.Rule, r.Outcome = rule, rulings.Fails
		return r
	}
	by := func(why rulings.Why, name string, names ...string) rulings.Against {
		return rulings.Against{Name: name, Why: why, Names: names}
	}
	against := func(all ...rulings.Against) rulings.Ruling { return rulings.Ruling{Against: all} }
	wanted := func(r rulings.Ruling, names ...string) rulings.Ruling {
		r.Wanted = names
		return r
	}
	first := rulings.Ruling{Rule: rulings.Requirement, Outcome: rulings.Fails, At: "lockstep.hcl:3", Of: []rulings.Ruling{
		no(rulings.AskedBy, wanted(against(by(rulings.NotNamed, "bob")), "acme/sre", "carol")),
		no(rulings.Permitted, wanted(against(by(rulings.CannotWrite, "bob", "write")), "admin")),
		no(rulings.Approvals, rulings.Ruling{Want: 2, Have: 1, Wanted: []string{"acme/sre"}, Found: []string{"dave"}, Against: []rulings.Against{
			by(rulings.EarlierHead, "carol"), by(rulings.OwnChange, "alice"), by(rulings.ByBot, "robot[bot]"), by(rulings.CannotWrite, "eve"),
			by(rulings.NotNamed, "frank"), by(rulings.Refuses, "grace"),
		}}),
		no(rulings.Codeowners, rulings.Ruling{Want: 3, Have: 1, Against: []rulings.Against{by(rulings.Unowned, "net/`@team`.tf", "acme/net", "bob"), by(rulings.Unowned, "b.tf", "x@example.org")}}),
		no(rulings.Mergeable, against(by(rulings.Conflicting, ""), by(rulings.IsDraft, ""), by(rulings.Behind, ""), by(rulings.ReviewMissing, ""), by(rulings.Missing, "ci"), by(rulings.Blocked, ""))),
		no(rulings.UpToDate, against(by(rulings.Behind, ""))),
		no(rulings.Resolved, rulings.Ruling{Have: 2}),
		no(rulings.Ready, against(by(rulings.IsDraft, ""))),
		no(rulings.Checks, wanted(against(by(rulings.Running, "ci/a"), by(rulings.CheckFailed, "ci/b"), by(rulings.OtherApp, "ci/c by buildkite", "github-actions"), by(rulings.Missing, "ci/d")), "ci/*")),
		no(rulings.Labels, wanted(against(by(rulings.PutBy, "ready", "eve")), "ready")),
		no(rulings.NotLabels, wanted(against(by("", "hold"), by(rulings.TakenBy, "wip", "eve")), "hold", "wip")),
		no(rulings.Windows, rulings.Ruling{Wanted: []string{"Mon-Fri 08:00-17:00", "daily 03:00-04:00"}}),
		no(rulings.Freeze, rulings.Ruling{Found: []string{"2026-12-20/2027-01-06: year's end"}}),
		no(rulings.MaxChanges, rulings.Ruling{Want: 5, Have: 7}),
		no(rulings.MaxDestroys, rulings.Ruling{Want: 0, Have: 1}),
		no(rulings.NoDestroy, rulings.Ruling{Wanted: []string{"aws_db_*"}, Found: []string{"aws_db_instance"}}),
		no(rulings.NoRisk, wanted(against(by(rulings.AtRisk, "public-ingress", "aws_security_group.web", "module.`x`.aws_security_group.db")), "public-ingress", "stateful-destroy")),
		no(rulings.NoRisk, wanted(against(by(rulings.NotAssessed, "")), "public-ingress")),
		no(rulings.OneOf, rulings.Ruling{Of: []rulings.Ruling{
			{Rule: rulings.Alternative, Outcome: rulings.Fails, Name: "by day", Of: []rulings.Ruling{no(rulings.Approvals, rulings.Ruling{Want: 1})}},
			{Rule: rulings.Alternative, Outcome: rulings.NotApplicable, Name: "at night", Of: []rulings.Ruling{{Rule: rulings.UpToDate, Outcome: rulings.NotApplicable}}},
		}}),
	}}
	lifted := rulings.Ruling{Rule: rulings.Requirement, Outcome: rulings.Lifted, At: "lockstep.hcl:20", By: "zoe", Because: "the site is down", Of: []rulings.Ruling{
		{Rule: rulings.Approvals, Outcome: rulings.Holds, Want: 1, Have: 1, Found: []string{"bob"}, Against: []rulings.Against{by(rulings.EarlierHead, "carol")}},
		no(rulings.Ready, against(by(rulings.IsDraft, ""))),
	}}
	broken := rulings.Ruling{Rule: rulings.Readable, Outcome: rulings.Fails}
	return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{broken, first, lifted}}
}

func unknownTree() rulings.Ruling {
	return rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Unknown, Of: []rulings.Ruling{{
		Rule: rulings.Requirement, Outcome: rulings.Unknown, At: "lockstep.hcl:1",
		Of: []rulings.Ruling{{Rule: rulings.AskedBy, Outcome: rulings.Unknown, Wanted: []string{"acme/sre"}, Problem: "GitHub shows no such `team`"}},
	}}}
}
