package jsonscan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
)

// walk prints a value in a notation of its own: objects as {name=value ...}, lists as
// [value ...], strings decoded between slashes, all else as it is spelt.
func walk(s *jsonscan.Scanner, b *strings.Builder) error {
	separated := func(value func() error) func() error {
		first := true
		return func() error {
			if !first {
				b.WriteByte(' ')
			}
			first = false
			return value()
		}
	}
	switch s.Next() {
	case '{':
		b.WriteByte('{')
		var name string
		member := separated(func() error {
			b.WriteString(name + "=")
			return walk(s, b)
		})
		err := s.Object(func(n []byte) error {
			name = string(n)
			return member()
		})
		b.WriteByte('}')
		return err
	case '[':
		b.WriteByte('[')
		err := s.Array(separated(func() error { return walk(s, b) }))
		b.WriteByte(']')
		return err
	case '"':
		text, err := s.Quoted()
		fmt.Fprintf(b, "/%s/", text)
		return err
	}
	raw, err := s.Raw()
	b.Write(raw)
	return err
}

func TestScanner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{` { "a" : [ 1 , -0.5e+3 ] , "b":{} } `, `{a=[1 -0.5e+3] b={}}`},
		{`["", "x", "a\u00e9\n", null, true, false]`, "[// /x/ /aé\n/ null true false]"},
		{`{"\u0061": 0}`, `{a=0}`},
		{"[1,\n 2", "line 2, column 3: the text ends where a comma or ] is expected (cut off)"},
		{"{\"a\":\n  01}", "line 2, column 4: a comma or } is expected, not '1'"},
		{`{"a":1,}`, `line 1, column 8: a name in quotes is expected, not '}'`},
		{`[1,]`, `line 1, column 4: a value is expected, not ']'`},
		{`nul`, `line 1, column 4: the text ends where null is expected (cut off)`},
		{`"\x"`, `line 1, column 3: an escape sequence is expected, not 'x'`},
		{"\"\x1f\"", `line 1, column 2: a string has a control character that is not escaped`},
		{`1 2`, `line 1, column 3: the end of the text is expected, not '2'`},
		{`-`, `line 1, column 2: the text ends where a digit is expected (cut off)`},
		{strings.Repeat("[", 10001), `line 1, column 10001: values nest deeper than 10000`},
	} {
		s := jsonscan.New([]byte(c.text))
		var b strings.Builder
		err := walk(&s, &b)
		if err == nil {
			err = s.End()
		}
		got := b.String()
		if err != nil {
			got = err.Error()
			if err.(*jsonscan.Error).Truncated {
				got += " (cut off)"
			}
		}
		if got != c.want {
			t.Errorf("%.40q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestAgain looks at a value twice, and goes on behind it.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`[7, 8]`))
	var got []int64
	err := s.Array(func() error {
		s.Next()
		start := s.Pos()
		if err := s.Skip(); err != nil {
			return err
		}
		return s.Again(start, func() error {
			n, err := s.Integer("a number")
			got = append(got, n)
			return err
		})
	})
	if err != nil || s.End() != nil || fmt.Sprint(got) != "[7 8]" {
		t.Error(got, err)
	}
}
