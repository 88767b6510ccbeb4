package toolresults

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
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
	x := &junitReader{reader: r, dec: xml.NewDecoder(bytes.NewReader(r.output)), out: &Tests{}}
	x.dec.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its encoding is %.20q, and Lockstep reads UTF-8. Choose that encoding in the options of the tool", name)
	}
	for {
		t, err := x.dec.Token()
		if errors.Is(err, io.EOF) && x.roots > 0 && len(x.open) == 0 {
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
	return x.out, nil
}

// A junitReader reads one JUnit file.
type junitReader struct {
	*reader
	dec   *xml.Decoder
	out   *Tests
	roots int
	open  []string    // the names of the elements around the present place
	suite []openSuite // the suites among them
	test  *Case       // the present test case
	bad   bool        // the present test case did not pass
	text  *strings.Builder
}

// An openSuite is a suite that is being read. stated are the numbers of its attributes.
type openSuite struct {
	Suite
	stated TestCounts
}

// token reads a part of the file.
func (x *junitReader) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if len(x.open) == 0 {
			if x.roots++; t.Name.Local != "testsuites" && t.Name.Local != "testsuite" {
				if x.Format == Detect {
					return errOther
				}
				return fmt.Errorf("its first element is %.40q, and not testsuites or testsuite", t.Name.Local)
			}
		}
		if x.open = append(x.open, t.Name.Local); len(x.open) > maxDepth {
			return fmt.Errorf("more than %d elements are nested", maxDepth)
		}
		x.start(t.Name.Local, attributes(t.Attr))
	case xml.EndElement:
		x.open = x.open[:len(x.open)-1]
		x.end(t.Name.Local)
	case xml.CharData:
		if x.text != nil && x.text.Len() < maxFill {
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
func (x *junitReader) start(name string, is map[string]string) {
	switch name {
	case "testsuite":
		s := openSuite{Suite: Suite{Name: x.cut(is["name"], maxName), Time: seconds(is["time"])}}
		s.stated = TestCounts{count(is["tests"]), count(is["failures"]), count(is["errors"]), count(is["skipped"])}
		x.suite = append(x.suite, s)
	case "testcase":
		x.test, x.bad = &Case{Class: x.cut(is["classname"], maxName), Name: x.cut(is["name"], maxName)}, false
		if n := len(x.suite); n > 0 {
			x.test.Suite = x.suite[n-1].Name
			x.suite[n-1].Tests++
		}
		x.place(is["file"], is["line"])
	case "failure", "error":
		if x.test == nil || x.bad {
			return
		}
		x.bad = true
		x.test.Error = name == "error"
		x.test.Message = x.cut(short(is["message"]), maxMessage)
		x.text = &strings.Builder{}
		if n := len(x.suite); n > 0 && x.test.Error {
			x.suite[n-1].Errors++
		} else if n > 0 {
			x.suite[n-1].Failures++
		}
	case "skipped":
		if n := len(x.suite); n > 0 && x.test != nil && !x.bad {
			x.suite[n-1].Skipped++
		}
	}
}

// end reads the end of an element.
func (x *junitReader) end(name string) {
	switch name {
	case "failure", "error":
		if x.text == nil {
			return
		}
		text := x.text.String()
		if x.text = nil; len(text) >= maxFill {
			text = short(text + " ")
		}
		if x.test.Message == "" {
			x.test.Message = x.cut(text, maxMessage)
		}
	case "testcase":
		if x.bad && len(x.out.Failed) < MaxFailed {
			if x.test.File == "" {
				if m := prefixed.FindStringSubmatch(x.test.Message); m != nil {
					x.place(m[1], m[2])
				}
			}
			x.out.Failed = append(x.out.Failed, *x.test)
		}
		x.test, x.bad = nil, false
	case "testsuite":
		n := len(x.suite) - 1
		s := x.suite[n]
		x.suite = x.suite[:n]
		if s.Tests == 0 { // some tools write only the numbers
			s.TestCounts = s.stated
		}
		if s.Tests == 0 && s.Failures+s.Errors == 0 {
			return // it has suites, or nothing
		}
		x.out.TestCounts.add(s.TestCounts)
		if len(x.out.Suites) < MaxSuites {
			x.out.Suites = append(x.out.Suites, s.Suite)
		} else {
			x.out.MoreSuites++
		}
	}
}

// prefixed matches messages that begin with a place, such as "main.tf:3,1-20: ...".
var prefixed = regexp.MustCompile(`^([^\s:]{1,300}):([0-9]{1,7})[:,]`)

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
var duration = regexp.MustCompile(`^[0-9][0-9,]{0,20}(\.[0-9]{1,20})?$`)

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
