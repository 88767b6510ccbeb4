package statebackend

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Term is a lease as the holder of a lock asks for it.
type Term struct {
	// Run is the run that the holder works for. Processes that continue one run one after the
	// other have the same.
	Run string `json:"run"`
	// Until is the moment, by the wall clock, after which the holder begins nothing, unless it has
	// renewed the lease before.
	Until time.Time `json:"until"`
	// HardStop is a moment at which the process ends whatever it does, such as the end of a
	// function's invocation; zero if there is none.
	HardStop time.Time `json:"hardStop,omitzero"`
}

// A Lease is the promise of a lock's holder to be gone at a certain time. It stands beside the
// LockInfo, which stock tools read and which never changes.
type Lease struct {
	Term
	// Lock is the ID of the lock.
	Lock string `json:"lock"`
	// Fence counts the holders of the lock: the first has 1, and each takeover adds 1. It is 0 for
	// a lock that was taken or released in part only, so that nobody holds it: see [HeldLock].
	Fence uint64 `json:"fence"`
	// Holder is a random ID of the value that has taken the lock, or taken it over: two processes
	// of one run have two.
	Holder string `json:"holder"`
	// Released is set before a lock is released.
	Released bool `json:"released,omitempty"`
	// Nonce is another one in each write, so that no two leases that were ever stored are equal.
	Nonce string `json:"nonce"`
}

// Grace is added to the end of each lease, for clocks that differ and requests that are under way.
const Grace = 15 * time.Second

// FirstLease is the time in which a lock must be complete, with its lease, from its Created on. A
// Lock that takes longer fails. So an incomplete lock that is older, and Grace, is nobody's.
const FirstLease = 60 * time.Second

// End returns the moment from which on the lock may be taken over.
func (l Lease) End() time.Time {
	if l.Released {
		return time.Time{}
	}
	end := l.Until
	if l.HardStop.After(end) {
		end = l.HardStop
	}
	return end.Add(Grace)
}

// Over reports whether the holder is gone at that time, if clocks can be trusted.
func (l Lease) Over(now time.Time) bool { return now.After(l.End()) }

// Complete reports whether somebody holds the lock, or did until his death. A lock that is not
// complete is released by its ID, not taken over.
func (l Lease) Complete() bool { return l.Fence > 0 && !l.Released }

// SameHolder reports whether two leases are of the same holding of a lock.
func (l Lease) SameHolder(x Lease) bool {
	return l.Lock == x.Lock && l.Fence == x.Fence && l.Holder == x.Holder
}

// As returns the lease with other ends, as it is to be stored next.
func (l Lease) As(t Term) Lease {
	l.Term, l.Nonce = t, NewLockID()
	l.Until, l.HardStop = l.Until.UTC().Round(0), l.HardStop.UTC().Round(0)
	return l
}

// Marshal returns the JSON that is stored.
func (l Lease) Marshal() []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("statebackend: lease of %s: %v", l.Lock, err)) // only a year beyond 9999
	}
	return b
}

// ParseLease reads the JSON of Marshal.
func ParseLease(b []byte) (Lease, error) {
	var l Lease
	if err := json.Unmarshal(b, &l); err != nil {
		return Lease{}, fmt.Errorf("not a lease: %w", err)
	}
	return l, nil
}

