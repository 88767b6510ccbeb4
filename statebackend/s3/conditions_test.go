package s3

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// unfitServers are servers that do not keep conditions on writes, with the words for it.
var unfitServers = []struct {
	name       string
	conditions statebackendtest.Conditions
	says       string
}{
	{"ignores both", statebackendtest.Conditions{IgnoreNone: true, IgnoreMatch: true}, "ignores If-None-Match"},
	{"ignores If-None-Match", statebackendtest.Conditions{IgnoreNone: true}, "ignores If-None-Match"},
	{"ignores If-Match", statebackendtest.Conditions{IgnoreMatch: true}, "ignores If-Match"},
	{"501", statebackendtest.Conditions{Refuse: 501}, "refuses If-None-Match"},
	{"400", statebackendtest.Conditions{Refuse: 400}, "refuses If-None-Match"},
}

// leased takes a lock as a run does.
func (p place) leased(t *testing.T, w *workspace) (*statebackend.Lease, error) {
	t.Helper()
	return w.LockLeased(t.Context(), statebackend.NewLockInfo("OperationTypeApply", "1"), statebackend.Term{Run: "run", Until: time.Now().Add(time.Minute)})
}

// again opens the backend as another process does.
func (p place) again(t *testing.T, more map[string]any) *workspace {
	t.Helper()
	bucket, key, _ := strings.Cut(p.path, "/")
	b := open(t, servers{p.s3.URL, p.dynamodb.URL}.attributes(map[string]any{"bucket": bucket, "key": key, "max_retries": 0}, more), Options{Note: func(s string) { *p.notes = append(*p.notes, s) }})
	w, err := b.open(statebackend.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestUnfitServers holds that a server without conditions on writes is found out before a lock is taken, by
// each process. Where the lock is in a table it does, as it does for the stock tool, and a refused run leaves
// alone what the holder has.
func TestUnfitServers(t *testing.T) {
	t.Parallel()
	for _, server := range unfitServers {
		for _, c := range configurations {
			for _, denied := range []bool{false, true} {
				if denied && (server.conditions.Refuse != 0 || !server.conditions.IgnoreNone) {
					continue // without rights to the journal, only the lock object shows something
				}
				name := server.name + "/" + c.name
				if denied {
					name += "/no rights to the journal"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s3 := &statebackendtest.S3{Conditions: server.conditions}
					if denied {
						s3.Deny = func(method, key string) bool { return strings.HasPrefix(key, ".lockstep/") }
					}
					attributes := map[string]any{"dynamodb_table": nil}
					for name, value := range c.attributes {
						attributes[name] = value
					}
					p := newPlace(t, s3, new(statebackendtest.DynamoDB), attributes)
					tableAlone := c.name == "dynamodb_table"
					for range 2 {
						w := p.again(t, attributes)
						lease, err := p.leased(t, w)
						if !tableAlone {
							wantUnfit(t, "lock", err, server.says)
							if left := p.s3.Keys(); len(left) > 0 || p.itemLock() != "" {
								t.Errorf("left: %q, %q", left, p.itemLock())
							}
							continue
						}
						if err != nil {
							t.Fatalf("lock: %v", err)
						}
						if n := len(*p.notes); n != 1 || !strings.Contains((*p.notes)[0], server.says) || !strings.Contains((*p.notes)[0], "table locks alone") {
							t.Errorf("notes %q", *p.notes)
						}
						*p.notes = nil
						var locked *statebackend.LockedError
						if _, err := p.leased(t, p.again(t, attributes)); !errors.As(err, &locked) || locked.Info.ID != lease.Lock {
							t.Errorf("a second lock: %v", err)
						}
						*p.notes = nil
						p.works(t, w, denied)
						if err := w.Unlock(t.Context(), lease.Lock); err != nil {
							t.Error(err)
						}
						if p.objectLock() != "" || p.itemLock() != "" {
							t.Error("a lock is left")
						}
					}
				})
			}
		}
	}
}

// works does what an apply does, and what a late one tries.
func (p place) works(t *testing.T, w *workspace, noJournal bool) {
	t.Helper()
	snap, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := string(snap.Bytes) + " "
	put(t, w, next, snap.Version)
	if _, err := w.Put(t.Context(), []byte("late"), snap.Version); !errors.As(err, new(*statebackend.ConflictError)) {
		t.Errorf("a late write: %v", err)
	}
	p.wantState(t, next)
	if noJournal {
		return
	}
	log := w.Journal()
	segments, err := log.Segments(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(1)
	if len(segments) > 0 {
		n = segments[len(segments)-1].Number + 1
	}
	if err := log.Append(t.Context(), n, []byte("one"), true); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(t.Context(), n, []byte("two"), true); !errors.As(err, new(*statebackend.TakenError)) {
		t.Errorf("another segment with the number: %v", err)
	}
}

// TestUnfitServersLeaveLocksAlone holds that a refused run writes over no lock of another tool, nor deletes it.
func TestUnfitServersLeaveLocksAlone(t *testing.T) {
	t.Parallel()
	for _, server := range unfitServers {
		for _, c := range configurations {
			for _, denied := range []bool{false, true} {
				s3 := &statebackendtest.S3{Conditions: server.conditions}
				if denied {
					s3.Deny = func(method, key string) bool { return strings.HasPrefix(key, ".lockstep/") }
				}
				p := newPlace(t, s3, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil}, c.attributes)
				other := statebackend.NewLockInfo("OperationTypeApply", "1.11.4").Marshal()
				p.s3.SetObject(p.path+".tflock", other)
				if lease, err := p.leased(t, p.open(t)); err == nil {
					t.Errorf("%s/%s: locked: %v", server.name, c.name, lease)
				}
				if p.objectLock() != string(other) {
					t.Errorf("%s/%s: the other's lock is %q", server.name, c.name, p.objectLock())
				}
			}
		}
	}
}

// TestUnfitServersWithoutALock holds that a writer without a lock is told, and can go on.
func TestUnfitServersWithoutALock(t *testing.T) {
	t.Parallel()
	for _, server := range unfitServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, &statebackendtest.S3{Conditions: server.conditions}, new(statebackendtest.DynamoDB), map[string]any{"dynamodb_table": nil})
			w := p.open(t)
			wantUnfit(t, "CheckConditions", w.CheckConditions(t.Context()), server.says)
			p.works(t, w, false)
		})
	}
}

