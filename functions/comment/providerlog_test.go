package comment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// TestProviderLog is a table of what providers log, and what people see of it: no secret in any form that package redacting finds, none split over
// lines, no control character, and nothing long.
func TestProviderLog(t *testing.T) {
	t.Parallel()
	var s redacting.Secrets
	s.Text("hunter2-swordfish")
	s.Text("Ünïcode pass")
	now := time.Date(2026, time.March, 2, 14, 2, 3, 0, time.UTC)
	for name, x := range map[string]struct{ logged, want []string }{
		"plain":             {[]string{"creating the bucket", "done"}, []string{"creating the bucket", "done"}},
		"a secret":          {[]string{"password hunter2-swordfish!", "b"}, []string{"password (sensitive value)!", "b"}},
		"escaped":           {[]string{`{"p":"\\u0068unter2-swordfish"}`}, []string{`{"p":"(sensitive value)"}`}},
		"base64":            {[]string{"aHVudGVyMi1zd29yZGZpc2g="}, []string{"(sensitive value)"}},
		"another case":      {[]string{"HUNTER2-SWORDFISH"}, []string{"(sensitive value)"}},
		"two lines":         {[]string{"hunter2-", "swordfish"}, []string{SplitSecret, SplitSecret}},
		"three lines":       {[]string{"a", "hunt", "er2-sword", "fish"}, []string{SplitSecret, SplitSecret, SplitSecret, SplitSecret}},
		"with line ends":    {[]string{"hunter2-\nswordfish"}, []string{"(sensitive value)"}},
		"invisible":         {[]string{"hunter2\u200b-swordfish"}, []string{"(sensitive value)"}},
		"terminal":          {[]string{"\x1b[31mred\x1b[0m \x07\u202eback"}, []string{"[31mred[0m back"}},
		"markup":            {[]string{"<script>alert(1)</script> ``` | @all"}, []string{"<script>alert(1)</script> ``` | @all"}},
		"long":              {[]string{strings.Repeat("é", 400)}, []string{strings.Repeat("é", 148) + "…"}},
		"a secret at a cut": {[]string{strings.Repeat("x ", 145) + "hunter2-swordfish"}, []string{strings.Repeat("x ", 145) + "(sensit…"}},
		"too long":          {[]string{strings.Repeat("x", MaxLogText+1), "b"}, []string{"b"}},
		"not UTF-8":         {[]string{"a\xffb"}, []string{"ab"}},
	} {
		var o Ongoing
		for _, text := range x.logged {
			o.Log = append(o.Log, LogLine{now.Add(time.Hour), "info", "aws\x1b " + strings.Repeat("y", 100), text})
		}
		var got []string
		for _, l := range o.Bounded(now, s.From).Log {
			if got = append(got, l.Text); len(l.From) > 60 || strings.ContainsRune(l.From, 0x1b) || l.At.After(now) {
				t.Errorf("%s: %q at %s", name, l.From, l.At)
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	flood := Ongoing{Unlogged: -1}
	for i := range 100_000 {
		flood.Log = append(flood.Log, LogLine{now, map[bool]string{true: "info", false: "<b>"}[i%2 == 0], "", fmt.Sprint(i)})
	}
	if got := flood.Bounded(now, s.From); len(got.Log) > MaxLogLines || len(got.Log) == 0 || got.Log[len(got.Log)-1].Text != "99998" || got.Unlogged != 0 {
		t.Errorf("%d lines", len(got.Log))
	}
	if got, want := (LogLine{now, "warn", "aws", "slow"}).String(), "14:02:03 WARN aws: slow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
