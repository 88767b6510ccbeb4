package digests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *Record {
	return &Record{
		Origin:   Origin{Lineage: "l", Serial: 7, State: "s", Workspace: "default", Providers: map[string]string{"example.com/a/b": "1.2.3"}},
		FullRead: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Entries: map[string]Entry{
			"lab_thing.a":                         {Sum: Sum{1}, Settled: true},
			"module.m[\"x y\"].lab_thing.b[1000]": {Sum: Sum{2}},
			"data.lab_thing.c[\"a\\nb\"]":         {Sum: Sum{3}},
		},
	}
}

// TestEncodeDecode reads what was written, also without entries.
func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	for _, r := range []*Record{sample(), {Entries: map[string]Entry{}}} {
		got, err := Decode(r.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if !bytes.Equal(r.Encode(), got.Encode()) {
			t.Error("it is not the same when it is written again")
		}
	}
}

// TestDamage changes each byte of a record, cuts it at each place, and adds to it: nothing of that is read.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole := sample().Encode()
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		if r, err := Decode(changed); err == nil {
			t.Errorf("byte %d changed: %+v", i, r)
		}
		if _, err := Decode(whole[:i]); err == nil && i < len(whole)-1 {
			t.Errorf("cut at byte %d", i)
		}
	}
	for _, text := range []string{"", "\n", "{}", "sha256 ", "\nsha256 \n", string(whole) + "x", strings.Repeat("\n", 100)} {
		if r, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

// TestUnfit is the table of what makes a record useless. Whoever reads the reason knows what happened.
func TestUnfit(t *testing.T) {
	t.Parallel()
	r := sample()
	now := r.FullRead.Add(time.Hour)
	for _, c := range []struct {
		name string
		with func(*Origin, *time.Time)
		want string // part of the reason; "" if the record is used
	}{
		{"nothing has changed", func(*Origin, *time.Time) {}, ""},
		{"another state", func(o *Origin, _ *time.Time) { o.Lineage = "m" }, "another state"},
		{"a later state", func(o *Origin, _ *time.Time) { o.Serial++ }, "by another tool"},
		{"other bytes with the same serial", func(o *Origin, _ *time.Time) { o.State = "t" }, "by another tool"},
		{"another workspace", func(o *Origin, _ *time.Time) { o.Workspace = "prod" }, `workspace "default"`},
		{"an updated provider", func(o *Origin, _ *time.Time) { o.Providers = map[string]string{"example.com/a/b": "1.2.4"} }, "example.com/a/b was updated"},
		{"a further provider", func(o *Origin, _ *time.Time) {
			o.Providers = map[string]string{"example.com/a/b": "1.2.3", "example.com/a/c": "1.0.0"}
		}, ""},
		{"a clock that went back", func(_ *Origin, now *time.Time) { *now = now.Add(-2 * time.Hour) }, "in the future"},
		{"a clock that went ahead", func(_ *Origin, now *time.Time) { *now = now.Add(1e6 * time.Hour) }, ""},
	} {
		o, at := r.Origin, now
		c.with(&o, &at)
		got := r.Unfit(o, at)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestReasonsAreShort gives a file with long and hostile names: the reason stays one short line.
func TestReasonsAreShort(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Lineage = strings.Repeat("\x1b[31m\n", 1000)
	if got := r.Unfit(Origin{}, r.FullRead); len(got) > 400 || strings.ContainsAny(got, "\x1b\n") {
		t.Errorf("%q", got)
	}
}

// TestOtherFormat names both formats.
func TestOtherFormat(t *testing.T) {
	t.Parallel()
	b := sample().Encode()
	b = bytes.Replace(b, fmt.Appendf(nil, `"format":%d`, Format), []byte(`"format":99`), 1)
	at := bytes.LastIndex(b, []byte(lastLine))
	_, err := Decode(sealed(b[:at]))
	if err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample().Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		Decode(text)
		r, err := Decode(sealed(append(bytes.Clone(text), '\n')))
		if err != nil {
			return
		}
		again, err := Decode(r.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Error(diff)
		}
	})
}
