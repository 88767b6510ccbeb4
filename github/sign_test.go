package github

import (
	"crypto/rand"
	"crypto/rsa"
	"testing"
	"time"
)

// TestProofs holds how long a proof of the App's identity is used: each is good for some minutes more, by clocks that
// differ by a minute.
func TestProofs(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name  string
		later time.Duration
		renew bool
		same  bool
	}{
		{"at once", 0, false, true},
		{"after minutes", 5*time.Minute - time.Second, false, true},
		{"near its end", 5 * time.Minute, false, false},
		{"after its end", time.Hour, false, false},
		{"GitHub refused it", time.Second, true, false},
		{"the clock was set back", -time.Second, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			sign := signer(1, key)
			first, err := sign(start, false)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sign(start.Add(test.later), test.renew)
			if err != nil || (again.reveal() == first.reveal()) != test.same {
				t.Errorf("the same proof: %v (%v)", !test.same, err)
			}
			if next, _ := sign(start.Add(test.later), false); next.reveal() != again.reveal() {
				t.Error("the last one is not kept")
			}
		})
	}
}
