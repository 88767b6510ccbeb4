package toolresults

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestJUnit is a table of JUnit files, and of what is read of them.
func TestJUnit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ xml, want string }{
		"nothing":        {`<testsuites></testsuites>`, "0 tests, 0 failures, 0 errors, 0 skipped\n"},
		"an empty suite": {`<testsuite name="a"/>`, "0 tests, 0 failures, 0 errors, 0 skipped\n"},
		"a declaration":  {"\ufeff\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c --><testsuite name=\"a\"><testcase name=\"x\"/></testsuite>\n", "1 tests, 0 failures, 0 errors, 0 skipped\na: 1, 0, 0, 0, 0s\n"},
		"all results": {`<testsuites><testsuite name="a" time="1.5"><testcase name="x"/><testcase classname="c" name="y"><failure message="no" type="t">trace</failure></testcase>` +
			`<testcase name="z"><error>broken</error><failure message="twice"/></testcase><testcase name="s"><skipped/></testcase></testsuite></testsuites>`,
			"4 tests, 1 failures, 1 errors, 1 skipped\na: 4, 1, 1, 1, 1.5s\nfailed a/c/y \"no\"\nerror a//z \"broken\"\n"},
		"suites in suites": {`<testsuites><testsuite name="a"><testsuite name="b"><testcase name="x"/></testsuite><testcase name="y"/></testsuite></testsuites>`, "2 tests, 0 failures, 0 errors, 0 skipped\nb: 1, 0, 0, 0, 0s\na: 1, 0, 0, 0, 0s\n"},
		"numbers only":     {`<testsuite name="a" tests="7" failures="2" errors="1" skipped="-3" time="1,234.5"/>`, "7 tests, 2 failures, 1 errors, 0 skipped\na: 7, 2, 1, 0, 20m34.5s\n"},
		"wrong numbers":    {`<testsuite name="a" tests="99999999999999999999" failures="x" time="NaN"><testcase name="x"/></testsuite>`, "1 tests, 0 failures, 0 errors, 0 skipped\na: 1, 0, 0, 0, 0s\n"},
		"a file":           {`<testsuite name="a"><testcase name="x" file="main.tf" line="2"><failure message="no"/></testcase><testcase name="y" file="../../../etc/passwd" line="1"><failure message="no"/></testcase></testsuite>`, "2 tests, 2 failures, 0 errors, 0 skipped\na: 2, 2, 0, 0, 0s\nfailed a//x \"no\" live/net/main.tf:2\nfailed a//y \"no\"\n"},
		"a place in the message": {`<testsuite name="a"><testcase name="x"><failure message="main.tf:2,1-9: no"/></testcase><testcase name="y"><failure message="other.tf:2,1-9: no"/></testcase></testsuite>`,
			"2 tests, 2 failures, 0 errors, 0 skipped\na: 2, 2, 0, 0, 0s\nfailed a//x \"main.tf:2,1-9: no\" live/net/main.tf:2\nfailed a//y \"other.tf:2,1-9: no\"\n"},
		"a case without a suite":      {`<testsuites><testcase name="x"><failure/></testcase></testsuites>`, "1 tests, 1 failures, 0 errors, 0 skipped\n: 1, 1, 0, 0, 0s\nfailed //x \"\"\n"},
		"numbers of suites in suites": {`<testsuites tests="3"><testsuite name="a" tests="3" failures="1"><testsuite name="b" tests="3" failures="1"/></testsuite></testsuites>`, "3 tests, 1 failures, 0 errors, 0 skipped\nb: 3, 1, 0, 0, 0s\n"},
	} {
		got, err := Read([]byte(c.xml), at)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s := testLines(got.Tests); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, s, c.want)
		}
	}
}

