package ledger_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// shapes are the types of records by their collections. Those that are not here are no more than a word, or have a type of
// their package's own.
var shapes = map[string]any{
	"run": runs.Run{}, "sha": runs.CheckRecord{}, "tests": runs.TestRecord{}, "state": runs.LastApply{}, "open": runs.Open{}, "reader": runs.Open{}, "left": ledger.UnappliedMerge{},
	"queue": []runs.Turn{}, "lock": runs.Reservation{}, "pull": ledger.Look{}, "ask": ledger.Answer{}, "effect": ledger.ApplyRecord{},
	"lease": ledger.Lease{}, "stray": ledger.Undeliverable{}, "stop": ledger.Stop{}, "build": ledger.Builds{}, "group": ledger.Group{}, "watch": pipeline.Watch{}, "late": pipeline.Watch{},
	"pushed": []github.Push{}, "pace": ratelimits.Pace{}, "pace of updates": ratelimits.Updates{}, "planning": ledger.PlanProgress{}, "drift": ledger.Drift{}, "drift rounds": ledger.DriftRound{}, "figures": []ledger.Delivery{}, "trigger": ledger.RunTrigger{}, "issue": ledger.Issue{}, "shadow": shadow.Record{}, "shadowed": pipeline.Pull{}, "took": estimates.Durations{}, "asked": decisionlog.Asked{}, "place": places.Claim{}, "seen": []project.FilesRead{}, "message of a queue": pipeline.Message{},
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
