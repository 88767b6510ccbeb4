package comment

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
)

// samples are reasons of each type.
func samples() Reasons {
	other := strings.Repeat("ab", 32)
	many := strings.Fields("a.tf b.tf c.tf d.tf e.tf f.tf g.tf h.tf i.tf j.tf k.tf l.tf")
	const here, there = "s3://states/network", "s3://states/else"
	return Reasons{
		Sentence{"The moon is full.", "Wait."},
		NoPermission{"x`@team`", "read", "write"}, FromFork{}, OtherBase{"release", "main"}, NotOpen{}, NotOpen{true}, NotMerged{},
		NotOnMerge{"network"}, AppliedLater{"network"}, Conflicts{someSHA, false}, Conflicts{someSHA, true},
		NoPlan{false}, NoPlan{true}, BeingPlanned{false}, BeingPlanned{true},
		BeingApplied{"bob", Plan}, BeingApplied{"bob", Apply}, BeingApplied{"bob", Unlock}, PlanIsBad{someSHA, false}, PlanIsBad{someSHA, true},
		AlreadyDone{someSHA, "bob"}, ApplyBroken{false}, ApplyBroken{true}, NothingToDo{},
		PlanIsNewer{"network", someHash, false}, PlanIsNewer{"network", someHash, true}, PlanRenewed{"network", someHash, false}, PlanRenewed{"network", someHash, true}, OtherPlan{"network", "1234567", someHash}, OtherPlan{"network", "1234567", ""},
		SavedExchanged{other, someHash, false}, ShownExchanged{"lockstep/network", "", someHash, false}, ShownExchanged{"lockstep/network", other, someHash, false}, KeptExchanged{"they have another hash", true},
		FoundStale{false}, HeadIsNewer{"network"}, HeadMoved{someHash, someSHA, false}, InputsMoved{SomeOf(many), false, false}, InputsMoved{SomeOf(many[:2]), true, true},
		ModulesMoved{SomeOf([]string{"net from github.com/acme/net"}), false}, OtherVersion{false}, OtherUnmerged{8},
		ProvidersMoved{"version 1.2.0 of \"lab\" is selected", false}, OthersMoved{SomeOf(many[:2]), false}, ConfigMoved{SomeOf(many[:2]), false}, PlanDiffers{"network", someHash, Reasons{OtherVersion{}}, false}, PlanDiffers{"network", someHash, nil, true},
		StateMoved{Change: StateCreated, Is: 1}, StateMoved{Change: StateGone, Was: 3}, StateMoved{Change: StateReplaced, Was: 3, Is: 3},
		StateMoved{Change: SerialMoved, Was: 3, Is: 5, By: "carol", Number: 8}, StateMoved{Change: SameSerial, Was: 3, Is: 3, Merged: true},
		PlaceTaken{"network", here, "net"}, PlaceClaimed{"network", here, "net", "acme/shop"}, PlaceClaimed{"network", here, "net", ""},
		PlaceUnknown{"network", here}, PlaceNotAllowed{"network", here}, PlaceRenamed{"network", "net"}, NotEncrypted{"network"}, PlaceMoved{"network", there, here, false}, PlaceKeptElse{"network"},
		StateUnreachable{"put state: access denied", "Grant it."}, NothingToUnlock{}, NothingToStop{}, NothingToRecover{}, BeingApplied{"bob", Recover}, WasStopped{"alice"}, Unavailable{"too large an archive", "Make it smaller."}, ProcessEnded{"planning was ended: It took more than 512 MiB of memory.", "Give it more."},
		Unusable{"there is no such project: network"}, CommitGone{"404 Not Found"},
		Required{Apply, requiredTree(), false}, Required{Apply, requiredTree(), true}, Required{Unlock, unknownTree(), false},
		NotLifted{"bob"}, NothingToLock{},
		Awaits{"app", []string{"net"}}, Awaits{"app", []string{"db", "net"}}, OutOfOrder{"app", []string{"net"}, false}, OutOfOrder{"app", []string{"db", "net"}, false}, OutOfOrder{"app", []string{"net"}, true}, InCycle{[]string{"app", "net", "app"}},
		LockedByAnother{8, "carol", "the database moves", time.Date(2025, 1, 2, 15, 4, 5, 0, time.UTC), false}, LockedByAnother{8, "carol", "it moves", time.Time{}, true},
		NoneSelected{Command{Verb: Apply, Project: "x"}, []string{"app/eu", "network"}}, NoProjectSelected{Command{Verb: Plan}, nil}, NoProjectSelected{Command{Verb: Apply, Project: "x"}, []string{"app/eu", "network"}},
	}
}

// TestReasons holds the words of each reason, and that what is kept of it is the reason.
func TestReasons(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var types []reflect.Type
	for _, r := range samples() {
		text, remedy := r.words()
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", strings.TrimPrefix(fmt.Sprintf("%T", r), "comment."), text)
		if remedy != "" {
			fmt.Fprintf(&b, "> %s\n\n", remedy)
		}
		types = append(types, reflect.TypeOf(r))
	}
	for name, kind := range reasons {
		if !slices.Contains(types, kind) {
			t.Errorf("%s has no sample", name)
		}
	}
	if n := len(slices.Compact(slices.SortedFunc(maps.Values(reasons), func(x, y reflect.Type) int { return strings.Compare(x.String(), y.String()) }))); n != len(reasons) {
		t.Errorf("%d types under %d names", n, len(reasons))
	}
	golden.File(t, "testdata/reasons.md", b.String())
	data, err := MarshalReply(Refused{Command{Verb: Apply}, "network", samples()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnmarshalReply(data)
	if diff := cmp.Diff(samples(), got.(Refused).Reasons); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
}

// TestOldReasons holds that replies are read in which an earlier version kept reasons as texts.
func TestOldReasons(t *testing.T) {
	t.Parallel()
	r, err := UnmarshalReply([]byte(`{"refused":{"Command":{"Verb":"apply"},"Project":"app","Reasons":[{"Text":"The plan is stale.","Remedy":"Plan again."},{"Text":"So it is.","Remedy":""}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "**Not applied** `app`:\n\n- The plan is stale.\n- So it is.\n\nPlan again.\n"
	if diff := cmp.Diff(want, Markdown(r)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`[{}]`, `[{"moon is full":{}}]`, `[7]`, `{}`} {
		var rs Reasons
		if err := rs.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is %+v", bad, rs)
		}
	}
}

// TestNotes holds the notes of a status, and the reports that are not a plan's or an apply's.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{SettingsChanged("lockstep.hcl"), "This pull request changes `lockstep.hcl`. Which projects there are is taken from it; what it allows, and what it says about applying, counts when it is merged."},
		{SettingsBroken("lockstep.hcl", "line 3"), "The base branch's `lockstep.hcl` has errors, and grants nothing but what can be read in it:\n\nline 3"},
		{Unmerged(8, "network"), "#8 was applied to `network` and is not merged yet: until it is, this plan shows its changes as to be undone, and cannot be applied."},
		{Exchanged(), "**What is kept of this plan is not what was made.** Comment `lockstep plan` for a new plan."},
		{Interrupted(), "The process that applied this plan ended before it was done. The state has what was done up to some seconds before that. What was done after, or was under way, exists and may not be in it: comment `lockstep plan`, and look at the new plan with care, above all at what it creates."},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Error(diff)
		}
	}
}
