package toolresults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sarif reads a SARIF file, with all of its runs.
func (r *reader) sarif() (*Findings, error) {
	if err := checkJSON(r.output); err != nil {
		return nil, err
	}
	out, version, schema, runs := &Findings{}, "", "", false
	w := newWalker(r.output)
	w.object(func(key string) {
		switch key {
		case "version":
			version = w.text()
		case "$schema":
			schema = w.text()
		case "runs":
			runs = true
			w.list(func(int) { r.run(w, out) })
		default:
			w.skip()
		}
	})
	w.end()
	switch {
	case version == "" && !strings.Contains(schema, "sarif"), w.err == nil && !runs:
		return nil, errOther
	case w.err == nil && !strings.HasPrefix(version, "2.1."):
		return nil, fmt.Errorf("it has version %.20q, and Lockstep reads 2.1.0. Choose that version in the options of the tool", version)
	}
	out.keep()
	return out, w.err
}

// keep sorts the list and removes all findings but the worst ones.
func (g *Group) keep() {
	slices.SortFunc(g.List, byWeight)
	g.List = g.List[:min(len(g.List), MaxFindings)]
}

// A sarifRun is the part of a run that its results refer to. A file can contain this part after the
// results.
type sarifRun struct {
	tool      string
	byID      map[string]rule
	byPlace   map[[2]int]rule // rules by the number of their list and their index in the list
	rules     int             // all of them
	artifacts []artifact
	bases     map[string]artifact
}

// A rule is the description of a rule. Many results refer to one rule, so its texts are cut when they are read.
type rule struct {
	id, name, title, level, security, help string
	messages                               map[string]string
}

// run reads a run: first all that results refer to, then the results.
func (r *reader) run(w *walker, out *Findings) {
	run := sarifRun{byID: map[string]rule{}, byPlace: map[[2]int]rule{}, bases: map[string]artifact{}}
	var results *walker
	w.object(func(key string) {
		switch key {
		case "tool":
			r.tool(w, &run)
		case "artifacts":
			w.list(func(int) {
				run.artifacts = append(run.artifacts, artifactOf(w))
				w.limit(len(run.artifacts), "artifacts")
			})
		case "originalUriBaseIds":
			w.object(func(name string) { run.bases[name] = location(w); w.limit(len(run.bases), "bases of addresses") })
		case "invocations":
			w.list(func(int) { r.invocation(w, out) })
		case "results":
			if results != nil { // each takes memory
				w.failf("a run has only one list of results")
			}
			results = w.later()
		default:
			w.skip()
		}
	})
	if results != nil && w.err == nil {
		results.list(func(int) { r.result(results, run, out) })
		w.err = results.err
	}
}

// limit sets an error if there are too many entries of a list that is kept.
func (w *walker) limit(n int, noun string) {
	if n > maxEntries {
		w.failf("there are more than %d %s", maxEntries, noun)
	}
}

// tool reads the tool of a run: its name, and its rules with those of its extensions.
func (r *reader) tool(w *walker, run *sarifRun) {
	// read reads a list of rules: 0 is that of the tool itself, and those of its extensions follow.
	read := func(component int) {
		w.object(func(key string) {
			switch {
			case key == "name" && component == 0:
				run.tool = r.cut(w.text(), maxName)
			case key == "rules":
				w.list(func(i int) {
					x := r.rule(w)
					if _, twice := run.byID[x.id]; !twice {
						run.byID[x.id] = x
					}
					run.byPlace[[2]int{component, i}] = x
					run.rules++
					w.limit(run.rules, "rules")
				})
			default:
				w.skip()
			}
		})
	}
	w.object(func(key string) {
		switch key {
		case "driver":
			read(0)
		case "extensions":
			w.list(func(i int) { read(i + 1) })
		default:
			w.skip()
		}
	})
}

