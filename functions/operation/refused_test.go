package operation

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A tableError is how DynamoDB refuses a request.
type tableError struct {
	status int
	code   string
}

var (
	conditionFailed = tableError{http.StatusBadRequest, "ConditionalCheckFailedException"}
	throttled       = tableError{http.StatusBadRequest, "ProvisionedThroughputExceededException"}
	conflicting     = tableError{http.StatusConflict, "TransactionConflictException"}
	broken          = tableError{http.StatusInternalServerError, "InternalServerError"}
	unavailable     = tableError{http.StatusServiceUnavailable, "ServiceUnavailable"}
)

func (e tableError) answer(w http.ResponseWriter) {
	body, err := json.Marshal(map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + e.code, "message": "refused by the test"})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(e.status)
	w.Write(body)
}

// TestRefusedItems has DynamoDB refuse all requests of one kind, for the lock, its lease, and the digest
// of the state: a person reads what to do, nothing is overwritten, and the next apply ends with the
// whole state.
func TestRefusedItems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		operation, key string // the end of the item's
		want           string
		written        bool // the state was written all the same
	}{
		{"GetItem", "terraform.tfstate-md5", "the digest of the state could not be written, which the next holder of the lock does", true},
		{"PutItem", "terraform.tfstate", "Error acquiring the state lock", false},
		{"PutItem", "terraform.tfstate-md5", "the digest of the state could not be written, which the next holder of the lock does", true},
		{"DeleteItem", "terraform.tfstate", "Error releasing the state lock", true},
	} {
		for _, e := range []tableError{conditionFailed, throttled, conflicting, broken, unavailable} {
			if e == conditionFailed && test.operation == "GetItem" {
				continue // it has no condition
			}
			t.Run(fmt.Sprintf("%s for %s of %s", e.code, test.operation, test.key), func(t *testing.T) {
				t.Parallel()
				fake, table := new(statebackendtest.S3).Start(t), new(statebackendtest.DynamoDB).Start(t)
				var refusing atomic.Bool
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
					if refusing.Load() && operation == test.operation && bytes.Contains(body, []byte(`"states/`+test.key+`"`)) {
						e.answer(w)
						return
					}
					table.ServeHTTP(w, r)
				}))
				defer server.Close()
				block := inBucket(fake.URL)
				delete(block, "use_lockfile")
				block["dynamodb_table"] = table.Table
				block["endpoints"] = map[string]any{"s3": fake.URL, "dynamodb": server.URL}
				backend, err := s3.Open(t.Context(), block, s3.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if ds := create(t, backend, 2, false); ds.HasErrors() {
					t.Fatal(ds)
				}
				before, _ := fake.Object("states/terraform.tfstate")
				refusing.Store(true)
				lock := &Lock{Operation: "OperationTypeApply", Run: "r"}
				text := texts(createIn(t, backend, 5, false, lock))
				if !strings.Contains(text, test.want) {
					t.Errorf("a person reads %s\nwant %s", text, test.want)
				}
				if now, _ := fake.Object("states/terraform.tfstate"); !test.written && !bytes.Equal(now, before) {
					t.Errorf("the state was overwritten: %s", now)
				}
				refusing.Store(false)
				lock.Continues = true // or later: it is a run of its own then
				if ds := createIn(t, backend, 5, false, lock); ds.HasErrors() {
					t.Fatalf("the next apply: %s", ds)
				}
				data, _ := fake.Object("states/terraform.tfstate")
				if keys := table.Keys(); len(keys) != 1 || table.Item(keys[0])["Digest"] != fmt.Sprintf("%x", md5.Sum(data)) {
					t.Errorf("the table has %v, and not the digest alone", keys)
				}
				if n := strings.Count(string(data), `"input"`); n != 5 {
					t.Errorf("%d objects are in the state in the end, want 5", n)
				}
			})
		}
	}
}
