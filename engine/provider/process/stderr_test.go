package process

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLogLines holds that go-plugin gets a plugin's standard error unchanged. Only JSON objects that are no log lines get a mark.
func TestLogLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10)
	for name, x := range map[string]struct{ wrote, want string }{
		"nothing":           {"", ""},
		"text":              {"a\nb", "a\nb"},
		"a log":             {`{"@level":"info","@message":"m","n":7}` + "\n", `{"@level":"info","@message":"m","n":7}` + "\n"},
		"with a time":       {`{"@level":"info","@message":"m","@timestamp":"2026-01-02T03:04:05Z"}` + "\n", `{"@level":"info","@message":"m","@timestamp":"2026-01-02T03:04:05Z"}` + "\n"},
		"another object":    {`{"n":7}` + "\nnext\n", `? {"n":7}` + "\nnext\n"},
		"without a level":   {` {"@message":"m"}`, `?  {"@message":"m"}`},
		"without a message": {`{"@level":"info"}` + "\r\n", `? {"@level":"info"}` + "\r\n"},
		"a list":            {`[{"n":7}]` + "\n", `[{"n":7}]` + "\n"},
		"half of an object": {`{"n":` + "\n", `{"n":` + "\n"},
		"long":              {long + `{"n":7}` + "\nb", long + `{"n":7}` + "\nb"},
		"other spellings":   {`{"\u0040level":"info","\u0040message":"m"}` + "\n", `{"\u0040level":"info","\u0040message":"m"}` + "\n"},
	} {
		got, err := io.ReadAll(iotest.OneByteReader(newLogLines(io.NopCloser(iotest.HalfReader(strings.NewReader(x.wrote))))))
		if err != nil || string(got) != x.want {
			t.Errorf("%s: %.80q, want %.80q, %v", name, got, x.want, err)
		}
	}
}
