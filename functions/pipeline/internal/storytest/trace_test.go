package storytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
)

// A world is the course of a story: its faults, and the trace of its effects.
//
// A step "fail CALL" undoes the next effect that begins with CALL, "lose CALL" lets it happen and hides that, and
// "dies CALL" undoes it and all later ones until another process handles the message. Effects are "get", "put", "delete"
// and "list" with the key of a record, "store", "load" and "drop" with that of an artifact, "send" with the ID of a
// message, "plan", "apply", "change", "unlock" and "recover" with the project, and the calls of [hub].
type world struct {
	mu     sync.Mutex // plans look for newer ones meanwhile
	faults []fault
	dead   bool
	lines  []string
	names  map[string]string // of what is different each time
	quiet  bool
	probe  func(memory.Effect) memory.Verdict // nil, or decides about calls to which no step does
	was    func(key string) []byte            // the value of a record
}

type fault struct{ kind, call string }

var (
	errAsked = errors.New("the story wants it to fail")
	errDead  = errors.New("the process is dead")
)

// decide traces an effect, and returns what becomes of it.
func (w *world) decide(x memory.Effect) (v memory.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return memory.Verdict{Undone: errDead}
	}
	for i, f := range w.faults {
		if !strings.HasPrefix(x.Call, f.call) {
			continue
		}
		w.faults = slices.Delete(w.faults, i, i+1)
		w.add(f.kind + ": " + x.Call)
		switch f.kind {
		case "dies":
			w.dead = true
			return memory.Verdict{Undone: errDead}
		case "lose":
			return memory.Verdict{Done: errAsked}
		}
		return memory.Verdict{Undone: errAsked}
	}
	if w.probe != nil {
		return w.probe(x) // which needs no trace
	}
	switch word, _, _ := strings.Cut(x.Call, " "); word {
	case "get", "list", "load", "read", "comment", "check", "checkout", "react": // edits have lines of their own
	case "put":
		_, key, _ := strings.Cut(x.Call, " ")
		w.add(x.Call + changes(w.was(key), x.With.([]byte)))
	default:
		w.add(x.Call)
	}
	return v
}

// trace adds a line.
func (w *world) trace(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(line)
}

func (w *world) add(line string) {
	switch {
	case w.probe != nil:
		w.lines = append(w.lines, line)
	case !w.quiet:
		w.lines = append(w.lines, w.plain(strings.ReplaceAll(line, "\n", "; ")))
	default:
		w.plain(line) // names count from the beginning
	}
}

// changes describes the new value of a record by the fields that are not as before.
func changes(was, value []byte) string {
	var a, b map[string]any
	if json.Unmarshal(value, &b) != nil {
		return fmt.Sprintf(" %s", value)
	}
	_ = json.Unmarshal(was, &a) // without a record, or one that is no object, all fields are new
	if _, is := b["Phase"]; is {
		a, b = parts(a), parts(b)
	}
	fields := maps.Clone(a)
	if fields == nil {
		fields = map[string]any{}
	}
	maps.Copy(fields, b)
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		before, after := text(a[name]), text(b[name])
		if before != after {
			out.WriteString(" " + name + "=" + after)
		}
	}
	return out.String()
}

// parts are the fields of a run, each of which tells its part's name. The seal of the plan is left out.
func parts(run map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range run {
		part, is := v.(map[string]any)
		if !is || name == "Pull" {
			out[name] = v
			continue
		}
		for field, v := range part {
			out[name+"."+field] = v
		}
	}
	delete(out, "Plan.Seal") // each plan has one
	return out
}

// text is a value of JSON on one line; zero values are "".
func text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(pruned(v)); err != nil {
		panic(fmt.Sprintf("storytest: encode %v: %v", v, err))
	}
	switch s := strings.TrimSpace(b.String()); s {
	case "null", `""`, "0", "false", "{}":
		return ""
	default:
		return s
	}
}

// pruned leaves the zero fields of objects out, which are many.
func pruned(v any) any {
	o, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, field := range o {
		if text(field) != "" {
			out[name] = pruned(field)
		}
	}
	return out
}

// volatile are texts that are different each time the story is told: hashes, times by our own
// clock, also in seconds, nonces. Dates of GitHub are the story's.
var volatile = regexp.MustCompile(`\b1\d{9}\b|\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{7}\b|\b[A-Z2-7]{26}\b|\d{4}-\d\d-\d\dT[0-9:.]+Z|\b\d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}, \d\d:\d\d|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// plain gives what is volatile names that count.
func (w *world) plain(text string) string {
	return volatile.ReplaceAllStringFunc(text, func(s string) string {
		if len(s) == 10 {
			return "SECONDS"
		}
		if s[4:5] == "-" {
			if strings.HasPrefix(s, "2026-03-0") {
				return s
			}
			return "TIME"
		}
		for known, name := range w.names {
			if strings.HasPrefix(known, s) || strings.HasPrefix(s, known) { // people see the first digits
				return name
			}
		}
		name := fmt.Sprintf("<%d>", len(w.names)+1)
		w.names[s] = name
		return name
	})
}

// log traces the beginning of an error in the log: the reason after it has words for people, which are
// package comment's.
func (w *world) log(err error) {
	text, _, _ := strings.Cut(err.Error(), ": ")
	w.trace("log: " + text)
}

// revive lets another process go on.
func (w *world) revive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = false
}
