package toolresults

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// checkout has the files that the outputs in these tests are about.
var checkout = fstest.MapFS{
	"live/net/main.tf":    {Data: []byte("resource \"a\" \"b\" {\n  acl = \"public-read\"\n}\n")},
	"live/net/my file.tf": {Data: []byte("x = 1\n")},
	"live/net/100%.tf":    {Data: []byte("x = 1\n")},
	"live/net/a%2Fb.tf":   {Data: []byte("x = 1\n")},
	"modules/vpc/vpc.tf":  {Data: []byte("y = 1\ny = 2\n")},
}

var at = Options{Root: "/run/checkout", Dir: "live/net", Files: checkout}

// oneRun is a SARIF file with a run of the tool scan, with these further keys.
func oneRun(keys string) string {
	return `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan","rules":[` +
		`{"id":"R1","shortDescription":{"text":"Public bucket"},"helpUri":"https://example.com/R1","defaultConfiguration":{"level":"error"},"messageStrings":{"m":{"text":"{0} is open to {1} {{x}}"}}},` +
		`{"id":"R2","properties":{"security-severity":"9.1"}},{"id":"R3","helpUri":"http://example.com/R3","defaultConfiguration":{"level":"none"}}]},` +
		`"extensions":[{"name":"more","rules":[{"id":"X1","defaultConfiguration":{"level":"note"}}]}]}` + keys + `}]}`
}

// lined writes findings as text, one a line.
func lined(f *Findings) string {
	var b strings.Builder
	for _, x := range f.List {
		fmt.Fprintf(&b, "%s %s %s", x.Severity, x.Tool, x.Rule)
		if x.File != "" {
			fmt.Fprintf(&b, " %s:%d.%d-%d.%d", x.File, x.Line, x.Column, x.Last, x.LastColumn)
		}
		fmt.Fprintf(&b, " %q", x.Message)
		if x.Title != "" {
			fmt.Fprintf(&b, " (%s)", x.Title)
		}
		if x.Help != "" {
			fmt.Fprintf(&b, " <%s>", x.Help)
		}
		if x.Rank > 0 {
			fmt.Fprintf(&b, " rank %d", x.Rank)
		}
		b.WriteString("\n")
	}
	if n := f.Total() - len(f.List); n > 0 {
		fmt.Fprintf(&b, "%d more\n", n)
	}
	if f.Suppressed > 0 {
		fmt.Fprintf(&b, "%d suppressed\n", f.Suppressed)
	}
	if f.Outside > 0 {
		fmt.Fprintf(&b, "%d outside\n", f.Outside)
	}
	for _, p := range f.Problems {
		fmt.Fprintf(&b, "problem %q\n", p)
	}
	if f.MoreProblems > 0 {
		fmt.Fprintf(&b, "%d more problems\n", f.MoreProblems)
	}
	return b.String()
}

