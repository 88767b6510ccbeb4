package toolresults

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/internal/lazyregexp"
)

// checkXML returns an error for XML with a long tag, or a long text between two tags. A decoder would keep each as a
// whole, with a large value for each attribute.
func checkXML(data []byte) error {
	for at := 0; at < len(data); {
		n := bytes.IndexAny(data[at:], "<>")
		if n < 0 {
			n = len(data) - at
		}
		if n > maxTag {
			return fmt.Errorf("a tag or text at byte %d is longer than %d MB", at, maxTag>>20)
		}
		at += n + 1
	}
	return nil
}

const maxTag = 1 << 20 // bytes

// junit reads JUnit's XML: suites, with their test cases.
func (r *reader) junit() (*Tests, error) {
	if err := checkXML(r.output); err != nil {
		return nil, err
	}
	x := &junitReader{reader: r, dec: xml.NewDecoder(bytes.NewReader(r.output)), out: &Tests{}, suites: make([]openSuite, 1)}
	x.dec.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its encoding is %.20q, and Lockstep reads UTF-8. Choose that encoding in the options of the tool", name)
	}
	for {
		t, err := x.dec.Token()
		if errors.Is(err, io.EOF) && x.roots > 0 && x.depth == 0 {
			break
		}
		if errors.Is(err, io.EOF) {
			err = errEnd
		}
		if err == nil {
			err = x.token(t)
		}
		if err != nil {
			return nil, err
		}
	}
	if x.roots > 1 {
		return nil, errors.New("it has several elements at its root")
	}
	x.close() // test cases outside of all suites
	return x.out, nil
}

// A junitReader reads one JUnit file.
type junitReader struct {
	*reader
	dec    *xml.Decoder
	out    *Tests
	roots  int
	depth  int         // of the present element
	suites []openSuite // the suites around the present place; the first one is for test cases outside of all suites
	test   *Case       // the present test case
	bad    bool        // the present test case did not pass
	text   *strings.Builder
}

// An openSuite is a suite that is being read. stated are the numbers of its attributes. outer is set if the suite
// contains other suites.
type openSuite struct {
	Suite
	stated TestCounts
	outer  bool
}

// token reads a part of the file.
func (x *junitReader) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if x.depth == 0 {
			if x.roots++; t.Name.Local != "testsuites" && t.Name.Local != "testsuite" {
				if x.Format == Detect {
					return errOther
				}
				return fmt.Errorf("its first element is %.40q, and not testsuites or testsuite", t.Name.Local)
			}
		}
		if x.depth++; x.depth > maxDepth {
			return fmt.Errorf("more than %d elements are nested", maxDepth)
		}
		return x.start(t.Name.Local, attributes(t.Attr))
	case xml.EndElement:
		x.depth--
		x.end(t.Name.Local)
	case xml.CharData:
		if x.text != nil && x.text.Len() <= maxFill {
			x.text.Write(t)
		}
	}
	return nil
}

// attributes returns the attributes of an element by their names.
func attributes(all []xml.Attr) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		out[a.Name.Local] = a.Value
	}
	return out
}

// start reads the beginning of an element.
func (x *junitReader) start(name string, is map[string]string) error {
	suite := &x.suites[len(x.suites)-1]
	switch name {
	case "testsuite":
		suite.outer = true
		s := openSuite{Suite: Suite{Name: x.cut(is["name"], maxName), Time: seconds(is["time"])}}
		s.stated = TestCounts{count(is["tests"]), count(is["failures"]), count(is["errors"]), count(is["skipped"])}
		x.suites = append(x.suites, s)
	case "testcase":
		if x.test != nil {
			return errors.New("a test case is inside of another one")
		}
		x.test, x.bad = &Case{Suite: suite.Name, Class: x.cut(is["classname"], maxName), Name: x.cut(is["name"], maxName)}, false
		suite.Tests++
		x.place(is["file"], is["line"])
	case "failure", "error":
		switch {
		case x.test == nil:
			return fmt.Errorf("an element %s is outside of a test case", name)
		case x.bad:
			return nil
		}
		x.bad, x.text = true, &strings.Builder{}
		if is["message"] != "Failed" { // go-junit-report writes that for each failure
			x.test.Message = x.cut(short(is["message"]), maxMessage)
		}
		if x.test.Error = name == "error"; x.test.Error {
			suite.Errors++
		} else {
			suite.Failures++
		}
	case "skipped":
		if x.test != nil && !x.bad {
			suite.Skipped++
		}
	}
	return nil
}

// end reads the end of an element.
func (x *junitReader) end(name string) {
	switch name {
	case "failure", "error":
		if x.text == nil {
			return
		}
		text := x.text.String()
		if x.text = nil; x.test.Message == "" {
			x.test.Message = x.cut(short(text), maxMessage)
		}
	case "testcase":
		if x.bad && len(x.out.Failed) < MaxFailed {
			if m := prefixed.FindStringSubmatch(x.test.Message); m != nil && x.test.File == "" {
				x.place(m[1], m[2])
			}
			x.out.Failed = append(x.out.Failed, *x.test)
		}
		x.test, x.bad = nil, false
	case "testsuite":
		x.close()
	}
}

// close adds the innermost suite to the result. Some tools write only the numbers of a suite, without test cases.
func (x *junitReader) close() {
	n := len(x.suites) - 1
	s := x.suites[n]
	x.suites = x.suites[:n]
	if s.Tests == 0 && !s.outer {
		s.TestCounts = s.stated
	}
	if s.TestCounts == (TestCounts{}) {
		return
	}
	x.out.TestCounts.add(s.TestCounts)
	if len(x.out.Suites) < MaxSuites {
		x.out.Suites = append(x.out.Suites, s.Suite)
	} else {
		x.out.MoreSuites++
	}
}

// prefixed matches messages that begin with a place, such as "main.tf:3,1-20: ...".
var prefixed = lazyregexp.New(`^([^:\n]{1,300}):([0-9]{1,7})[:,]`)

// place sets the file of the present test case, if there is one of this name.
func (x *junitReader) place(file, line string) {
	name, ok := x.pathOf(artifact{uri: file}, nil)
	if !ok || !x.exists(name) || x.clean(name) != name {
		return
	}
	x.test.File, x.test.Line = name, count(line)
}

// count reads a natural number; 0 if there is none.
func count(text string) int {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// duration matches times in seconds. Some tools write 1,234.5 for large ones.
var duration = lazyregexp.New(`^[0-9][0-9,]{0,20}(\.[0-9]{1,20})?$`)

// seconds reads a time in seconds; 0 if there is none.
func seconds(text string) time.Duration {
	if !duration.MatchString(text) {
		return 0
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || n > 1e9 {
		return 0
	}
	return time.Duration(math.Round(n*1e3)) * time.Millisecond
}
