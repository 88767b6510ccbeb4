package changing

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/render"
)

// The elements of a JUnit XML file, as Terraform writes them.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Cases    []junitCase
	}
	junitCase struct {
		XMLName   xml.Name   `xml:"testcase"`
		Name      string     `xml:"name,attr"`
		Classname string     `xml:"classname,attr"`
		Time      string     `xml:"time,attr,omitempty"`
		Timestamp string     `xml:"timestamp,attr,omitempty"`
		Failure   *junitText `xml:"failure"`
		Error     *junitText `xml:"error"`
		Skipped   *junitText `xml:"skipped"`
		Errors    *junitText `xml:"system-err"`
	}
	junitText struct {
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// junit returns the results of tests in the JUnit XML format.
func junit(list []events.TestFileResult, sources func(diags.Diagnostics) map[string]*hcl.File) []byte {
	var all junitSuites
	for _, f := range list {
		s := junitSuite{Name: f.File.Name, Tests: len(f.Runs)}
		for _, r := range f.Runs {
			c := junitCase{Name: r.Run.Name, Classname: f.File.Name}
			if !r.Started.IsZero() {
				c.Time, c.Timestamp = fmt.Sprintf("%.3f", r.Elapsed.Seconds()), r.Started.UTC().Format(time.RFC3339)
			}
			text := plainText(r.Diagnostics, sources(r.Diagnostics))
			switch r.Status {
			case events.TestFail:
				s.Failures++
				c.Failure = &junitText{fmt.Sprintf("%d of %d assertions failed: %s", r.Failed, len(r.Run.Asserts), strings.Join(r.Messages(), "; ")), text}
			case events.TestError:
				s.Errors++
				c.Error = &junitText{"Encountered an error", text}
			case events.TestSkip, events.TestPending:
				s.Skipped++
				c.Skipped = &junitText{"Testcase skipped due to a previous testcase error", "An earlier run of this file had an error, or the test was interrupted."}
			default:
				if text != "" {
					c.Errors = &junitText{Text: text}
				}
			}
			s.Cases = append(s.Cases, c)
		}
		all.Suites = append(all.Suites, s)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("test results cannot be encoded: %v", err))
	}
	return append([]byte(strings.TrimSuffix(xml.Header, "\n")), append(data, '\n')...)
}

// plainText returns diagnostics as text for people.
func plainText(ds diags.Diagnostics, files map[string]*hcl.File) string {
	p := &render.Printer{Width: 78}
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(p.Diagnostic(d, files))
	}
	return b.String()
}