// Leased is a workspace whose locks can carry a lease, so that the lock of a dead process can be
// taken over without a person. It is implemented where a lock outlives its process, and a write
// can be conditional: a lock of the operating system needs no lease.
//
// # Who may take over
//
// The store compares and swaps, and looks at no clock. Its caller may take over
//
//   - the lease of any run that is [Lease.Over];
//   - at once, the lease of the run that it continues, if a record of its own proves that the
//     process before is over.
//
// It must never take over a lock without a lease, which is a stock tool's or a person's.
//
// A caller that is wrong, because a clock jumped, does no harm: of two that take over the same
// lease one wins; and whoever was deposed finds each later Renew, Put and Unlock refused with a
// *LockLostError. Before these two defences, the fence of the journal refuses his next intent.
//
// # A run of several processes
//
// The first process takes the lock with LockLeased, and its own end as HardStop. To hand over, it
// ends without Unlock. The next one reads the lock with Locks, finds the lease of its own run, and
// takes it over with a HardStop of its own. If it never comes, the lease ends by itself, and any
// run may take over and recover.
type Leased interface {
	// LockLeased is Lock, with a lease from the beginning. The info has an ID, and was created now:
	// see [FirstLease]. The run has no spaces. The Info of the lock is what [LeaseInfo] makes of the given one. It returns
	// nil and no error for a lock that was taken without a lease, for which rights are missing.
	//
	// The error for a lock that somebody holds, a *LockedError, has the lease of that lock.
	LockLeased(ctx context.Context, info LockInfo, t Term) (*Lease, error)

	// Renew changes the ends of the lease that this value holds. If it holds none any more the
	// error is a *LockLostError. After any other error it is not known whether they are
	// changed; calling it again settles it.
	Renew(ctx context.Context, t Term) (*Lease, error)

	// TakeOver makes this value the holder of the lock that is leased exactly as was, with the
	// next fence. ID and Info of the lock stay. If the lease is another one by now, or the lock is
	// gone, the error is a *LockLostError. After any other error it is not known whether this
	// value is the holder; the same call again settles it.
	//
	// What the one before has left half done is completed, as far as it is the store's: see Put.
	TakeOver(ctx context.Context, was Lease, t Term) (*Lease, error)
}

// leaseWords stand behind the run in the Info of a leased lock, for people who meet it with a stock
// tool.
const leaseWords = ": recover with `lockstep recover`, do not force-unlock"

const runWords = "Lockstep run "

// LeaseInfo returns the Info of a lock that has, or is about to get, a lease of a run. where is the
// store's word for where the lease is, if there are several such places: whoever looks at another
// one must not take its absence there for that of the lease.
func LeaseInfo(text, run, where string) string {
	if text != "" {
		text += "; "
	}
	return text + runWords + run + place(where) + leaseWords
}

// leaseData stands before a lease that is stored in the Info itself.
const leaseData = ". The lease: "

// WithLease returns the lock whose Info, which is LeaseInfo's, has the lease behind its words. It is for stores in which
// the lock is one object, so that lock and lease are written together. Stock tools show the text, and
// compare nothing of it.
func (i LockInfo) WithLease(l Lease) LockInfo {
	i.Info += leaseData + string(l.Marshal())
	return i
}

// SplitLease returns the lock that was before WithLease, and its lease: nil if the Info has none, or one that cannot
// be read, or that of another lock. Then i is returned as it is.
func (i LockInfo) SplitLease() (LockInfo, *Lease) {
	at := strings.LastIndex(i.Info, leaseWords+leaseData)
	if at < 0 {
		return i, nil
	}
	end := at + len(leaseWords)
	l, err := ParseLease([]byte(i.Info[end+len(leaseData):]))
	if err != nil || l.Lock != i.ID || l.Fence == 0 {
		return i, nil
	}
	i.Info = i.Info[:end]
	return i, &l
}

func place(where string) string {
	if where == "" {
		return ""
	}
	return " (lease in " + where + ")"
}

// IncompleteLease returns the lease of a lock beside which there is none at the place where it
// should be: the lock was taken, or released, in part. It is nil for a lock whose Info is not
// LeaseInfo's, for that place.
func IncompleteLease(info LockInfo, where string) *Lease {
	text, leased := strings.CutSuffix(info.Info, place(where)+leaseWords)
	at := strings.LastIndex(text, runWords)
	if !leased || at < 0 || info.ID == "" {
		return nil
	}
	run := text[at+len(runWords):]
	if strings.Contains(run, " ") {
		return nil // at another place
	}
	return &Lease{Lock: info.ID, Term: Term{Run: run, Until: info.Created.Add(FirstLease)}}
}
