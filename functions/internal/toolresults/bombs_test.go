package toolresults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// results is a SARIF file with n times a result.
func results(n int, result string) string {
	return oneRun(`,"results":[` + strings.TrimSuffix(strings.Repeat(result+",", n), ",") + `]`)
}

// TestRefused is a table of outputs that cannot be read, with the errors about them. People read these errors.
func TestRefused(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", maxText+1)
	digits := strings.Repeat("9", 1<<20)
	for name, c := range map[string]struct{ output, want string }{
		"cut off":                    {oneRun("")[:60], "the output is not SARIF that Lockstep can read: runs[0].tool.driver: it ends in the middle, so the tool did not write all of it"},
		"cut off in a text":          {results(1, `{"message":{"text":"abc"}}`)[:len(results(0, ""))+18], "it ends in the middle"},
		"more text":                  {oneRun("") + "\nDone.", "more text follows the JSON at byte "},
		"more JSON":                  {oneRun("") + oneRun(""), "more text follows the JSON at byte "},
		"a wrong type":               {oneRun(`,"results":[{"ruleId":"R1","level":{}}]`), "runs[0].results[0].level: a text is expected, and this is an object"},
		"another wrong type":         {oneRun(`,"results":{"x":1}`), "runs[0].results: a list is expected, and this is an object"},
		"a truth value":              {oneRun(`,"results":[{"message":true}]`), "runs[0].results[0].message: an object is expected, and this is a truth value"},
		"invalid syntax":             {oneRun(`,"results":[{"ruleId" "R1"}]`), "runs[0].results: invalid character '\"' after object key at byte "},
		"another version":            {`{"version":"1.0.0","runs":[]}`, `it has version "1.0.0", and Lockstep reads 2.1.0. Choose that version in the options of the tool`},
		"deep lists":                 {`{"version":"2.1.0","runs":` + strings.Repeat("[", 1_000_000), "more than 100 objects and lists are nested at byte "},
		"deep objects":               {`{"version":"2.1.0","runs":[` + strings.Repeat(`{"a":`, 1_000_000), "more than 100 objects and lists are nested at byte "},
		"deep properties":            {results(1, `{"properties":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`}`), "more than 100 objects and lists are nested"},
		"a long number":              {results(1, `{"rank":`+digits+`}`), "a number or word at byte "},
		"a long number in a bag":     {results(1, `{"properties":{"x":-1.`+digits+`}}`), "a number or word at byte "},
		"a long text":                {results(1, `{"message":{"text":"`+big+`"}}`), "is longer than 4 MB"},
		"a long text of backslashes": {results(1, `{"message":{"text":"`+strings.Repeat(`\\`, maxText)+`"}}`), "is longer than 4 MB"},
		"a long key":                 {results(1, `{"`+big+`":1}`), "is longer than 4 MB"},
		"lists of results":           {oneRun(strings.Repeat(`,"results":[]`, 2)), "runs[0].results: a run has only one list of results"},
		"many rules":                 {`{"version":"2.1.0","runs":[{"tool":{"driver":{"rules":[` + strings.Repeat("{},", 30_000) + `{}]}}}]}`, "there are more than 20000 rules"},
		"many artifacts":             {oneRun(`,"artifacts":[` + strings.Repeat("{},", 30_000) + `{}]`), "there are more than 20000 artifacts"},
		"too large":                  {results(1, `{}`) + strings.Repeat(" ", MaxBytes), "it has 32 MB, and at most 32 MB are read. Let the tool report less"},
		"a null character":           {oneRun("\x00"), "invalid character '\\x00'"},

		"XML that is cut off":        {`<testsuites><testsuite name="a"><testcase name="b">`, "the output is not JUnit XML that Lockstep can read: "},
		"an entity bomb":             {`<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><testsuites><testsuite name="&b;"/></testsuites>`, "invalid character entity &b;"},
		"an entity of a file":        {`<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuites><testsuite><testcase><failure>&f;</failure></testcase></testsuite></testsuites>`, "invalid character entity &f;"},
		"deep elements":              {`<testsuites>` + strings.Repeat("<testsuite>", 1_000_000), "more than 100 elements are nested"},
		"many attributes":            {`<testsuites ` + strings.Repeat(`a="" `, 300_000) + `/>`, "a tag or text at byte 1 is longer than 1 MB"},
		"another encoding":           {`<?xml version="1.0" encoding="ISO-8859-1"?><testsuites/>`, `its encoding is "ISO-8859-1", and Lockstep reads UTF-8`},
		"invalid UTF-8":              {"<testsuites><testsuite name=\"\xff\"/></testsuites>", "invalid UTF-8"},
		"tags that do not match":     {`<testsuites><testsuite></testsuites>`, "element <testsuite> closed by </testsuites>"},
		"a case in a case":           {`<testsuite><testcase><testcase/><failure/></testcase></testsuite>`, "a test case is inside of another one"},
		"a failure of no case":       {`<testsuite><failure/></testsuite>`, "an element failure is outside of a test case"},
		"two roots":                  {`<testsuites/><testsuites/>`, "it has several elements at its root"},
		"a null character in XML":    {"<testsuites><testsuite name=\"a\x00\"/></testsuites>", "illegal character code U+0000"},
		"an amount with an exponent": {`{"totalMonthlyCost":"0","projects":[{"breakdown":{"totalMonthlyCost":"1e999999999"}}]}`, `projects[0].breakdown.totalMonthlyCost: "1e999999999" is not a decimal number, such as 12.40`},
		"an amount without an end":   {`{"totalMonthlyCost":"0","projects":[{"breakdown":{"totalMonthlyCost":"` + digits + `"}}]}`, "is not a decimal number"},
		"an amount that is a list":   {`{"totalMonthlyCost":"0","projects":[{"breakdown":{"totalMonthlyCost":[1]}}]}`, "a number is expected, and this is a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Read([]byte(c.output), at)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1200 {
				t.Errorf("got  %.300v\nwant %s", err, c.want)
			}
			if got != (Result{}) {
				t.Errorf("%+v beside an error", got)
			}
		})
	}
}

// TestText is a table of outputs that are text, without an error.
func TestText(t *testing.T) {
	t.Parallel()
	for _, output := range []string{
		"", " ", "ok", "{", "[]", `{"a":1}`, `{"runs":3}`, `{"runs":[],"totalMonthlyCost":1}`, `{"totalMonthlyCost":"1"}`, `{"$schema":"https://example.com/sarif"}`, "<html><testsuite/></html>", "<",
		strings.Repeat("[", 1_000_000), strings.Repeat("x", MaxBytes+1), "\x00\xff",
	} {
		if got, err := Read([]byte(output), at); err != nil || got != (Result{}) {
			t.Errorf("%.40q: %+v, %v", output, got, err)
		}
	}
	for format, output := range map[Format]string{SARIF: `{"runs":3}`, JUnit: "<html/>", Infracost: `{"a":1}`} {
		o := at
		o.Format = format
		if _, err := Read([]byte(output), o); err == nil {
			t.Errorf("%s is no %s, and there is no error", output, format)
		}
	}
	o := at
	o.Format = SARIF
	if _, err := Read([]byte("\n"), o); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Errorf("an empty output: %v", err)
	}
	o.Format = Text
	if got, err := Read([]byte(oneRun("")), o); err != nil || got != (Result{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// allocated returns how many bytes f allocates at most at the same time beyond what it keeps, roughly: all that it
// allocates. It runs alone.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyFindings reads far more than the limits. The lists are cut, the worst findings stay, and the numbers are those
// of all.
func TestManyFindings(t *testing.T) {
	const notes, errors = 100_000, 3
	text := results(notes, `{"ruleId":"R9","level":"note","message":{"text":"m"}}`)
	text = strings.TrimSuffix(text, "]}]}") + strings.Repeat(`,{"ruleId":"R1","message":{"text":"late"}}`, errors) + "]}]}"
	var got Result
	var err error
	bytes := allocated(func() { got, err = Read([]byte(text), at) })
	if err != nil {
		t.Fatal(err)
	}
	f := got.Findings
	if len(f.List) != MaxFindings || f.Counts[Note] != notes || f.Counts[Error] != errors || f.List[errors-1].Severity != Error || f.List[errors].Severity != Note {
		t.Errorf("%d listed, %v", len(f.List), f.Counts)
	}
	t.Logf("%d MB of SARIF with %d findings: %d MB allocated in all", len(text)>>20, f.Total(), bytes>>20)
	c := Compare(Findings{}, *f)
	if !c.Inexact || c.New.Total()+c.Known.Total() != f.Total() || c.New.Total() != MaxFindings {
		t.Errorf("%v, %v", c.New.Counts, c.Known.Counts)
	}
}

// TestManyReferences reads results that all share long texts of one rule and one artifact. Each shared text costs its
// length once.
func TestManyReferences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("{0}", maxText/3-10)
	many := strings.TrimSuffix(strings.Repeat(`{"ruleIndex":0,"message":{"id":"m","arguments":["x"]},"locations":[{"physicalLocation":{"artifactLocation":{"index":0,"uriBaseId":"B"}}}]},`, 20_000), ",")
	text := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"n","rules":[{"id":"` + long + `","helpUri":"https://` + long + `","shortDescription":{"text":"` + long + `"},"messageStrings":{"m":{"text":"` + long + `"}}}]}},` +
		`"artifacts":[{"location":{"uri":"` + long + `","uriBaseId":"B"}}],"originalUriBaseIds":{"B":{"uri":"` + long + `"}},"results":[` + many + `]}]}`
	got, err := Read([]byte(text), at)
	if err != nil || got.Findings.Total() != 20_000 || got.Findings.Outside != 20_000 {
		t.Fatalf("%v", err)
	}
	for _, f := range got.Findings.List {
		if len(f.Rule)+len(f.Title)+len(f.Message)+len(f.Help) > 2*maxName+maxMessage {
			t.Fatalf("a finding of %d bytes", len(f.Rule)+len(f.Title)+len(f.Message))
		}
	}
}

// TestManyFiles reads results about many files, and about one long line. What is read of the checkout has a limit.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, `{"ruleId":"R1","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"f%d.tf"},"region":{"startLine":1}}}]},`, i)
	}
	r := &reader{Options: at, output: []byte(oneRun(`,"results":[` + strings.TrimSuffix(b.String(), ",") + `]`))}
	f, err := r.sarif()
	if err != nil || f.Total() != 60_000 || len(r.seen.exist) > maxLooks {
		t.Errorf("%d files were looked at, %v", len(r.seen.exist), err)
	}
}