func testLines(x *Tests) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tests, %d failures, %d errors, %d skipped\n", x.Tests, x.Failures, x.Errors, x.Skipped)
	for _, s := range x.Suites {
		fmt.Fprintf(&b, "%s: %d, %d, %d, %d, %s\n", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, s.Time)
	}
	for _, f := range x.Failed {
		fmt.Fprintf(&b, "%s %s/%s/%s %q", map[bool]string{false: "failed", true: "error"}[f.Error], f.Suite, f.Class, f.Name, f.Message)
		if f.File != "" {
			fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestInfracost is a table of outputs of infracost, with their costs.
func TestInfracost(t *testing.T) {
	t.Parallel()
	diff, err := os.ReadFile("testdata/infracost-diff.json")
	if err != nil {
		t.Fatal(err)
	}
	of := func(projects string) string {
		return `{"version":"0.2","currency":"EUR","projects":[` + projects + `],"totalMonthlyCost":"7"}`
	}
	for name, c := range map[string]struct{ json, want string }{
		"a difference":                 {string(diff), "USD 120 -> 132.4, 12.40 more, 1 unsupported\nacme/infra/live/app 120 -> 132.4\n  aws_instance.web 10\n  aws_s3_bucket.logs 2.4\n"},
		"a breakdown only":             {of(`{"name":"a","breakdown":{"resources":[],"totalMonthlyCost":"0.1"},"diff":{"resources":[{"name":"x","monthlyCost":"0.1"}],"totalMonthlyCost":"0.1"}}`), "EUR ? -> 0.1\na ? -> 0.1\n"},
		"exact decimals":               {of(`{"name":"a","pastBreakdown":{"totalMonthlyCost":"0.1"},"breakdown":{"totalMonthlyCost":"0.3"}},{"name":"b","pastBreakdown":{"totalMonthlyCost":"0.2"},"breakdown":{"totalMonthlyCost":0.1}}`), "EUR 0.3 -> 0.4, 0.10 more\na 0.1 -> 0.3\nb 0.2 -> 0.1\n"},
		"nothing has a price":          {of(`{"name":"a","pastBreakdown":{"totalMonthlyCost":null},"breakdown":{"totalMonthlyCost":null}}`), "EUR 0 -> 0, 0.00 more\na 0 -> 0\n"},
		"destroyed":                    {of(`{"name":"a","pastBreakdown":{"totalMonthlyCost":"12.345"},"breakdown":null}`), "EUR 12.345 -> 0, -12.35 more\na 12.345 -> 0\n"},
		"no projects":                  {of(""), "EUR ? -> 0\n"},
		"the largest difference first": {of(`{"name":"a","pastBreakdown":{},"breakdown":{"totalMonthlyCost":"1"}},{"name":"b","pastBreakdown":{"totalMonthlyCost":"5"},"breakdown":{}}`), "EUR 5 -> 1, -4.00 more\nb 5 -> 0\na 0 -> 1\n"},
	} {
		got, err := Read([]byte(c.json), at)
		if err != nil || got.Cost == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s := costLines(got.Cost); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, s, c.want)
		}
	}
}

func costLines(c *Cost) string {
	var b strings.Builder
	from := func(a *Amount) string {
		if a == nil {
			return "?"
		}
		return a.String()
	}
	fmt.Fprintf(&b, "%s %s -> %s", c.Currency, from(c.Before), c.After)
	if more, known := c.Increase(); known {
		fmt.Fprintf(&b, ", %s more", more.Rounded())
	}
	if c.Unsupported > 0 {
		fmt.Fprintf(&b, ", %d unsupported", c.Unsupported)
	}
	b.WriteString("\n")
	for _, p := range c.Projects {
		fmt.Fprintf(&b, "%s %s -> %s\n", p.Name, from(p.Before), p.After)
		for _, x := range p.Resources {
			fmt.Fprintf(&b, "  %s %s\n", x.Name, x.Increase)
		}
	}
	return b.String()
}

