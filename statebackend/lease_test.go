package statebackend

import (
	"testing"
	"time"
)

func TestLeaseEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		lease Lease
		want  time.Time
	}{
		{"renewed", Lease{Term: Term{Until: at}}, at.Add(Grace)},
		{"until the end of the process", Lease{Term: Term{Until: at, HardStop: at.Add(time.Hour)}}, at.Add(time.Hour + Grace)},
		{"beyond the end of the process", Lease{Term: Term{Until: at.Add(time.Hour), HardStop: at}}, at.Add(time.Hour + Grace)},
		{"released", Lease{Term: Term{Until: at}, Released: true}, time.Time{}},
	} {
		if got := c.lease.End(); !got.Equal(c.want) {
			t.Errorf("%s: the end is %s, want %s", c.name, got, c.want)
		}
		if c.lease.Over(c.want) || !c.lease.Over(c.want.Add(1)) {
			t.Errorf("%s: over at %s: %v, then: %v", c.name, c.want, c.lease.Over(c.want), c.lease.Over(c.want.Add(1)))
		}
	}
}

func TestLeaseInfo(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		info, where, run string // "": no lease of ours at that place
	}{
		{LeaseInfo("", "run-1", ""), "", "run-1"},
		{LeaseInfo("for you; Lockstep run x: y", "run-1", ""), "", "run-1"},
		{LeaseInfo("", "run-1", "lock table locks"), "lock table locks", "run-1"},
		{LeaseInfo("", "run-1", "lock table locks"), "", ""},
		{LeaseInfo("", "run-1", "lock table locks"), "lock table other", ""},
		{LeaseInfo("", "run-1", ""), "lock table locks", ""},
		{"", "", ""},
		{"Lockstep run run-1", "", ""},
		{LeaseInfo("", "run-1", "") + " or else", "", ""},
		{"for you: recover with `lockstep recover`, do not force-unlock", "", ""},
	} {
		l := IncompleteLease(LockInfo{ID: "id", Info: c.info, Created: made}, c.where)
		switch {
		case (l == nil) != (c.run == ""):
			t.Errorf("%q at %q: %+v, want run %q", c.info, c.where, l, c.run)
		case l != nil && (l.Run != c.run || l.Lock != "id" || l.Complete() || !l.End().Equal(made.Add(FirstLease+Grace))):
			t.Errorf("%q at %q: %+v", c.info, c.where, l)
		}
	}
	if l := IncompleteLease(LockInfo{Info: LeaseInfo("", "run-1", "")}, ""); l != nil {
		t.Errorf("a lock without an ID: %+v", l)
	}
}

// TestWithLease holds that a lease comes back from the Info of its lock, and none from any other text.
func TestWithLease(t *testing.T) {
	t.Parallel()
	plain := LockInfo{ID: "id", Who: "me", Info: LeaseInfo("for you", "run-1", "")}
	lease := Lease{Lock: "id", Fence: 1, Holder: "h"}.As(Term{Run: "run-1", Until: time.Unix(1, 0)})
	with := plain.WithLease(lease)
	if info, got := with.SplitLease(); info != plain || got == nil || *got != lease {
		t.Errorf("%+v, %+v", info, got)
	}
	stored, err := ParseLockInfo(with.Marshal())
	if err != nil || stored != with {
		t.Errorf("stored: %+v, %v", stored, err)
	}
	other, none := lease, lease
	other.Lock, none.Fence = "other", 0
	for name, info := range map[string]LockInfo{
		"no lease":            plain,
		"damaged":             {ID: "id", Info: with.Info[:len(with.Info)-1]},
		"of another lock":     plain.WithLease(other),
		"of nobody":           plain.WithLease(none),
		"words of others":     {ID: "id", Info: "what. The lease: " + string(lease.Marshal())},
		"an incomplete lease": {ID: "id", Info: LeaseInfo("", "run-1", "lock table locks")},
	} {
		if got, l := info.SplitLease(); l != nil || got != info {
			t.Errorf("%s: %+v, %+v", name, got, l)
		}
	}
}

func FuzzParseLease(f *testing.F) {
	f.Add(Lease{Lock: "id", Fence: 1, Holder: "h"}.As(Term{Run: "r", Until: time.Unix(1, 0)}).Marshal())
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLease(data)
		if err != nil || l.Until.Year() > 9999 || l.HardStop.Year() > 9999 || l.Until.Year() < 0 || l.HardStop.Year() < 0 {
			return
		}
		again, err := ParseLease(l.Marshal())
		if err != nil || !again.Until.Equal(l.Until) || !again.HardStop.Equal(l.HardStop) || !again.SameHolder(l) || again.Nonce != l.Nonce {
			t.Errorf("%s\nbecomes %+v, %v", data, again, err)
		}
	})
}