// rule reads the description of a rule.
func (r *reader) rule(w *walker) (x rule) {
	text := func() (out string) {
		w.member("text", func() { out = w.text() })
		return out
	}
	w.object(func(key string) {
		switch key {
		case "id":
			x.id = w.text()
			x.name = r.cut(x.id, maxName)
		case "shortDescription":
			x.title = r.cut(text(), maxName)
		case "helpUri":
			x.help = r.link(w.text())
		case "defaultConfiguration":
			w.member("level", func() { x.level = w.text() })
		case "properties":
			x.security = securityOf(w)
		case "messageStrings":
			x.messages = map[string]string{}
			w.object(func(id string) { x.messages[id] = short(text()); w.limit(len(x.messages), "texts of a rule") })
		default:
			w.skip()
		}
	})
	return x
}

// securityOf reads the property security-severity of a bag of properties.
func securityOf(w *walker) (out string) {
	w.member("security-severity", func() { out = w.number() })
	return out
}

// artifactOf reads an entry of the list of artifacts.
func artifactOf(w *walker) (a artifact) {
	w.member("location", func() { a = location(w) })
	return a
}

// location reads an artifactLocation.
func location(w *walker) artifact {
	a := artifact{index: -1}
	w.object(func(key string) {
		switch key {
		case "uri":
			a.uri = w.text()
		case "uriBaseId":
			a.base = w.text()
		case "index":
			a.index = w.natural()
		default:
			w.skip()
		}
	})
	return a
}

// invocation reads what the tool says about its own run.
func (r *reader) invocation(w *walker, out *Findings) {
	add := func(text string) {
		if len(out.Problems) >= MaxProblems {
			out.MoreProblems++
			return
		}
		out.Problems = append(out.Problems, r.cut(text, maxMessage))
	}
	failed, before := false, len(out.Problems)
	w.object(func(key string) {
		switch key {
		case "executionSuccessful":
			t := w.token()
			failed = t == false
			if _, ok := t.(bool); !ok && t != nil {
				w.wrong("true or false", t)
			}
		case "toolExecutionNotifications", "toolConfigurationNotifications":
			w.list(func(int) {
				level, text := "", message{}
				w.object(func(key string) {
					switch key {
					case "level":
						level = w.text()
					case "message":
						text = messageOf(w)
					default:
						w.skip()
					}
				})
				if level == "error" {
					add(text.fill(nil))
				}
			})
		default:
			w.skip()
		}
	})
	if failed && len(out.Problems) == before && w.err == nil {
		add("The tool says that its run did not succeed.")
	}
}

// A sarifResult is a result before its references are followed.
type sarifResult struct {
	rule, level, kind, security, baseline string
	index, component                      int
	rank                                  string
	message                               message
	file                                  artifact
	region                                [4]int // first line, last line, first column, last column; 0 if unknown
	located, suppressed                   bool
	prints                                []string // "name=value"
}

// result reads a result, and adds it to the findings.
func (r *reader) result(w *walker, run sarifRun, out *Findings) {
	x := sarifResult{index: -1}
	w.object(func(key string) {
		switch key {
		case "ruleId":
			x.rule = w.text()
		case "ruleIndex":
			x.index = w.natural()
		case "rule":
			x.reference(w)
		case "level":
			x.level = w.text()
		case "kind":
			x.kind = w.text()
		case "baselineState":
			x.baseline = w.text()
		case "rank":
			x.rank = w.number()
		case "message":
			x.message = messageOf(w)
		case "locations":
			w.list(func(i int) {
				if i == 0 {
					x.place(w)
				} else {
					w.skip()
				}
			})
		case "partialFingerprints", "fingerprints":
			w.object(func(name string) {
				if len(x.prints) < maxPrints {
					x.prints = append(x.prints, name+"="+w.text())
				} else {
					w.skip()
				}
			})
		case "suppressions":
			w.list(func(int) { x.suppressed = suppression(w) || x.suppressed })
		case "properties":
			x.security = securityOf(w)
		default:
			w.skip()
		}
	})
	if w.err == nil {
		r.add(x, run, out)
	}
}

const (
	maxPrints    = 10  // fingerprints of a result
	maxArguments = 50  // of a message
	maxLink      = 500 // bytes of an address
)