// TestManyTests reads far more suites and cases than the limits.
func TestManyTests(t *testing.T) {
	t.Parallel()
	text := "<testsuites>" + strings.Repeat(`<testsuite name="s"><testcase name="a"/><testcase name="b"><failure message="no"/></testcase></testsuite>`, 50_000) + "</testsuites>"
	got, err := Read([]byte(text), at)
	if err != nil {
		t.Fatal(err)
	}
	x := got.Tests
	if (x.TestCounts != TestCounts{Tests: 100_000, Failures: 50_000}) || len(x.Suites) != MaxSuites || x.MoreSuites != 50_000-MaxSuites || len(x.Failed) != MaxFailed {
		t.Errorf("%+v, %d suites and %d more, %d failed", x.TestCounts, len(x.Suites), x.MoreSuites, len(x.Failed))
	}
}

// TestManyCosts reads far more projects and resources than the limits. The largest differences stay.
func TestManyCosts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `,{"name":"r%d","monthlyCost":"-%d.5"}`, i, i)
	}
	one := `{"name":"p","pastBreakdown":{"totalMonthlyCost":"1"},"breakdown":{"totalMonthlyCost":"3"},"diff":{"resources":[` + b.String()[1:] + `]}}`
	got, err := Read([]byte(`{"totalMonthlyCost":"0","projects":[`+one+strings.Repeat(`,{}`, 200_000)+`]}`), at)
	if err != nil {
		t.Fatal(err)
	}
	c := got.Cost
	if len(c.Projects) != MaxCosts || c.MoreProjects != 200_001-MaxCosts || c.After.Rounded() != "3.00" || c.Before.Rounded() != "1.00" {
		t.Fatalf("%d projects, %d more, %s -> %s", len(c.Projects), c.MoreProjects, c.Before, c.After)
	}
	p := c.Projects[0]
	if len(p.Resources) != MaxCosts || p.MoreResources != 20_000-MaxCosts || p.Resources[0] != (ResourceCost{p.Resources[0].Name, p.Resources[0].Increase}) || p.Resources[0].Name != "r19999" || p.Resources[0].Increase.String() != "-19999.5" {
		t.Errorf("%+v", p)
	}
}

