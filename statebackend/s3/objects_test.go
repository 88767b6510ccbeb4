package s3

import (
	"crypto/md5"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// TestHeadersOfWrites holds that every object is written as the block says: the state, its lock, and
// the journal.
func TestHeadersOfWrites(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 32)
	keyMD5 := md5.Sum([]byte(key))
	key64 := base64.StdEncoding.EncodeToString([]byte(key))
	const checksum = "X-Amz-Checksum-Sha256"
	for _, test := range []struct {
		name       string
		attributes map[string]any
		want       map[string]string // "": must not be there
	}{
		{"plain", nil, map[string]string{
			"Content-Type": "application/json", "If-None-Match": "*", "If-Match": "",
			"X-Amz-Server-Side-Encryption": "", "X-Amz-Acl": "",
			checksum: "3dVyHEmS5EpZV7kLnjS8xTyU1GYvWUyRCuU1tf/95L0=",
		}},
		{"skip_s3_checksum", map[string]any{"skip_s3_checksum": true}, map[string]string{checksum: "", "X-Amz-Checksum-Crc32": ""}},
		{"acl", map[string]any{"acl": "bucket-owner-full-control"}, map[string]string{"X-Amz-Acl": "bucket-owner-full-control"}},
		{"encrypt", map[string]any{"encrypt": true}, map[string]string{"X-Amz-Server-Side-Encryption": "AES256"}},
		{"kms_key_id", map[string]any{"encrypt": true, "kms_key_id": "alias/state"}, map[string]string{
			"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/state"}},
		{"kms_key_id without encrypt", map[string]any{"kms_key_id": "alias/state"}, map[string]string{"X-Amz-Server-Side-Encryption": ""}},
		{"sse_customer_key", map[string]any{"encrypt": true, "sse_customer_key": key64}, map[string]string{
			"X-Amz-Server-Side-Encryption-Customer-Algorithm": "AES256",
			"X-Amz-Server-Side-Encryption-Customer-Key":       key64,
			"X-Amz-Server-Side-Encryption-Customer-Key-Md5":   base64.StdEncoding.EncodeToString(keyMD5[:])}},
		{"sse_customer_key without encrypt", map[string]any{"sse_customer_key": key64}, map[string]string{
			"X-Amz-Server-Side-Encryption-Customer-Key": ""}},
		{"no tags", nil, map[string]string{"X-Amz-Tagging": ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), test.attributes)
			w := p.open(t)
			p.lock(t, w)
			put(t, w, state1, "")
			l := w.Journal().(*journalObjects)
			for n := uint64(1); n <= 2; n++ {
				if err := l.Append(t.Context(), n, []byte("records"), true); err != nil {
					t.Fatal(err)
				}
			}
			for _, object := range []string{p.path, p.path + ".tflock", "states/" + l.key(1), "states/" + l.prefix + conditionsName} {
				_, header := p.s3.Object(object)
				for name, want := range test.want {
					if name == checksum && want != "" && object != p.path {
						continue // another content
					}
					if got := header.Get(name); got != want {
						t.Errorf("%s: %s: %q, want %q", object, name, got, want)
					}
				}
			}
			p.wantState(t, state1)
		})
	}
}

// TestTags: locks have tags of their own, and all other objects those of the state.
func TestTags(t *testing.T) {
	t.Parallel()
	p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB), map[string]any{
		"state_tags": map[string]any{"team": "net & more", "cost": "1"}, "lock_tags": map[string]any{"kind": "lock"},
	})
	w := p.open(t)
	p.lock(t, w)
	put(t, w, state1, "")
	for object, want := range map[string]string{p.path: "cost=1&team=net+%26+more", p.path + ".tflock": "kind=lock"} {
		if _, header := p.s3.Object(object); header.Get("X-Amz-Tagging") != want {
			t.Errorf("%s: %q, want %q", object, header.Get("X-Amz-Tagging"), want)
		}
	}
	many := map[string]any{}
	for i := range 11 {
		many[strconv.Itoa(i)] = "x"
	}
	for says, tags := range map[string]map[string]any{
		"10 tags at most": many, "1 to 128 characters": {"": "x"}, "256 characters at most": {"a": strings.Repeat("ü", 257)}, `begins with "aws:"`: {"AWS:x": "y"},
	} {
		if _, err := Decode(map[string]any{"bucket": "b", "key": "k", "region": "eu-central-1", "lock_tags": tags}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", tags, err, says)
		}
	}
}

// S3 answers 409 while another conditional write is under way.
func TestConflictIsRetried(t *testing.T) {
	t.Parallel()
	faults := &statebackendtest.Faults{Decide: func(n int, write string) statebackendtest.Fault {
		if strings.HasPrefix(write, "PUT") && n < 3 {
			return statebackendtest.Conflict
		}
		return statebackendtest.None
	}}
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB))
	put(t, p.open(t), state1, "")
	if n := len(faults.Writes()); n != 4 {
		t.Errorf("%d writes, want 4", n)
	}
	p.wantState(t, state1)
}

func TestConflictForever(t *testing.T) {
	t.Parallel()
	faults := &statebackendtest.Faults{Decide: func(int, string) statebackendtest.Fault { return statebackendtest.Conflict }}
	p := newPlace(t, &statebackendtest.S3{Faults: faults}, new(statebackendtest.DynamoDB))
	_, err := p.open(t).Put(t.Context(), []byte(state1), "")
	var conflict *statebackend.ConflictError
	if err == nil || errors.As(err, &conflict) {
		t.Errorf("Put: %v; want an error that is no verdict", err)
	}
}

