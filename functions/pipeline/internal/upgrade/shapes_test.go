package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/pacing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/questions"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// shapes are the types of records by their collections. Those that are not here are no more than a word, or have a type of
// their package's own.
var shapes = map[string]any{
	"run": runs.Run{}, "sha": runs.CheckRecord{}, "state": runs.LastApply{}, "open": runs.Open{}, "reader": runs.Open{}, "left": ledger.Left{},
	"queue": []runs.Turn{}, "lock": runs.Reservation{}, "pull": ledger.Look{}, "ask": ledger.Answer{}, "effect": ledger.ApplyRecord{},
	"lease": ledger.Lease{}, "stray": ledger.Stray{}, "stop": ledger.Stop{}, "build": ledger.Builds{}, "group": ledger.Group{}, "watch": pipeline.Watch{}, "late": pipeline.Watch{},
	"pushed": []github.Push{}, "pace": pacing.Pace{}, "asked": questions.Asked{}, "place": places.Claim{}, "seen": []project.Seen{}, "message of a queue": pipeline.Message{},
}

const shapesFile = "testdata/shapes.txt"

// TestShapes holds that this version reads each field that one before it may have written into a record or a message.
func TestShapes(t *testing.T) {
	data, err := os.ReadFile(shapesFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var was, now []string
	if len(data) > 0 {
		was = strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	for name, v := range shapes {
		now = append(now, fields(name, reflect.TypeOf(v), nil)...)
	}
	for _, line := range was {
		if !slices.Contains(now, line) {
			t.Errorf("%s: records of earlier versions have this field, and this version does not read it. Give the field of Go its former name in JSON "+
				"(`json:\"Ask\"` is one), or read both; if no decision needs it any more, take the line out of %s by hand", line, shapesFile)
		}
	}
	all := slices.Concat(was, now)
	slices.Sort(all)
	golden.File(t, shapesFile, strings.Join(slices.Compact(all), "\n")+"\n")
}

// fields are the fields of a type as JSON has them, in a line each.
func fields(path string, t reflect.Type, within []reflect.Type) (out []string) {
	if slices.Contains(within, t) {
		return nil
	}
	own := t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case t == reflect.TypeFor[time.Time](), own:
		return []string{path + " " + t.String()}
	case t.Kind() == reflect.Pointer:
		return fields(path, t.Elem(), within)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return fields(path+"[]", t.Elem(), within)
	case t.Kind() == reflect.Map:
		return fields(path+"{}", t.Elem(), within)
	case t.Kind() != reflect.Struct:
		return []string{path + " " + t.Kind().String()}
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case f.Anonymous && name == "":
			out = append(out, fields(path, f.Type, append(within, t))...)
		case name == "":
			out = append(out, fields(path+"."+f.Name, f.Type, append(within, t))...)
		default:
			out = append(out, fields(path+"."+name, f.Type, append(within, t))...)
		}
	}
	return out
}

// TestRecordedFields holds that this version knows each field of the records and messages that earlier ones have written down.
func TestRecordedFields(t *testing.T) {
	names, err := filepath.Glob("testdata/2*/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			for line := range strings.Lines(string(f.Data)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch {
				case line == "\n":
				case f.Name == "messages":
					var w waiting
					if err := json.Unmarshal([]byte(line), &w); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					known(t, name, "message of a queue", w.Body)
				case f.Name == "records":
					collection, _, _ := strings.Cut(key, "/")
					if collection == "group" && strings.Count(key, "/") > 3 {
						continue // a plan of it
					}
					known(t, name, collection, []byte(value))
				}
			}
		}
	}
}

// forgotten are fields that no decision needs any more, with the reason.
var forgotten = map[string]string{
	"pull.Waiting": "the setting is that of the base branch at each event",
	"pull.Files":   "a merge is compared with its base by content: see Compared",
	"sha.Locked":   "a part of Around, which is written anew with the check run",
}

// known holds that a value has no field that its type does not have.
func known(t *testing.T, file, collection string, value []byte) {
	t.Helper()
	shape, ok := shapes[collection]
	if !ok {
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		for name := range object {
			if forgotten[collection+"."+name] != "" {
				delete(object, name)
			}
		}
		value = pipeline.Encode(object)
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(reflect.New(reflect.TypeOf(shape)).Interface()); err != nil {
		t.Errorf("%s has a record of %s that this version does not read as a whole: %v. Read the field, or say in the table forgotten why nobody needs it.\n%.300s",
			file, collection, err, value)
	}
}