// TestAmounts is a table of sums and differences. They are exact.
func TestAmounts(t *testing.T) {
	t.Parallel()
	amount := func(text string) Amount {
		a, err := ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range [][4]string{ // a, b, a - b, rounded
		{"0.3", "0.1", "0.2", "0.20"}, {"0", "0.005", "-0.005", "-0.01"}, {"1.005", "0", "1.005", "1.01"}, {"123456789012345678901234567890", "0.000000000000000000000000000001", "123456789012345678901234567889.999999999999999999999999999999", "123456789012345678901234567890.00"},
	} {
		d := amount(c[0]).Minus(amount(c[1]))
		if d.String() != c[2] || d.Rounded() != c[3] || !d.Plus(amount(c[1])).Equal(amount(c[0])) {
			t.Errorf("%v: %s, %s", c, d, d.Rounded())
		}
	}
	for _, text := range []string{"", "1e5", "0x1", "1/3", "1_000", " 1", "1.", ".5", "+1", "NaN", "Inf", strings.Repeat("1", 31), "1." + strings.Repeat("1", 61)} {
		if _, err := ParseAmount(text); err == nil {
			t.Errorf("%q is an amount", text)
		}
	}
	if (Amount{}).String() != "0" || (Amount{}).Sign() != 0 || (Amount{}).Cmp(amount("0.01")) != -1 {
		t.Error("the zero value is not 0")
	}
}

// TestCompare is a table of the findings of a base and of a head, as fingerprints. Capital letters are errors.
func TestCompare(t *testing.T) {
	t.Parallel()
	of := func(prints string) (f Findings) {
		for _, p := range prints {
			x := Finding{Fingerprint: string(p), Severity: Note}
			if p < 'a' {
				x.Severity = Error
			}
			f.add(x)
		}
		return f
	}
	prints := func(g Group) (out string) {
		for _, f := range g.List {
			out += f.Fingerprint
		}
		return out
	}
	moved := func(f Findings, file string) Findings {
		for i := range f.List {
			f.List[i].Fingerprint += "@" + file
		}
		return f
	}
	if got := Compare(moved(of("aab"), "x"), moved(of("aaac"), "y")); prints(got.New) != "a@yc@y" || prints(got.Known) != "a@ya@y" || prints(got.Gone) != "b@x" {
		t.Errorf("moved to another file: %+v", got)
	}
	both := moved(of("a"), "x")
	both.List = append(both.List, moved(of("a"), "y").List...)
	if got := Compare(moved(of("a"), "y"), both); prints(got.New) != "a@x" || prints(got.Known) != "a@y" {
		t.Errorf("a second one in another file: %+v", got)
	}
	for _, c := range [][5]string{ // base, head, new, known, gone
		{"", "", "", "", ""}, {"", "ab", "ab", "", ""}, {"ab", "", "", "", "ab"}, {"Ab", "bC", "C", "b", "A"}, {"aa", "aaa", "a", "aa", ""}, {"aaa", "a", "", "a", "aa"}, {"ba", "ab", "", "ab", ""},
	} {
		got := Compare(of(c[0]), of(c[1]))
		if prints(got.New) != c[2] || prints(got.Known) != c[3] || prints(got.Gone) != c[4] || got.Inexact {
			t.Errorf("%q: %+v", c, got)
		}
		if got.New.Counts[Error] != strings.Count(c[2], "C") {
			t.Errorf("%q: %v", c, got.New.Counts)
		}
	}
}

// TestFingerprints reads a file before and after a change. The fingerprint of a finding stays if its line moves, and
// changes with the line itself, the file, the rule and the message.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	print := func(content, result string) string {
		t.Helper()
		o := at
		o.Files = fstest.MapFS{"live/net/main.tf": {Data: []byte(content)}, "live/net/b.tf": {Data: []byte(content)}}
		got, err := Read([]byte(oneRun(`,"results":[`+result+`]`)), o)
		if err != nil {
			t.Fatal(err)
		}
		return got.Findings.List[0].Fingerprint
	}
	result := func(rule, message, file string, line int, more string) string {
		return fmt.Sprintf(`{"ruleId":%q,"message":{"text":%q}%s,"locations":[{"physicalLocation":{"artifactLocation":{"uri":%q},"region":{"startLine":%d}}}]}`, rule, message, more, file, line)
	}
	first := print("a\nb\n", result("R1", "m", "main.tf", 2, ""))
	const own = `,"partialFingerprints":{"primaryLocationLineHash":"1:1"}`
	owned := print("a\nb\n", result("R1", "m", "main.tf", 2, own))
	for name, c := range map[string]struct {
		print string
		same  bool
	}{
		"again":                          {print("a\nb\n", result("R1", "m", "main.tf", 2, "")), true},
		"two lines further":              {print("x\ny\na\n  b\r\n", result("R1", "m", "main.tf", 4, "")), true},
		"another level":                  {print("a\nb\n", result("R1", "m", "main.tf", 2, `,"level":"note"`)), true},
		"an absolute path":               {print("a\nb\n", result("R1", "m", "/run/checkout/live/net/main.tf", 2, "")), true},
		"another content":                {print("a\nc\n", result("R1", "m", "main.tf", 2, "")), false},
		"another rule":                   {print("a\nb\n", result("R2", "m", "main.tf", 2, "")), false},
		"another message":                {print("a\nb\n", result("R1", "n", "main.tf", 2, "")), false},
		"another file":                   {print("a\nb\n", result("R1", "m", "b.tf", 2, "")), false},
		"a fingerprint of the tool":      {owned, false},
		"parts that move between fields": {print("a\nb\n", result("R1m", "", "main.tf", 2, "")), false},
	} {
		if (c.print == first) != c.same {
			t.Errorf("%s: equal is %t", name, !c.same)
		}
	}
	here, there := print("a\n", result("R1", "Artifact: main.tf", "main.tf", 1, "")), print("a\n", result("R1", "Artifact: b.tf", "b.tf", 1, ""))
	if here == there || (Finding{Fingerprint: here}).elsewhere() != (Finding{Fingerprint: there}).elsewhere() {
		t.Errorf("a message that names its file: %s, %s", here, there)
	}
	if print("c\nd\n", result("R1", "another message", "main.tf", 1, own)) != owned {
		t.Error("the fingerprint of the tool does not count alone")
	}
	if print("", result("R1", "see main.tf:12,3-9 and line 7", "", 0, "")) != print("", result("R1", "see main.tf:14,3-9 and line 9", "", 0, "")) || print("", result("R1", "10 of 20", "", 0, "")) == print("", result("R1", "11 of 20", "", 0, "")) {
		t.Error("numbers of lines in a message")
	}
	if !slices.IsSortedFunc([]Finding{{Severity: Critical}, {Severity: High}, {Severity: Error, Rank: 2}, {Severity: Error}, {Severity: Note}}, byWeight) {
		t.Error("the order of severities")
	}
}