// reference reads the property rule of a result, another way to name its rule.
func (x *sarifResult) reference(w *walker) {
	w.object(func(key string) {
		switch key {
		case "id":
			x.rule = w.text()
		case "index":
			x.index = w.natural()
		case "toolComponent":
			w.member("index", func() { x.component = w.natural() + 1 })
		default:
			w.skip()
		}
	})
}

// place reads a location of a result.
func (x *sarifResult) place(w *walker) {
	w.object(func(key string) {
		if key != "physicalLocation" {
			w.skip()
			return
		}
		w.object(func(key string) {
			switch key {
			case "artifactLocation":
				x.file, x.located = location(w), true
			case "region":
				w.object(func(key string) {
					if i := slices.Index([]string{"startLine", "endLine", "startColumn", "endColumn"}, key); i >= 0 {
						x.region[i] = max(w.natural(), 0)
					} else {
						w.skip()
					}
				})
			default:
				w.skip()
			}
		})
	})
}

// suppression reads a suppression of a result. It reports whether the suppression counts: a rejected one, or one that
// still has to be accepted, does not.
func suppression(w *walker) bool {
	status := ""
	w.object(func(key string) {
		if key == "status" || key == "state" {
			status = w.text()
		} else {
			w.skip()
		}
	})
	return status == "" || status == "accepted"
}

// add follows the references of a result, and adds the finding.
func (r *reader) add(x sarifResult, run sarifRun, out *Findings) {
	rule := run.find(x)
	severity := severityOf(x, rule)
	switch {
	case severity == "" || x.baseline == "absent":
		return
	case x.suppressed:
		out.Suppressed++
		return
	}
	if i := x.file.index; x.located && x.file.uri == "" && i >= 0 && i < len(run.artifacts) {
		x.file = run.artifacts[i]
	}
	f := Finding{Tool: run.tool, Severity: severity, Rank: rankOf(x.rank), Title: rule.title, Help: rule.help}
	f.Rule = cmp.Or(r.cut(x.rule, maxName), rule.name)
	file, inside := r.pathOf(x.file, run.bases)
	if !inside {
		out.Outside++
	} else if file != "" {
		f.Line, f.Last, f.Column, f.LastColumn = x.region[0], max(x.region[0], x.region[1]), x.region[2], x.region[3]
		if f.Line == 0 {
			f.Last, f.Column, f.LastColumn = 0, 0, 0
		}
	}
	text := r.clean(r.budgeted(x.message.fill(rule.messages)))
	f.Message = r.cut(text, maxMessage)
	if f.Message == "" {
		f.Message = cmp.Or(f.Title, f.Rule, "no message")
	}
	f.Fingerprint = r.fingerprint(run.tool, f.Rule, file, f.Line, text, x.prints)
	if f.File = r.clean(file); f.File != file { // the name contained a secret, so it is not the name of the file any more
		f.Line, f.Last, f.Column, f.LastColumn = 0, 0, 0, 0
	}
	out.add(f)
	if len(out.List) >= 2*MaxFindings {
		out.keep()
	}
}

// maxFilled is how many bytes of messages are read. Many results can share one long text of a rule.
const maxFilled = 8 << 20

// budgeted returns the text, or a shorter one once the messages are too long together.
func (r *reader) budgeted(text string) string {
	if r.filled += len(text); r.filled > maxFilled {
		return "(the messages are too long)"
	}
	return text
}

// find returns the rule of a result; the zero rule if there is none.
func (run sarifRun) find(x sarifResult) rule {
	y, ok := run.byID[x.rule]
	if ok && x.rule != "" {
		return y
	}
	if y, ok := run.byPlace[[2]int{x.component, x.index}]; ok {
		return y
	}
	if i := strings.LastIndexByte(x.rule, '/'); i > 0 { // CA1000/1 is a part of the rule CA1000
		return run.byID[x.rule[:i]]
	}
	return rule{}
}

// link returns an address if it can be a link, or "".
func (r *reader) link(address string) string {
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok || rest == "" || len(address) > maxLink || r.clean(address) != address || strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("<>\"'`()[]|\\{}^@", c) }) {
		return ""
	}
	return address
}
