package ratelimits

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPace tells comments by their minutes, in the order of their coming, and what is
// done about each: "+" it is carried out, "!" it is said that it is too much, "-" it is
// passed over. Two of a person are carried out within the hour. "a=5" has a name of its
// own: the same one may come again.
func TestPace(t *testing.T) {
	start := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for story, free := range map[string]int{
		"0+ 10+":                         60,
		"0+ 10+ 20! 30- 40-":             60,
		"0+ 10+ 59! 60+ 65- 70+":         120,
		"0+ 10+ 20! 60+ 61- 70+ 79- 80!": 120,
		"0+ 10+ 60+ 70+ 71! 72-":         120,
		"0+ 1+ 2! 60+ 61+ 61.5- 62!":     120,
		"a=0+ 10+ a=0+ 20! a=0+ 30-":     60,
		"0+ 10+ b=20! b=20! 30- b=20!":   60,
		"10+ 0+ 5! 6-":                   60, // late
	} {
		var p Pace
		for i, word := range strings.Fields(story) {
			want := map[byte]Admission{'+': Admitted, '!': TooMany, '-': Ignored}[word[len(word)-1]]
			name, minute, named := strings.Cut(word[:len(word)-1], "=")
			if !named {
				name, minute = fmt.Sprint(i), name
			}
			after, err := time.ParseDuration(minute + "m")
			if err != nil {
				t.Fatal(err)
			}
			var got Admission
			if p, got = p.Next(Asked{name, start.Add(after)}, 2); got != want {
				t.Errorf("%s: at %s: %s, want %s", story, word, got, want)
			}
		}
		if len(p.Asked) > 2 {
			t.Errorf("%s: %d are kept", story, len(p.Asked))
		}
		if got := p.Free().Sub(start); got != time.Duration(free)*time.Minute {
			t.Errorf("%s: free after %s, want %d minutes", story, got, free)
		}
	}
}
