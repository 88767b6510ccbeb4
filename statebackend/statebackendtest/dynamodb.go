package statebackendtest

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// DynamoDB is a server in memory with the parts of DynamoDB that the s3 backend uses. It has one table with
// the hash key LockID, whose items have string attributes. Items are read, put and deleted. The conditions
// are attribute_not_exists(NAME) and NAME = :VALUE. Set the fields before the first request.
type DynamoDB struct {
	Faults *Faults                          // of "PutItem key" and "DeleteItem key"
	Deny   func(operation, key string) bool // reports whether to answer "access denied"
	Table  string                           // empty: "locks"

	URL string

	mu    sync.Mutex
	items map[string]map[string]string // by LockID
}

// Start starts the server. The server stops at the end of the test.
func (d *DynamoDB) Start(t *testing.T) *DynamoDB {
	if d.Table == "" {
		d.Table = "locks"
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	d.URL = server.URL
	d.items = make(map[string]map[string]string)
	return d
}

// Item returns the attributes of an item by its LockID; nil if there is none.
func (d *DynamoDB) Item(key string) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.items[key])
}

// SetItem puts an item without a request; nil attributes delete the item.
func (d *DynamoDB) SetItem(key string, attributes map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if attributes == nil {
		delete(d.items, key)
		return
	}
	d.items[key] = maps.Clone(attributes)
}

// Keys returns all LockIDs, sorted.
func (d *DynamoDB) Keys() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.items))
}

// stringValue is an attribute value of the type S.
type stringValue struct {
	S string `json:"S"`
}

type dynamoRequest struct {
	TableName                 string
	Key                       map[string]stringValue
	Item                      map[string]stringValue
	ConditionExpression       string
	ExpressionAttributeValues map[string]stringValue
}

// ServeHTTP answers one request at a time, so that conditions are exact.
func (d *DynamoDB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var q dynamoRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		dynamoError(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	key := q.Key["LockID"].S
	if operation == "PutItem" {
		key = q.Item["LockID"].S
	}
	switch {
	case q.TableName != d.Table:
		dynamoError(w, http.StatusBadRequest, "ResourceNotFoundException", "Requested resource not found")
	case d.Deny != nil && d.Deny(operation, key):
		dynamoError(w, http.StatusBadRequest, "AccessDeniedException", "not authorized to perform dynamodb:"+operation)
	case operation == "GetItem":
		d.get(w, key)
	case operation == "PutItem":
		d.write(w, q, operation, key, func() {
			item := make(map[string]string)
			for name, v := range q.Item {
				item[name] = v.S
			}
			d.items[key] = item
		})
	case operation == "DeleteItem":
		d.write(w, q, operation, key, func() { delete(d.items, key) })
	default:
		dynamoError(w, http.StatusBadRequest, "UnknownOperationException", operation)
	}
}

func (d *DynamoDB) get(w http.ResponseWriter, key string) {
	item, ok := d.items[key]
	if !ok {
		dynamoAnswer(w, http.StatusOK, struct{}{})
		return
	}
	var answer struct{ Item map[string]stringValue }
	answer.Item = make(map[string]stringValue)
	for name, value := range item {
		answer.Item[name] = stringValue{value}
	}
	dynamoAnswer(w, http.StatusOK, answer)
}

// write answers the request of one write. It calls do, which makes the write, if the condition of the request
// is true. The fault that a test injects into this write may prevent the call.
func (d *DynamoDB) write(w http.ResponseWriter, q dynamoRequest, operation, key string, do func()) {
	fault := d.Faults.Next(operation + " " + key)
	if fault == Failed || fault == Conflict {
		dynamoError(w, http.StatusInternalServerError, "InternalServerError", "injected fault")
		return
	}
	holds, err := d.holds(q, d.items[key])
	if holds {
		do()
	}
	switch {
	case fault == Persisted:
		dynamoError(w, http.StatusInternalServerError, "InternalServerError", "injected fault")
	case err != nil:
		dynamoError(w, http.StatusBadRequest, "ValidationException", err.Error())
	case !holds:
		dynamoError(w, http.StatusBadRequest, "ConditionalCheckFailedException", "The conditional request failed")
	default:
		dynamoAnswer(w, http.StatusOK, struct{}{})
	}
}

// holds reports whether the condition of a request is true for the item.
func (d *DynamoDB) holds(q dynamoRequest, item map[string]string) (bool, error) {
	c := q.ConditionExpression
	if c == "" {
		return true, nil
	}
	if name, ok := strings.CutPrefix(c, "attribute_not_exists("); ok {
		_, exists := item[strings.TrimSuffix(name, ")")]
		return !exists, nil
	}
	if name, value, ok := strings.Cut(c, " = "); ok {
		want, given := q.ExpressionAttributeValues[value]
		got, exists := item[name]
		if given {
			return exists && got == want.S, nil
		}
	}
	return false, fmt.Errorf("the fake does not know the condition %q", c)
}

func dynamoError(w http.ResponseWriter, status int, code, message string) {
	dynamoAnswer(w, status, map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + code, "message": message})
}

// dynamoAnswer sends the answer with the checksum that the SDK compares.
func dynamoAnswer(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	w.WriteHeader(status)
	w.Write(body)
}