// TestRedacted holds that no field of a result has a secret, however the output writes it: escaped, encoded, in two
// parts, or at the place where a text is cut.
func TestRedacted(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	o := at
	o.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "(sensitive value)") }
	escaped := ""
	for _, c := range secret {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	percents, entities := "", ""
	for _, c := range secret {
		percents += fmt.Sprintf("%%%02x", c)
		entities += fmt.Sprintf("&#%d;", c)
	}
	before := strings.Repeat("a", maxMessage-10)
	for name, output := range map[string]string{
		"escaped":      results(1, `{"ruleId":"`+escaped+`","message":{"text":"`+escaped+`"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"`+percents+`.tf"},"region":{"startLine":1}}}]}`),
		"coloured":     results(1, `{"message":{"text":"hun\u001b[1mter2hunter2"}}`),
		"in two parts": results(1, `{"message":{"text":"x{0}{1}","arguments":["hunter2","hunter2"]}}`),
		"at the cut":   results(1, `{"message":{"text":"`+before+escaped+`"}}`),
		"a rule":       `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"` + secret + `","rules":[{"id":"` + secret + `","shortDescription":{"text":"` + escaped + `"},"helpUri":"https://example.com/` + secret + `"}]}},"results":[{"ruleIndex":0,"message":{}}],"invocations":[{"toolExecutionNotifications":[{"level":"error","message":{"text":"` + secret + `"}}]}]}]}`,
		"XML":          `<testsuites><testsuite name="` + entities + `"><testcase classname="` + entities + `" name="` + entities + `"><failure>x<![CDATA[hunter2]]>hunter2</failure></testcase><testcase><error message="` + entities + `"/></testcase></testsuite></testsuites>`,
		"costs":        `{"currency":"` + secret + `","totalMonthlyCost":"1","projects":[{"name":"` + escaped + `","pastBreakdown":{},"diff":{"resources":[{"name":"` + secret + `","monthlyCost":"1"}]}}]}`,
		"an error":     oneRun(`,"` + escaped + `":[}`),
	} {
		got, err := Read([]byte(output), o)
		data, _ := json.Marshal(got)
		if text := string(data) + fmt.Sprint(err); strings.Contains(text, "hunter2") || !strings.Contains(text, "sensitive value") && name != "at the cut" {
			t.Errorf("%s: %s", name, text)
		}
	}
	// The text ends in the middle of a secret if it is cut before it is redacted, and then it is short.
	o.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "") }
	got, err := Read([]byte(results(1, `{"message":{"text":"{0}","arguments":["bbbbbbbbb`+strings.Repeat(secret, maxFill/len(secret))+`"]}}`)), o)
	if err != nil || !strings.Contains(got.Findings.List[0].Message, "longer than 64 KB") {
		t.Errorf("%+v, %v", got.Findings, err)
	}
}

