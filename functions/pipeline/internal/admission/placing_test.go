package admission

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// placed reads "NAME[:DIR]=KEY[,ARGUMENT...]" one a word: projects, and where they are. A
// key "?" is nowhere, "local" the local backend.
func placed(t *testing.T, text string) []project.Project {
	t.Helper()
	var out []project.Project
	for word := range strings.FieldsSeq(text) {
		who, where, _ := strings.Cut(word, "=")
		p := project.Project{Workspace: "default"}
		var dir bool
		if p.Name, p.Dir, dir = strings.Cut(who, ":"); !dir {
			p.Dir = p.Name
		}
		key, arguments, _ := strings.Cut(where, ",")
		switch key {
		case "?":
		case "local":
			p.Place = places.Local
		default:
			block := map[string]any{"bucket": "states", "key": key, "region": "us-east-1"}
			for a := range strings.SplitSeq(arguments, ",") {
				switch name, value, given := strings.Cut(a, ":"); {
				case name == "role":
					block[places.RoleArgument] = map[string]any{"role_arn": "arn:aws:iam::222222222222:role/" + value}
				case given:
					block[name] = value
				case a != "":
					block[a] = true
				}
			}
			at, err := places.Of("s3", block, p.Workspace)
			if err != nil {
				t.Fatal(err)
			}
			p.Place = at
		}
		out = append(out, p)
	}
	return out
}