func TestWorkspacesOfManyPages(t *testing.T) {
	t.Parallel()
	s3 := &statebackendtest.S3{PageSize: 2}
	p := newPlace(t, s3, new(statebackendtest.DynamoDB), map[string]any{"workspace_key_prefix": nil, "key": "app/terraform.tfstate"})
	for _, key := range []string{
		"app/terraform.tfstate",
		"env:/b/app/terraform.tfstate",
		"env:/b/app/terraform.tfstate.tflock",
		"env:/a/app/terraform.tfstate",
		"env:/c/other/terraform.tfstate",
		"env:/default/app/terraform.tfstate",
		"env:/x/y/app/terraform.tfstate",
		"env:/app/terraform.tfstate",
		"environments/z/app/terraform.tfstate",
	} {
		s3.SetObject("states/"+key, []byte(state1))
	}
	got, err := p.backend.Workspaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"default", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("Workspaces = %q, want %q", got, want)
	}
}

func TestKeysOfWorkspaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix any
		want   string
	}{
		{nil, "env:/staging/app/terraform.tfstate"},
		{"teams/x", "teams/x/staging/app/terraform.tfstate"},
		{"", "staging/app/terraform.tfstate"},
	} {
		p := newPlace(t, new(statebackendtest.S3), new(statebackendtest.DynamoDB),
			map[string]any{"workspace_key_prefix": test.prefix, "key": "app/terraform.tfstate", "dynamodb_table": nil})
		w, err := p.backend.Open("staging")
		if err != nil {
			t.Fatal(err)
		}
		put(t, w, state1, "")
		if diff := cmp.Diff([]string{"states/" + test.want}, p.s3.Keys()); diff != "" {
			t.Errorf("prefix %v: %s", test.prefix, diff)
		}
		names, err := p.backend.Workspaces(t.Context())
		if err != nil || !slices.Equal(names, []string{"default", "staging"}) {
			t.Errorf("prefix %v: Workspaces = %q, %v", test.prefix, names, err)
		}
	}
}

func TestListingWithoutRights(t *testing.T) {
	t.Parallel()
	p := newPlace(t, &statebackendtest.S3{Deny: func(method, _ string) bool { return method == "LIST" }}, new(statebackendtest.DynamoDB))
	got, err := p.backend.Workspaces(t.Context())
	if err != nil || !slices.Equal(got, []string{"default"}) {
		t.Errorf("Workspaces = %q, %v; want default alone", got, err)
	}
}

func TestErrorsOfTheBucket(t *testing.T) {
	t.Parallel()
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		w.WriteHeader(http.StatusMovedPermanently)
	}))
	defer moved.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"serial":`))
	}))
	defer broken.Close()
	s, _, _ := fakeServers(t)
	for _, test := range []struct {
		name       string
		attributes map[string]any
		want       string
	}{
		{"missing bucket", s.attributes(map[string]any{"bucket": "missing"}), `S3 bucket "missing" does not exist`},
		{"missing table", s.attributes(map[string]any{"dynamodb_table": "missing"}), "there is no such table"},
		{"another region", servers{moved.URL, moved.URL}.attributes(), "the bucket is in the region eu-central-1"},
		{"an answer that breaks off", servers{broken.URL, broken.URL}.attributes(map[string]any{"max_retries": 0}), "the answer broke off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := open(t, test.attributes, Options{}).Open("default")
			if err != nil {
				t.Fatal(err)
			}
			_, getErr := w.Get(t.Context())
			_, lockErr := w.Lock(t.Context(), statebackend.NewLockInfo("x", "1"))
			if err := errors.Join(getErr, lockErr); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
			if err := errors.Join(getErr, lockErr); strings.Contains(err.Error(), statebackendtest.SecretKey) {
				t.Errorf("the secret key is in the error: %v", err)
			}
		})
	}
}

// TestRefusedWithoutAChange holds that a server which refuses to replace a state that nobody
// has changed is blamed for it, and no other writer: an S3-like server that stumbles over a
// deleted version does this for ever.
func TestRefusedWithoutAChange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, there string }{{"a state", state1}, {"none", ""}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPut:
					w.WriteHeader(http.StatusPreconditionFailed)
				case test.there == "":
					w.WriteHeader(http.StatusNotFound)
					w.Write([]byte("<Error><Code>NoSuchKey</Code></Error>"))
				default:
					w.Header().Set("ETag", `"tag"`)
					w.Write([]byte(test.there))
				}
			}))
			defer server.Close()
			w, err := open(t, servers{server.URL, server.URL}.attributes(), Options{}).Open("default")
			if err != nil {
				t.Fatal(err)
			}
			snap, err := w.Get(t.Context())
			if err != nil || string(snap.Bytes) != test.there {
				t.Fatalf("Get: %q, %v", snap.Bytes, err)
			}
			var conflict *statebackend.ConflictError
			_, err = w.Put(t.Context(), []byte(state2), snap.Version)
			if err == nil || errors.As(err, &conflict) || !strings.Contains(err.Error(), "the server refuses to replace a state that has not changed since it was read") {
				t.Errorf("Put: %v", err)
			}
			if _, err := w.Put(t.Context(), []byte(state2), "another"); !errors.As(err, &conflict) {
				t.Errorf("Put over another version: %v; want a conflict", err)
			}
		})
	}
}