// TestSARIF is a table of runs, and of the findings in them.
func TestSARIF(t *testing.T) {
	t.Parallel()
	place := func(uri string) string {
		return `"locations":[{"physicalLocation":{"artifactLocation":{"uri":"` + uri + `"},"region":{"startLine":2,"startColumn":3,"endColumn":9}}}]`
	}
	result := func(uri string) string {
		return `,"results":[{"ruleId":"R1","message":{"text":"m"},` + place(uri) + `}]`
	}
	const findable = "error scan R1 %s:2.3-2.9 \"m\" (Public bucket) <https://example.com/R1>\n"
	const nowhere = "error scan R1 \"m\" (Public bucket) <https://example.com/R1>\n"
	for name, c := range map[string]struct{ keys, want string }{
		"no results":                   {``, ""},
		"results before the tool":      {result("main.tf"), fmt.Sprintf(findable, "live/net/main.tf")},
		"the level of the rule":        {`,"results":[{"ruleIndex":0,"message":{"text":"m"}}]`, nowhere},
		"the level of the result":      {`,"results":[{"ruleId":"R1","level":"note","message":{"text":"m"}}]`, strings.Replace(nowhere, "error", "note", 1)},
		"a level that nobody knows":    {`,"results":[{"ruleId":"R9","level":"dire","message":{"text":"m"}}]`, "warning scan R9 \"m\"\n"},
		"no rule":                      {`,"results":[{"message":{"text":"m"}}]`, "warning scan  \"m\"\n"},
		"a security severity":          {`,"results":[{"ruleId":"R2","level":"note","message":{"text":"m"}}]`, "critical scan R2 \"m\"\n"},
		"a severity of the result":     {`,"results":[{"ruleId":"R2","message":{"text":"m"},"properties":{"security-severity":4}}]`, "medium scan R2 \"m\"\n"},
		"a severity that is no number": {`,"results":[{"ruleId":"R9","message":{"text":"m"},"properties":{"security-severity":"NaN"}},{"ruleId":"R8","message":{"text":"m"},"properties":{"security-severity":"1e9"}}]`, "warning scan R8 \"m\"\nwarning scan R9 \"m\"\n"},
		"a rank":                       {`,"results":[{"ruleId":"R9","message":{"text":"a"}},{"ruleId":"R9","rank":77.5,"message":{"text":"b"}},{"ruleId":"R9","rank":-1,"message":{"text":"c"}}]`, "warning scan R9 \"b\" rank 77\nwarning scan R9 \"a\"\nwarning scan R9 \"c\"\n"},
		"a rule of an extension":       {`,"results":[{"rule":{"index":0,"toolComponent":{"index":0}},"message":{"text":"m"}}]`, "note scan X1 \"m\"\n"},
		"a part of a rule":             {`,"results":[{"ruleId":"R1/7","message":{"text":"m"}}]`, strings.Replace(nowhere, "R1", "R1/7", 1)},
		"an index without a rule":      {`,"results":[{"ruleIndex":77,"message":{"text":"m"}},{"ruleIndex":-1,"message":{"text":"m"}},{"ruleIndex":1e99,"message":{"text":"m"}}]`, strings.Repeat("warning scan  \"m\"\n", 3)},
		"passed and none":              {`,"results":[{"ruleId":"R3","message":{"text":"m"}},{"ruleId":"R1","kind":"pass","message":{"text":"m"}},{"ruleId":"R1","level":"none","message":{"text":"m"}}]`, ""},
		"suppressed":                   {`,"results":[{"ruleId":"R1","suppressions":[{"kind":"inSource"}],"message":{"text":"m"}},{"ruleId":"R1","suppressions":[{"kind":"external","status":"rejected"}],"message":{"text":"m"}},{"ruleId":"R1","suppressions":[],"message":{"text":"m"}}]`, nowhere + nowhere + "1 suppressed\n"},
		"absent since the baseline":    {`,"results":[{"ruleId":"R1","baselineState":"absent","message":{"text":"m"}}]`, ""},
		"a message of the rule":        {`,"results":[{"ruleId":"R1","message":{"id":"m","arguments":["logs","all"]}}]`, strings.Replace(nowhere, `"m"`, `"logs is open to all {x}"`, 1)},
		"too few arguments":            {`,"results":[{"ruleId":"R9","message":{"text":"{0} {1} {x}","arguments":["a"]}}]`, "warning scan R9 \"a {1} {x}\"\n"},
		"brackets without arguments":   {`,"results":[{"ruleId":"R9","message":{"text":"${x} {{y}} {0}"}}]`, "warning scan R9 \"${x} {{y}} {0}\"\n"},
		"an argument is no template":   {`,"results":[{"ruleId":"R9","message":{"text":"{0}","arguments":["{1}","b"]}}]`, "warning scan R9 \"{1}\"\n"},
		"no message":                   {`,"results":[{"ruleId":"R1","message":{"id":"?"}},{"ruleId":"","message":null}]`, strings.Replace(nowhere, `"m"`, `"Public bucket"`, 1) + "warning scan  \"no message\"\n"},
		"null everywhere":              {`,"results":[{"ruleId":null,"level":null,"locations":null,"message":{"text":"m","arguments":null},"suppressions":null,"properties":null}],"invocations":null,"artifacts":null`, "warning scan  \"m\"\n"},
		"controls and invalid text":    {`,"results":[{"ruleId":"R9","message":{"text":"a\u0000b\u001b[31m\r\nc\ud800d` + "\xff" + `"}}]`, "warning scan R9 \"a\ufffdb\\nc\ufffdd\ufffd\"\n"},

		"a file below the program's directory":   {result("main.tf"), fmt.Sprintf(findable, "live/net/main.tf")},
		"a file in another directory":            {result("../../modules/vpc/vpc.tf"), fmt.Sprintf(findable, "modules/vpc/vpc.tf")},
		"a file from the root":                   {result("modules/vpc/vpc.tf"), fmt.Sprintf(findable, "modules/vpc/vpc.tf")},
		"a file that is not there":               {result(".terraform/modules/x/main.tf"), fmt.Sprintf(findable, "live/net/.terraform/modules/x/main.tf")},
		"a space as it is":                       {result("my file.tf"), fmt.Sprintf(findable, "live/net/my file.tf")},
		"a space that is encoded":                {result("my%20file.tf"), fmt.Sprintf(findable, "live/net/my file.tf")},
		"a percent sign as it is":                {result("100%.tf"), fmt.Sprintf(findable, "live/net/100%.tf")},
		"a percent sign that is encoded":         {result("100%25.tf"), fmt.Sprintf(findable, "live/net/100%.tf")},
		"a name that looks encoded":              {result("a%2Fb.tf"), fmt.Sprintf(findable, "live/net/a%2Fb.tf")},
		"encoded once, not twice":                {result("%252e%252e/main.tf"), fmt.Sprintf(findable, "live/net/%2e%2e/main.tf")},
		"an absolute path":                       {result("/run/checkout/live/net/main.tf"), fmt.Sprintf(findable, "live/net/main.tf")},
		"an absolute address":                    {result("file:///run/checkout/live/net/my%20file.tf"), fmt.Sprintf(findable, "live/net/my file.tf")},
		"an address of this host":                {result("file://localhost/run/checkout/live/net/main.tf"), fmt.Sprintf(findable, "live/net/main.tf")},
		"above the repository":                   {result("../../../etc/passwd"), nowhere + "1 outside\n"},
		"above the repository, encoded":          {result("%2e%2e/%2e%2e/%2e%2e/etc/passwd"), nowhere + "1 outside\n"},
		"above the repository, by an address":    {result("file:///run/checkout/../secrets"), nowhere + "1 outside\n"},
		"beside the repository":                  {result("/run/checkout2/main.tf"), nowhere + "1 outside\n"},
		"the root itself":                        {result("/run/checkout"), nowhere + "1 outside\n"},
		"another host":                           {result("file://other/run/checkout/live/net/main.tf"), nowhere + "1 outside\n"},
		"another host without a scheme":          {result("//run/checkout/main.tf"), nowhere + "1 outside\n"},
		"another scheme":                         {result("https://example.com/main.tf"), nowhere + "1 outside\n"},
		"a disk of Windows":                      {result("C:/x/main.tf"), nowhere + "1 outside\n"},
		"a null character":                       {result("main.tf%00.png"), nowhere + "1 outside\n"},
		"a long name":                            {result(strings.Repeat("x/", 600)), nowhere + "1 outside\n"},
		"a base":                                 {result("main.tf")[:len(result("main.tf"))-2] + `}],"originalUriBaseIds":{"ROOT":{"uri":"file:///run/checkout/live/net/"}}`, fmt.Sprintf(findable, "live/net/main.tf")},
		"a base that is the root":                {strings.Replace(result("live/net/main.tf"), `"uri"`, `"uriBaseId":"ROOT","uri"`, 1) + `,"originalUriBaseIds":{"ROOT":{"uri":"file:///run/checkout/"}}`, fmt.Sprintf(findable, "live/net/main.tf")},
		"a base of a base":                       {strings.Replace(result("vpc.tf"), `"uri"`, `"uriBaseId":"VPC","uri"`, 1) + `,"originalUriBaseIds":{"VPC":{"uri":"vpc/","uriBaseId":"MODULES"},"MODULES":{"uri":"file:///run/checkout/modules/"}}`, fmt.Sprintf(findable, "modules/vpc/vpc.tf")},
		"a base of itself":                       {strings.Replace(result("main.tf"), `"uri"`, `"uriBaseId":"A","uri"`, 1) + `,"originalUriBaseIds":{"A":{"uri":"x/","uriBaseId":"B"},"B":{"uri":"y/","uriBaseId":"A"}}`, fmt.Sprintf(findable, "live/net/x/y/x/y/x/y/x/y/x/y/x/main.tf")},
		"a base without an address":              {strings.Replace(result("modules/vpc/vpc.tf"), `"uri"`, `"uriBaseId":"%SRCROOT%","uri"`, 1) + `,"originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"the root"}}}`, fmt.Sprintf(findable, "modules/vpc/vpc.tf")},
		"a base outside":                         {strings.Replace(result("passwd"), `"uri"`, `"uriBaseId":"A","uri"`, 1) + `,"originalUriBaseIds":{"A":{"uri":"file:///etc/"}}`, nowhere + "1 outside\n"},
		"an artifact by its index":               {`,"results":[{"ruleId":"R1","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"index":1},"region":{"startLine":1,"startColumn":0,"endLine":0}}}]}],"artifacts":[{},{"location":{"uri":"main.tf"}}]`, "error scan R1 live/net/main.tf:1.0-1.0 \"m\" (Public bucket) <https://example.com/R1>\n"},
		"a file without a line":                  {`,"results":[{"ruleId":"R1","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"main.tf"},"region":{"startLine":0,"endLine":7}}}]}]`, "error scan R1 live/net/main.tf:0.0-0.0 \"m\" (Public bucket) <https://example.com/R1>\n"},
		"lines that nobody can count":            {`,"results":[{"ruleId":"R1","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"main.tf"},"region":{"startLine":99999999999999999999,"endLine":-7}}}]}]`, "error scan R1 live/net/main.tf:0.0-0.0 \"m\" (Public bucket) <https://example.com/R1>\n"},
		"the first of several places":            {`,"results":[{"ruleId":"R1","message":{"text":"m"},"locations":[{"logicalLocations":[{"name":"a.b"}],"physicalLocation":{"artifactLocation":{"uri":"main.tf"},"region":{"startLine":1}}},{"physicalLocation":{"artifactLocation":{"uri":"b.tf"}}}]}]`, "error scan R1 live/net/main.tf:1.0-1.0 \"m\" (Public bucket) <https://example.com/R1>\n"},
		"a link that is none":                    {`,"results":[{"ruleId":"R3","level":"error","message":{"text":"m"}}]`, "error scan R3 \"m\"\n"},
		"a tool that failed":                     {`,"invocations":[{"executionSuccessful":false}]`, "problem \"The tool says that its run did not succeed.\"\n"},
		"a tool that says why it failed":         {`,"invocations":[{"executionSuccessful":false,"toolExecutionNotifications":[{"level":"error","message":{"text":"no network"}},{"level":"note","message":{"text":"x"}}],"toolConfigurationNotifications":[{"level":"error","message":{"text":"no rules"}}]}]`, "problem \"no network\"\nproblem \"no rules\"\n"},
		"a tool that fails in a thousand places": {`,"invocations":[{"toolExecutionNotifications":[` + strings.TrimSuffix(strings.Repeat(`{"level":"error","message":{"text":"x"}},`, 1000), ",") + `]}]`, strings.Repeat("problem \"x\"\n", 20) + "980 more problems\n"},
		"a help address with a word of Markdown": {`,"tool":{"driver":{"name":"scan","rules":[{"id":"Q","helpUri":"https://x)<img src=y>"}]}},"results":[{"ruleId":"Q","message":{"text":"m"}}]`, "warning scan Q \"m\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := oneRun(c.keys)
			if name == "results before the tool" {
				text = strings.Replace(`{"version":"2.1.0","runs":[{`+c.keys[1:]+`,`+text[len(`{"version":"2.1.0","runs":[{`):], c.keys+"}]}", "}]}", 1)
			}
			got, err := Read([]byte(text), at)
			if err != nil || got.Findings == nil {
				t.Fatalf("%v: %s", err, text)
			}
			if s := lined(got.Findings); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}
