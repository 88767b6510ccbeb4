package dynamodb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
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

// TestLockRequests holds that whoever finds the lock taken asks no more, and that one that is always
// released between the two requests is given up after the third time.
func TestLockRequests(t *testing.T) {
	items, client, _ := start(t, map[string]map[string]string{"b/k": lockItem(theirs)})
	if err := items.Lock(t.Context(), mine); err == nil || client.asked != 2 {
		t.Errorf("held: %d requests (%v)", client.asked, err)
	}
	items, client, server := start(t, map[string]map[string]string{"b/k": lockItem(theirs)})
	release, take := func() { server.SetItem("b/k", nil) }, func() { server.SetItem("b/k", lockItem(theirs)) }
	client.others = []func(){release, take, release, take, release, take}
	var locked *statebackend.LockedError
	if err := items.Lock(t.Context(), mine); !errors.As(err, &locked) || client.asked != 6 {
		t.Errorf("released each time: %d requests (%v)", client.asked, err)
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
	if got, err := items.Announced(t.Context()); !slices.Equal(got, []string{digest}) || err != nil {
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

func TestHolder(t *testing.T) {
	for _, test := range []struct {
		name  string
		there map[string]string
		want  *statebackend.HeldLock
	}{
		{"free", nil, nil},
		{"held", lockItem(theirs), &statebackend.HeldLock{Kind: statebackend.TableLock, Info: theirs}},
		{"written by hand", map[string]string{"LockID": "b/k", "Info": "me"}, &statebackend.HeldLock{Kind: statebackend.TableLock}},
	} {
		items, _, _ := start(t, map[string]map[string]string{"b/k": test.there})
		got, err := items.Holder(t.Context())
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestDeleteDigest(t *testing.T) {
	const one, two = "11111111111111111111111111111111", "22222222222222222222222222222222"
	for _, test := range []struct {
		name  string
		there map[string]string
		want  error
		left  string
	}{
		{"there", digestItem(one), nil, ""},
		{"gone already", nil, nil, ""},
		{"moved", digestItem(two), ErrDigestMoved, two},
	} {
		items, _, server := start(t, map[string]map[string]string{"b/k-md5": test.there})
		if err := items.DeleteDigest(t.Context(), one); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if got := server.Item("b/k-md5")["Digest"]; got != test.left {
			t.Errorf("%s: left %q, want %q", test.name, got, test.left)
		}
	}
}

// TestErrors holds that each method returns the error of its requests, with the request in it,
// and an ErrDenied for a missing permission only.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, fails string // the operation of the request that fails
		do          func(i *Items) error
		want        string
	}{
		{"Holder", "GetItem", func(i *Items) error { _, err := i.Holder(t.Context()); return err }, "read item b/k of DynamoDB table locks"},
		{"Digest", "GetItem", func(i *Items) error { _, err := i.Digest(t.Context()); return err }, "read item b/k-md5 of DynamoDB table locks"},
		{"Announced", "GetItem", func(i *Items) error { _, err := i.Announced(t.Context()); return err }, "read item b/k of"},
		{"Lock", "PutItem", func(i *Items) error { return i.Lock(t.Context(), theirs) }, "write item b/k of"},
		{"Unlock, its read", "GetItem", func(i *Items) error { return i.Unlock(t.Context(), mine.ID) }, "read item b/k of"},
		{"Unlock", "DeleteItem", func(i *Items) error { return i.Unlock(t.Context(), mine.ID) }, "delete item b/k of"},
		{"Announce", "PutItem", func(i *Items) error { return i.Announce(t.Context(), mine, "x") }, "write item b/k of"},
		{"SetDigest", "PutItem", func(i *Items) error { return i.SetDigest(t.Context(), "x", "y") }, "write item b/k-md5 of"},
		{"DeleteDigest", "DeleteItem", func(i *Items) error { return i.DeleteDigest(t.Context(), "y") }, "delete item b/k-md5 of"},
	} {
		for _, denied := range []bool{true, false} {
			items, client, server := start(t, map[string]map[string]string{"b/k": lockItem(mine), "b/k-md5": digestItem("y")})
			if denied {
				server.Deny = func(operation, _ string) bool { return operation == test.fails }
			} else {
				client.API = failing{client.API, test.fails}
			}
			err := test.do(items)
			if err == nil || errors.Is(err, statebackend.ErrDenied) != denied || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, denied %v: %v", test.name, denied, err)
			}
		}
	}
	items, _, _ := start(t, nil)
	items.Table = "missing"
	if _, err := items.Holder(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no such table") {
		t.Errorf("a missing table: %v", err)
	}
}

// failing is a client whose requests of one operation are refused by the service.
type failing struct {
	API
	operation string
}

func (f failing) error(operation string) error {
	if operation != f.operation {
		return nil
	}
	return &smithy.GenericAPIError{Code: "ValidationException", Message: "no"}
}

func (f failing) GetItem(ctx context.Context, in *awsdynamodb.GetItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.GetItemOutput, error) {
	if err := f.error("GetItem"); err != nil {
		return nil, err
	}
	return f.API.GetItem(ctx, in, o...)
}

func (f failing) PutItem(ctx context.Context, in *awsdynamodb.PutItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.PutItemOutput, error) {
	if err := f.error("PutItem"); err != nil {
		return nil, err
	}
	return f.API.PutItem(ctx, in, o...)
}

func (f failing) DeleteItem(ctx context.Context, in *awsdynamodb.DeleteItemInput, o ...func(*awsdynamodb.Options)) (*awsdynamodb.DeleteItemOutput, error) {
	if err := f.error("DeleteItem"); err != nil {
		return nil, err
	}
	return f.API.DeleteItem(ctx, in, o...)
}