// TestConditionsAreProvenOnce holds that a server which keeps conditions is asked once by a process, with one
// request where an earlier one has asked before; and that the object stays, unless the server is unfit.
func TestConditionsAreProvenOnce(t *testing.T) {
	t.Parallel()
	faults := new(statebackendtest.Faults)
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB))
	object := "PUT " + JournalOf(strings.TrimPrefix(p.path, "states/")) + conditionsName
	for _, want := range []int{3, 1} {
		faults.Forget()
		w := p.again(t, map[string]any{"dynamodb_table": "locks"})
		for range 2 {
			if err := w.Unlock(t.Context(), p.lock(t, w)); err != nil {
				t.Fatal(err)
			}
		}
		writes := faults.Writes()
		if n := len(writes) - len(slices.DeleteFunc(writes, func(w string) bool { return w == object })); n != want {
			t.Errorf("%d writes of %s, want %d", n, object, want)
		}
	}
}

// TestAnotherRefusal holds that a server that refuses a write for another reason is not taken for one without
// conditions.
func TestAnotherRefusal(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{"encrypt": true, "kms_key_id": "alias/missing"})
	_, err := p.leased(t, p.open(t))
	if err == nil || errors.As(err, new(*statebackend.UnfitError)) || !strings.Contains(err.Error(), "KMS.NotFoundException") {
		t.Errorf("%v", err)
	}
}

// TestDeletedVersionsInTheWay holds what a server does for which a deleted version of an object is in the way
// of a new one: locks without use_lockfile are as with the stock tool, and states can be made again.
func TestDeletedVersionsInTheWay(t *testing.T) {
	t.Parallel()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		deletedVersions(t, servers{
			(&statebackendtest.S3{Conditions: statebackendtest.Conditions{DeleteMarkers: true}}).Start(t).URL,
			new(statebackendtest.DynamoDB).Start(t).URL})
	})
	t.Run("versitygw", func(t *testing.T) {
		t.Parallel()
		s := servers{statebackendtest.StartVersionedVersitygw(t), statebackendtest.StartDynoxide(t)}
		versioned(t, s.s3)
		deletedVersions(t, s)
	})
}

// versioned has the bucket keep versions.
func versioned(t *testing.T, url string) {
	t.Helper()
	sdk, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, "")))
	if err != nil {
		t.Fatal(err)
	}
	client := awss3.NewFromConfig(sdk, func(o *awss3.Options) { o.BaseEndpoint, o.UsePathStyle = &url, true })
	if _, err := client.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{
		Bucket: aws.String("states"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	}); err != nil {
		t.Fatal(err)
	}
}

func deletedVersions(t *testing.T, s servers) {
	for _, c := range configurations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var notes []string
			attributes := s.attributes(c.attributes)
			process := func() *Backend {
				return open(t, attributes, Options{Note: func(s string) { notes = append(notes, s) }})
			}
			for n := range 3 {
				w, err := process().open(statebackend.DefaultWorkspace)
				if err != nil {
					t.Fatal(err)
				}
				info := statebackend.NewLockInfo("x", "1")
				_, err = w.LockLeased(t.Context(), info, statebackend.Term{Run: "run", Until: time.Now().Add(time.Minute)})
				if n > 0 && c.attributes["use_lockfile"] != nil {
					if err == nil || !strings.Contains(err.Error(), "a deleted version of it is in the way") || !strings.Contains(err.Error(), ".tflock") {
						t.Errorf("lock %d: %v", n, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("lock %d: %v", n, err)
				}
				rewrite(t, w)
				if err := w.Unlock(t.Context(), info.ID); err != nil && !errors.Is(err, statebackend.ErrNotLocked) {
					t.Fatalf("unlock %d: %v", n, err)
				}
			}
			for range 3 {
				b := process()
				w, err := b.Open("w9")
				if err != nil {
					t.Fatal(err)
				}
				v := put(t, w, state1, "")
				if err := b.DeleteWorkspace(t.Context(), "w9", v); err != nil {
					t.Fatal(err)
				}
			}
			if names, err := process().Workspaces(context.WithoutCancel(t.Context())); err != nil || len(names) != 1 {
				t.Errorf("workspaces %q, %v", names, err)
			}
		})
	}
}

// rewrite writes the state once more.
func rewrite(t *testing.T, w *workspace) {
	t.Helper()
	snap, err := w.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, string(snap.Bytes)+" ", snap.Version)
}