// FuzzRead reads outputs of any kind. What is returned keeps the limits, is valid text, and is the same after it was
// stored.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		oneRun(`,"results":[{"ruleId":"R1","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"main.tf"},"region":{"startLine":2}}}]}]`), results(3, `{"message":{"id":"m"},"ruleIndex":0}`),
		`<testsuites><testsuite name="a" tests="2" time="1,000.5"><testcase name="b" file="main.tf" line="3"><failure message="x">y</failure></testcase></testsuite></testsuites>`,
		`{"version":"0.2","currency":"EUR","projects":[{"name":"a","pastBreakdown":{"totalMonthlyCost":"1.5"},"breakdown":{"totalMonthlyCost":"2"},"diff":{"resources":[{"name":"x","monthlyCost":"0.5"}]}}],"totalMonthlyCost":"2"}`,
		`{"version":"2.1.0","runs":[{"invocations":[{"executionSuccessful":false}]}]}`,
	} {
		f.Add([]byte(text), "")
		f.Add([]byte(text), string(SARIF))
	}
	f.Fuzz(func(t *testing.T, output []byte, format string) {
		o := at
		o.Format = Format(format)
		got, err := Read(output, o)
		if err != nil {
			if got != (Result{}) || !utf8.ValidString(err.Error()) {
				t.Fatalf("%+v, %q", got, err)
			}
			return
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again Result
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if twice, _ := json.Marshal(again); !bytes.Equal(data, twice) {
			t.Fatalf("%s\n%s", data, twice)
		}
		if x := got.Findings; x != nil {
			for _, f := range x.List {
				if len(f.Message) > maxMessage || len(f.Rule) > maxName || len(f.File) > maxPath || len(f.Fingerprint) != 65 || f.Message == "" || strings.HasPrefix(f.File, "/") || strings.Contains("/"+f.File+"/", "/../") || f.Line < 0 || f.Last < f.Line || f.File == "" && f.Line > 0 {
					t.Fatalf("%+v", f)
				}
			}
			if c := Compare(*x, *x); c.New.Total()+c.Gone.Total() > 0 || c.Known.Total() != x.Total() {
				t.Fatalf("compared with itself: %+v", c)
			}
			if c := Compare(Findings{}, *x); !c.Inexact && c.New.Total() != x.Total() {
				t.Fatalf("compared with nothing: %+v", c)
			}
		}
	})
}
