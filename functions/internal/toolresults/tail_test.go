package toolresults

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTail is a table of outputs, and of what is shown of them.
func TestTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*tailRead)
	var numbered strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&numbered, "line", i)
	}
	for name, c := range map[string]struct {
		output, want string
		lines        int
	}{
		"nothing":                 {"", "", 0},
		"blank":                   {"\n \r\n\n", "", 0},
		"a line":                  {"ok\n", "ok", 0},
		"colours":                 {"\x1b[31;1mError\x1b[0m: \x1b]0;title\x07no\x1b[2K\n", "Error: no", 0},
		"an overwritten line":     {"10%\r50%\r100%\r\ndone", "100%\ndone", 0},
		"a secret":                {"x hunter2 y", "x (hidden) y", 0},
		"a secret with a colour":  {"x hun\x1b[1mter2 y", "x (hidden) y", 0},
		"a secret, overwritten":   {"hunter2\rdone", "done", 0},
		"invalid text":            {"a\x00b\xffc\u202e", "a\ufffdb\ufffdc\u202e", 0},
		"an escape without end":   {"\x1b[31", "\ufffd[31", 0},
		"a line without end":      {long, "(a line is longer than 128 KB)", -1},
		"a last line without end": {"a\n" + long, "(a line is longer than 128 KB)", -1},
		"a long line":             {"a\n" + strings.Repeat("ä", 1000), "a\n" + strings.Repeat("ä", 248) + "…", 0},
	} {
		text, lines := Tail([]byte(c.output), func(s string) string { return strings.ReplaceAll(s, "hunter2", "(hidden)") })
		if text != c.want || lines != c.lines {
			t.Errorf("%s: %q, %d", name, text, lines)
		}
	}
	text, lines := Tail([]byte(numbered.String()), nil)
	if n := strings.Count(text, "\n") + 1; n != MaxTailLines || lines != 100_000-n || !strings.HasSuffix(text, "\nline 99999") {
		t.Errorf("%d lines, %d before", n, lines)
	}
	// A secret that begins before the part that is looked at is not shown in part.
	text, _ = Tail([]byte(strings.Repeat("hunter2", tailRead/7+3)+"\nend"), func(s string) string { return strings.ReplaceAll(s, "hunter2", "") })
	if text != "end" {
		t.Errorf("%q", text)
	}
}

// FuzzTail holds that a tail is valid, short, and has no escapes.
func FuzzTail(f *testing.F) {
	f.Add([]byte("a\r\x1b[1mb\nc"))
	f.Fuzz(func(t *testing.T, output []byte) {
		text, _ := Tail(output, nil)
		if !utf8.ValidString(text) || len(text) > maxTail || strings.Count(text, "\n") >= MaxTailLines || strings.ContainsAny(text, "\x1b\r\x00") {
			t.Fatalf("%q", text)
		}
	})
}

// TestReadable holds that a text is redacted as a whole, and that its cut shows no part of a secret.
func TestReadable(t *testing.T) {
	t.Parallel()
	secret := "begin " + strings.Repeat("sssssss\n", 125) + " end"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "(hidden)") }
	filler := func(n int) string { return strings.Repeat("0123456789abcde\n", n/16) }
	for name, c := range map[string]struct {
		output, want string
		cut          bool
	}{
		"nothing":                    {"", "", false},
		"text":                       {"\x1b[1ma\x1b[0m\r\nb\xff\n", "a\nb\ufffd\n", false},
		"a secret":                   {"a\n" + secret + "\nb\n", "a\n(hidden)\nb\n", false},
		"a long output":              {"first\n" + filler(MaxKept+maxSecret+1<<20), filler(MaxKept - 16), true},
		"a little long":              {"first\n" + filler(MaxKept), filler(MaxKept - 16), true},
		"one line":                   {strings.Repeat("ä", MaxKept), strings.Repeat("ä", MaxKept/2), true},
		"half a secret, and colours": {"first\n" + secret + strings.Repeat("\x1b[1m", 1<<16) + filler(MaxKept+maxSecret-4<<16-496), filler(MaxKept - 4<<16 - 496), true},
		"a secret, half":             {"first\n" + secret + filler(MaxKept+maxSecret-500), filler(MaxKept - 16), true},
	} {
		text, cut := Readable([]byte(c.output), redact)
		if strings.Contains(text, "sss") || cut != c.cut || len(text) > MaxKept || text != c.want && len(c.want) < 100 || abs(len(text)-len(c.want)) > 1000 {
			t.Errorf("%s: %d bytes instead of %d, %t: %.100q", name, len(text), len(c.want), cut, text)
		}
	}
}

func abs(n int) int { return max(n, -n) }
