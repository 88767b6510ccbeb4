package dynamodb

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// interfering is a client that lets others do something before each of its
// requests but the first.
type interfering struct {
	API
	others []func()
	asked  int
}

func (i *interfering) next() {
	if i.asked > 0 && i.asked <= len(i.others) {
		i.others[i.asked-1]()
	}
	i.asked++
}

func (i *interfering) GetItem(ctx context.Context, in *awsdynamodb.GetItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.GetItemOutput, error) {
	i.next()
	return i.API.GetItem(ctx, in, o...)
}

func (i *interfering) PutItem(ctx context.Context, in *awsdynamodb.PutItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.PutItemOutput, error) {
	i.next()
	return i.API.PutItem(ctx, in, o...)
}

func (i *interfering) DeleteItem(ctx context.Context, in *awsdynamodb.DeleteItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.DeleteItemOutput, error) {
	i.next()
	return i.API.DeleteItem(ctx, in, o...)
}

// start returns the items of a state in a table that holds some already.
func start(t *testing.T, stored map[string]map[string]string) (*Items, *interfering, *statebackendtest.DynamoDB) {
	t.Helper()
	server := new(statebackendtest.DynamoDB).Start(t)
	for key, attributes := range stored {
		server.SetItem(key, attributes)
	}
	client := &interfering{API: awsdynamodb.New(awsdynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(server.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
	})}
	return &Items{Client: client, Table: "locks", Path: "b/k"}, client, server
}

var (
	mine   = statebackend.LockInfo{ID: "mine", Who: "me@here"}
	theirs = statebackend.LockInfo{ID: "theirs", Who: "they@there"}
)

func lockItem(info statebackend.LockInfo) map[string]string {
	return map[string]string{"LockID": "b/k", "Info": string(info.Marshal())}
}

func digestItem(digest string) map[string]string {
	return map[string]string{"LockID": "b/k-md5", "Digest": digest}
}

func TestLock(t *testing.T) {
	for _, test := range []struct {
		name   string
		there  map[string]string
		others func(d *statebackendtest.DynamoDB) []func()
		holder string // of a *LockedError; "": success
	}{
		{"free", nil, nil, ""},
		{"held", lockItem(theirs), nil, "theirs"},
		{"our own echo", lockItem(mine), nil, ""},
		{"released before we look", lockItem(theirs), func(d *statebackendtest.DynamoDB) []func() {
			return []func(){func() { d.SetItem("b/k", nil) }}
		}, ""},
		{"released before we look, and taken again", lockItem(theirs), func(d *statebackendtest.DynamoDB) []func() {
			return []func(){func() { d.SetItem("b/k", nil) }, func() { d.SetItem("b/k", lockItem(theirs)) }}
		}, "theirs"},
	} {
		items, client, server := start(t, map[string]map[string]string{"b/k": test.there})
		if test.others != nil {
			client.others = test.others(server)
		}
		err := items.Lock(t.Context(), mine)
		var locked *statebackend.LockedError
		switch {
		case test.holder == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.holder == "":
			if diff := cmp.Diff(lockItem(mine), server.Item("b/k")); diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
		case !errors.As(err, &locked) || locked.Info.ID != test.holder:
			t.Errorf("%s: %v, want the lock of %s", test.name, err, test.holder)
		}
	}
}

func TestUnlock(t *testing.T) {
	for _, test := range []struct {
		name   string
		there  map[string]string
		before map[string]string // what others put there before we delete, if set
		left   map[string]string
		check  func(err error) bool
	}{
		{"ours", lockItem(mine), nil, nil, func(err error) bool { return err == nil }},
		{"nobody's", nil, nil, nil, isNotLocked},
		{"theirs", lockItem(theirs), nil, lockItem(theirs), isTheirs},
		{"passed on before we delete", lockItem(mine), lockItem(theirs), lockItem(theirs), isTheirs},
	} {
		items, client, server := start(t, map[string]map[string]string{"b/k": test.there})
		if test.before != nil {
			client.others = []func(){func() { server.SetItem("b/k", test.before) }}
		}
		if err := items.Unlock(t.Context(), mine.ID); !test.check(err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.left, server.Item("b/k")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func isNotLocked(err error) bool { return errors.Is(err, statebackend.ErrNotLocked) }

func isTheirs(err error) bool {
	var mismatch *statebackend.LockMismatchError
	return errors.As(err, &mismatch) && mismatch.Held[0].Info.ID == theirs.ID
}

func TestSetDigest(t *testing.T) {
	const one, two, three = "11111111111111111111111111111111", "22222222222222222222222222222222", "33333333333333333333333333333333"
	for _, test := range []struct {
		name  string
		there map[string]string
		was   string
		want  error
		left  string
	}{
		{"the first", nil, "", nil, two},
		{"the next", digestItem(one), one, nil, two},
		{"an item without a digest", map[string]string{"LockID": "b/k-md5"}, "", nil, two},
		{"there already", digestItem(two), one, nil, two},
		{"moved", digestItem(three), one, ErrDigestMoved, three},
		{"gone", nil, one, ErrDigestMoved, ""},
		{"another's first", digestItem(three), "", ErrDigestMoved, three},
	} {
		items, _, server := start(t, map[string]map[string]string{"b/k-md5": test.there})
		if err := items.SetDigest(t.Context(), two, test.was); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if got := server.Item("b/k-md5")["Digest"]; got != test.left {
			t.Errorf("%s: left %q, want %q", test.name, got, test.left)
		}
	}
}

func TestAnnounce(t *testing.T) {
	const digest = "11111111111111111111111111111111"
	items, _, server := start(t, map[string]map[string]string{"b/k": lockItem(mine)})
	if err := items.Announce(t.Context(), mine, digest); err != nil {
		t.Fatal(err)
	}
	want := lockItem(mine)
	want["LockstepDigest"] = digest
	if diff := cmp.Diff(want, server.Item("b/k")); diff != "" {
		t.Error(diff)
	}
	if got, err := items.Announced(t.Context()); got != digest || err != nil {
		t.Errorf("Announced = %q, %v", got, err)
	}
	for _, now := range []map[string]string{lockItem(theirs), nil} {
		server.SetItem("b/k", now)
		var lost *statebackend.LockLostError
		if err := items.Announce(t.Context(), mine, digest); !errors.As(err, &lost) || lost.ID != mine.ID {
			t.Errorf("Announce: %v, want a lost lock", err)
		}
		if diff := cmp.Diff(now, server.Item("b/k")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestIsDigest(t *testing.T) {
	for text, want := range map[string]bool{
		"831e8c059d3cab92258db45450409e4b": true, "831E8C059D3CAB92258DB45450409E4B": true,
		"": false, "831e8c": false, strings.Repeat("z", 32): false, strings.Repeat("a", 40): false,
	} {
		if got := IsDigest(text); got != want {
			t.Errorf("IsDigest(%q) = %v", text, got)
		}
	}
}