// TestPlaceFor is a table of base commits, heads and claims. The project that is asked
// about is the first of the head's.
func TestPlaceFor(t *testing.T) {
	t.Parallel()
	const mine, theirs = 1, 2
	for _, test := range []struct {
		what, base, head, allow string
		claim                   string // "REPO PROJECT [left] [taken]"
		broken, removed         bool
		leftBy                  int
		want                    string // "KIND PLACE ARGUMENTS", or a reason and the other one
	}{
		{what: "as at the base", base: "net=net", head: "net=net", want: "the same s3://states/net"},
		{what: "as at the base, and ours", base: "net=net", head: "net=net", claim: "1 net", want: "the same s3://states/net"},
		{what: "as at the base, with errors in the settings", base: "net=net", head: "net=net", broken: true, want: "the same s3://states/net"},
		{what: "without the lock table", base: "net=net,dynamodb_table:locks", head: "net=net", want: "the same s3://states/net dynamodb_table=locks"},
		{what: "with another lock table", base: "net=net,dynamodb_table:locks", head: "net=net,dynamodb_table:mine", want: "the same s3://states/net dynamodb_table=locks"},
		{what: "without the lock object", base: "net=net,use_lockfile", head: "net=net", want: "the same s3://states/net use_lockfile=true"},
		{what: "without encryption", base: "net=net,encrypt,kms_key_id:k", head: "net=net", want: "the same s3://states/net encrypt=true kms_key_id=k"},
		{what: "for everybody to read", base: "net=net", head: "net=net,acl:public-read", want: "the same s3://states/net"},
		{what: "in another region, with another table there", base: "net=net", head: "net=net,region:eu-west-1", want: "the same s3://states/net"},

		{what: "moved", base: "net=net", head: "net=else", want: "PlaceNotAllowed"},
		{what: "moved to where it is allowed", base: "net=net", head: "net=acme/else", allow: "s3://states/acme/*", want: "moved s3://states/acme/else"},
		{what: "moved, by settings with errors", base: "net=net", head: "net=acme/else", allow: "s3://states/acme/*", broken: true, want: "PlaceUnknown"},
		{what: "new", base: "net=net", head: "app=app", want: "PlaceNotAllowed"},
		{what: "new, where it is allowed", base: "net=net", head: "app=acme/app", allow: "s3://states/acme/*", want: "new s3://states/acme/app"},
		{what: "new in an empty repository", head: "app=app", want: "PlaceNotAllowed"},
		{what: "new, with the locks of others", base: "net=net,dynamodb_table:locks,use_lockfile,encrypt", head: "app=acme/app", allow: "s3://states/acme/*", want: "new s3://states/acme/app dynamodb_table=locks encrypt=true use_lockfile=true"},
		{what: "new, for everybody to read", base: "net=net", head: "app=acme/app,acl:public-read", allow: "s3://states/acme/*", want: "new s3://states/acme/app"},
		{what: "new, for those to read who read others", base: "net=net,acl:private", head: "app=acme/app,acl:private", allow: "s3://states/acme/*", want: "new s3://states/acme/app acl=private"},
		{what: "new, for more to read than others", base: "net=net,acl:private", head: "app=acme/app,acl:public-read", allow: "s3://states/acme/*", want: "new s3://states/acme/app"},
		{what: "unknown at the base", base: "net=?", head: "net=net", want: "PlaceNotAllowed"},
		{what: "unknown at the head", base: "net=net", head: "net=?", want: "moved "},
		{what: "from S3 to us", base: "net=net", head: "net=local", want: "moved local"},
		{what: "new, with us", head: "net=local", want: "new local"},
		{what: "with us", base: "net=local", head: "net=local", want: "the same local"},

		{what: "by the base's role", base: "net=net,role:states", head: "net=net", want: "the same s3://states/net assume_role=map[role_arn:arn:aws:iam::222222222222:role/states]"},
		{what: "by a role of its own", base: "net=net", head: "net=net,role:evil", want: "the same s3://states/net"},
		{what: "by another role", base: "net=net,role:states", head: "net=net,role:evil", want: "the same s3://states/net assume_role=map[role_arn:arn:aws:iam::222222222222:role/states]"},
		{what: "new, by a role of its own", base: "net=net", head: "app=acme/app,role:evil", allow: "s3://states/acme/*", want: "new s3://states/acme/app"},
		{what: "new, by the role of others", base: "net=net,role:states", head: "app=acme/app,role:evil", allow: "s3://states/acme/*", want: "new s3://states/acme/app assume_role=map[role_arn:arn:aws:iam::222222222222:role/states]"},

		{what: "unknown at the base, to where it is allowed", base: "net=?", head: "net=acme/net", allow: "s3://states/acme/*", want: "new s3://states/acme/net"},
		{what: "renamed, with arguments of its own", base: "net=net,use_lockfile", head: "network=net,encrypt", want: "renamed s3://states/net use_lockfile=true"},
		{what: "another repository's, of a project's name that is also ours", base: "net=net db=?", head: "net=net", claim: "2 db", want: "PlaceClaimed acme/shop"},

		{what: "another project's state", base: "prod=prod dev=dev", head: "dev=prod prod=prod", allow: "s3://states/*", want: "PlaceTaken prod"},
		{what: "production's, which is dropped", base: "prod=prod dev=dev", head: "dev=prod", allow: "s3://states/*", want: "PlaceTaken prod"},
		{what: "production's, by a new name for dev's directory", base: "prod=prod dev=dev", head: "x:dev=prod", allow: "s3://states/*", want: "PlaceTaken prod"},
		{what: "production's, which was given another place", base: "prod=prod", head: "x=prod prod=else", allow: "s3://states/*", want: "PlaceTaken prod"},
		{what: "production's, which is hidden", base: "prod=prod", head: "x=prod prod=?", allow: "s3://states/*", want: "PlaceTaken prod"},
		{what: "renamed", base: "net=net,use_lockfile", head: "network=net", want: "renamed s3://states/net use_lockfile=true"},
		{what: "renamed in its place", base: "net=net", head: "network:net=net", want: "renamed s3://states/net"},
		{what: "renamed, and claimed under the old name", base: "net=net", head: "network=net", claim: "1 net", want: "renamed s3://states/net"},
		{what: "renamed, and another repository's", base: "net=net", head: "network=net", claim: "2 net", want: "PlaceClaimed acme/shop"},

		{what: "another repository's", base: "net=net", head: "net=net", claim: "2 db", want: "PlaceClaimed acme/shop"},
		{what: "another repository's, where it is allowed", base: "net=net", head: "net=db", claim: "2 db", allow: "s3://states/*", want: "PlaceClaimed acme/shop"},
		{what: "claimed by a project that is gone", base: "network=net", head: "network=net", claim: "1 net", want: "the same s3://states/net"},
		{what: "claimed by a project that has moved", base: "network=net net=else", head: "network=net", claim: "1 net", want: "the same s3://states/net"},
		{what: "claimed by a project whose place is not known now", base: "dev=dev prod=?", head: "dev=prod", claim: "1 prod", allow: "s3://states/*", want: "PlaceClaimed prod"},
		{what: "new, where another one was", base: "dev=dev", head: "app=net", claim: "1 net", allow: "s3://states/*", want: "new s3://states/net after net"},
		{what: "new, where one was that has moved", base: "net=else", head: "app=net net=else", claim: "1 net", allow: "s3://states/*", want: "new s3://states/net after net"},
		{what: "new, where one was that a merge has removed", base: "dev=dev", head: "app=net", claim: "1 net", leftBy: 4, allow: "s3://states/*", want: "new s3://states/net after net #4"},
		{what: "moved to where another one was", base: "app=app", head: "app=net", claim: "1 net", allow: "s3://states/*", want: "moved s3://states/net after net"},
		{what: "new, where it was before", base: "dev=dev", head: "net=net", claim: "1 net", allow: "s3://states/*", want: "new s3://states/net"},
		{what: "merged, where another one was when it was planned", base: "app=net", head: "app=net", claim: "1 net left", want: "the same s3://states/net after net"},
		{what: "merged, where one was that a merge has removed", base: "app=net", head: "app=net", claim: "1 net", leftBy: 4, want: "the same s3://states/net after net #4"},
		{what: "back, where it was left", base: "net=net", head: "net=net", claim: "1 net left", want: "the same s3://states/net"},
		{what: "renamed again, and claimed under its first name", base: "net=net", head: "web=net", claim: "1 network", want: "renamed s3://states/net"},
		{what: "renamed, and another one was planned there meanwhile", base: "net=net", head: "web=net", claim: "1 net left", want: "renamed s3://states/net"},
		{what: "removed", base: "net=net", head: "net=net", claim: "1 net", removed: true, want: "the same s3://states/net"},
		{what: "removed, under another name than it is claimed", base: "net=net", head: "net=net", claim: "1 network", removed: true, want: "the same s3://states/net"},
		{what: "removed, and another one has come since", base: "net=net", head: "net=net", claim: "1 app taken", removed: true, want: "PlaceClaimed app, of a removed one"},
		{what: "removed, and another one's that is there still", base: "net=net app=net", head: "net=net", claim: "1 app", removed: true, want: "PlaceClaimed app, of a removed one"},
		{what: "removed, and another repository's", base: "net=net", head: "net=net", claim: "2 net", removed: true, want: "PlaceClaimed acme/shop, of a removed one"},
		{what: "renamed after it had come to where another one was", base: "web=net", head: "web=net", claim: "1 app taken", want: "the same s3://states/net"},
	} {
		q := PlaceQuestion{Repo: github.Repo{ID: mine, Owner: "acme", Name: "infra"}, Base: placed(t, test.base), Head: placed(t, test.head), BaseBroken: test.broken, Removed: test.removed, LeftBy: test.leftBy}
		q.Project = q.Head[0]
		if test.allow != "" {
			p, err := places.ParsePattern(test.allow)
			if err != nil {
				t.Fatal(err)
			}
			q.Allow = []places.Pattern{p}
		}
		if test.claim != "" {
			q.Claim = &places.Claim{Place: q.Project.Place.String(), Repo: "acme/shop", Workspace: "default"}
			fmt.Sscan(test.claim, &q.Claim.RepoID, &q.Claim.Project)
			q.Claim.Left, q.Claim.Taken = strings.HasSuffix(test.claim, " left"), strings.HasSuffix(test.claim, " taken")
		}
		got := PlaceFor(q)
		if len(got.Reasons) > 0 {
			var all []string
			for _, r := range got.Reasons {
				all = append(all, refused(r))
			}
			if text := strings.Join(all, ", "); text != test.want || got.Place.Backend != "" {
				t.Errorf("%s: %s\nwant %s", test.what, text, test.want)
			}
			continue
		}
		text := fmt.Sprintf("%s %s", got.Kind, got.Place)
		for _, name := range got.Place.Differing(places.Place{}) {
			if name != "region" {
				text += fmt.Sprintf(" %s=%v", name, got.Place.Arguments[name])
			}
		}
		if got.Former != "" {
			text += " after " + got.Former
		}
		if got.LeftBy != 0 {
			text += fmt.Sprint(" #", got.LeftBy)
		}
		if text != test.want {
			t.Errorf("%s: %s\nwant %s", test.what, text, test.want)
		}
		if (got.Kind == SamePlace || got.Kind == RenamedPlace) && got.From != got.Place.String() {
			t.Errorf("%s: from %s", test.what, got.From)
		}
		if got.Moves() != strings.HasPrefix(test.want, "moved ") {
			t.Errorf("%s: moves %v", test.what, got.Moves())
		}
		if changed := q.Project.Place.Differing(got.Place) != nil; changed != (len(got.Ignored)+len(got.Imposed) > 0) && got.Place.Backend == "s3" {
			t.Errorf("%s: ignored %q, imposed %q", test.what, got.Ignored, got.Imposed)
		}
	}
}

// refused names the type of a reason, and the other project or repository in it.
func refused(r reasons.Reason) string {
	name := types(Refusal(r))
	switch r := r.(type) {
	case reasons.PlaceTaken:
		return name + " " + r.Owner
	case reasons.PlaceClaimed:
		name += " " + cmp.Or(r.Repo, r.Owner)
		if r.Removed {
			name += ", of a removed one"
		}
		return name
	}
	return name
}

// TestGateOfPlaces holds what the gate makes of the answer: all commands need a place, and
// what the base branch does not know by this name is not applied.
func TestGateOfPlaces(t *testing.T) {
	t.Parallel()
	no := reasons.List{reasons.PlaceTaken{}}
	at := places.Place{Backend: "s3", Bucket: "states", Key: "net"}
	for _, test := range []struct {
		what    string
		verb    comment.Verb
		placing *Placing
		planned string
		want    string
	}{
		{"a plan without a place", comment.Plan, &Placing{Reasons: no}, "", "PlaceTaken"},
		{"an apply without one", comment.Apply, &Placing{Reasons: no}, "", "PlaceTaken"},
		{"an unlock without one", comment.Unlock, &Placing{Reasons: no}, "", "PlaceTaken"},
		{"an apply", comment.Apply, &Placing{Place: at, Kind: SamePlace}, at.String(), ""},
		{"not asked yet", comment.Apply, nil, at.String(), ""},
		{"a moved one", comment.Apply, &Placing{Place: at, Kind: MovedPlace}, at.String(), ""},
		{"a plan of a renamed one", comment.Plan, &Placing{Place: at, Kind: RenamedPlace, Owner: "prod"}, "", ""},
		{"an apply of a renamed one", comment.Apply, &Placing{Place: at, Kind: RenamedPlace, Owner: "prod"}, at.String(), "PlaceRenamed"},
		{"a plan that is not encrypted yet", comment.Plan, &Placing{Place: at, Kind: NewPlace, InClear: true}, "", ""},
		{"an apply of it", comment.Apply, &Placing{Place: at, Kind: NewPlace, InClear: true}, at.String(), "NotEncrypted"},
		{"an unlock of it", comment.Unlock, &Placing{Place: at, Kind: NewPlace, InClear: true}, at.String(), ""},
		{"a plan of a state elsewhere", comment.Apply, &Placing{Place: at, Kind: SamePlace}, "s3://states/else", "PlaceMoved"},
	} {
		q := allowed()
		q.Verb, q.Placing, q.Run.Address.Place = test.verb, test.placing, test.planned
		if got := types(Decide(q)); got != test.want {
			t.Errorf("%s: %s, want %q", test.what, got, test.want)
		}
	}
}

// TestClaimsOfApps holds that a claim is one of a repository of one App: another server's has the same ID and names.
func TestClaimsOfApps(t *testing.T) {
	t.Parallel()
	for _, apps := range [][2]string{{"", "ghes"}, {"ghes", ""}, {"ghes", "other"}, {"", ""}, {"ghes", "ghes"}} {
		q := PlaceQuestion{App: apps[0], Repo: github.Repo{ID: 1, Owner: "acme", Name: "infra"}, Base: placed(t, "net=net"), Head: placed(t, "net=net")}
		q.Project = q.Head[0]
		r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{App: apps[1], Repo: q.Repo}, Project: "net", Workspace: "default"}}
		q.Claim = r.ClaimOf(q.Project.Place)
		got := PlaceFor(q)
		if same := apps[0] == apps[1]; (len(got.Reasons) == 0) != same {
			t.Errorf("%q of %q: %+v", apps[1], apps[0], got.Reasons)
		}
	}
}
