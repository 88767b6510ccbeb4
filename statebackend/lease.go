package statebackend

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Term has the run and the ends of a lease that the holder of a lock asks for.
type Term struct {
	// Run is the run that the holder works for. Several processes that continue one run, one after the other,
	// have the same Run.
	Run string `json:"run"`
	// Until is the end of the lease by the wall clock. After it the holder begins nothing, unless it has
	// renewed the lease.
	Until time.Time `json:"until"`
	// HardStop is the moment at which the process ends in any case, such as the end of a function's
	// invocation. It is zero if there is no such moment.
	HardStop time.Time `json:"hardStop,omitzero"`
}

// A Lease is a promise: the lock's holder stops working by a certain time. A lease is stored beside the
// LockInfo, which stock tools read and which never changes.
type Lease struct {
	Term
	// Lock is the ID of the lock.
	Lock string `json:"lock"`
	// Fence counts the holders of the lock: the first holder has 1, and each takeover adds 1. It is 0 for a
	// lock that was only partly taken or partly released, so that nobody holds it: see [HeldLock].
	Fence uint64 `json:"fence"`
	// Holder is a random ID for one act of taking the lock, or taking it over. Two processes of one run have
	// different IDs.
	Holder string `json:"holder"`
	// Released reports that the lock is about to be released. It is set before the release.
	Released bool `json:"released,omitempty"`
	// Nonce is a new random text in each write, so that no two stored leases are ever equal.
	Nonce string `json:"nonce"`
}

// Grace is added to the end of each lease. It covers differences between clocks, and requests that are still
// under way.
const Grace = 15 * time.Second

// FirstLease is the time, from the lock's Created on, within which a Lock must complete the lock and its
// lease. A Lock that takes longer fails. So nobody holds an incomplete lock that is older than FirstLease
// plus Grace.
const FirstLease = 60 * time.Second

// End returns the moment from which the lock may be taken over.
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

// Over reports whether the lease has ended at the time now, so that its holder has stopped if clocks are
// right.
func (l Lease) Over(now time.Time) bool { return now.After(l.End()) }

// Complete reports whether somebody holds the lock, or held it until the process died. An incomplete lock is
// released by its ID; it cannot be taken over.
func (l Lease) Complete() bool { return l.Fence > 0 && !l.Released }

// SameHolder reports whether l and x are leases of the same lock, holder and fence. Their ends may differ.
func (l Lease) SameHolder(x Lease) bool {
	return l.Lock == x.Lock && l.Fence == x.Fence && l.Holder == x.Holder
}

// As returns the lease with the ends of t and a new nonce, ready to be stored.
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

// ParseLease reads the JSON that Marshal writes.
func ParseLease(b []byte) (Lease, error) {
	var l Lease
	if err := json.Unmarshal(b, &l); err != nil {
		return Lease{}, fmt.Errorf("not a lease: %w", err)
	}
	return l, nil
}

// Leased is a workspace whose locks can carry a lease. The lock of a dead process can then be taken over
// without a person. A workspace implements Leased if its locks outlive their process and its writes can be
// conditional. A lock of the operating system needs no lease.
//
// # Who may take over
//
// The store compares and swaps leases; it looks at no clock. Its caller may take over
//
//   - the lease of any run, if the lease is [Lease.Over];
//   - at once, the lease of the run that the caller continues, if a record of the caller proves that the
//     earlier process has ended.
//
// The caller must never take over a lock without a lease: it belongs to a stock tool or a person.
//
// A takeover that is wrong, because a clock jumped, does no harm. Of two processes that take over the same
// lease, one wins. The old holder's next intent is refused by the fence of the journal, and each of its
// later Renew, Put and Unlock calls fails with a *LockLostError.
//
// # A run of several processes
//
// The first process takes the lock with LockLeased, and its own end as HardStop. To hand over, it ends
// without Unlock. The next process reads the lock with Locks, finds the lease of its own run, and takes it
// over with its own HardStop. If no next process comes, the lease ends by itself, and any run may take over
// and recover.
type Leased interface {
	// LockLeased is Lock, with a lease from the beginning. info has an ID, and was created now: see
	// [FirstLease]. The name of the run has no spaces. The stored lock has the Info that [LeaseInfo] returns
	// for info.Info. If the permissions for a lease are missing, LockLeased takes the lock without one, and
	// returns nil and no error.
	//
	// If somebody holds the lock, the error is a *LockedError with the lease of that lock.
	LockLeased(ctx context.Context, info LockInfo, t Term) (*Lease, error)

	// Renew changes the ends of the lease that this value holds. If the value holds no lease, or lost it, the
	// error is a *LockLostError. After any other error it is not known whether the ends have changed: call
	// Renew again to find out.
	Renew(ctx context.Context, t Term) (*Lease, error)

	// TakeOver makes this value the holder of the lock whose stored lease equals expected. It adds 1 to the
	// fence; the ID and Info of the lock stay. If another lease is stored, or the lock is gone, the error is a
	// *LockLostError. After any other error it is not known whether this value is the holder: make the same
	// call again to find out.
	//
	// TakeOver also completes what the previous holder left unfinished in the store: see Put.
	TakeOver(ctx context.Context, expected Lease, t Term) (*Lease, error)
}

// leaseWords follow the run in the Info of a leased lock. They are for people who see the lock in a stock
// tool.
const leaseWords = ": recover with `lockstep recover`, do not force-unlock"

const runWords = "Lockstep run "

// LeaseInfo returns the Info of a lock that has a lease of run, or is about to get one. text is the rest of
// the Info. The parameter where names the place that stores the lease; it is "" if only one place is
// possible. A reader that looks at another place learns from the Info that a missing lease there means
// nothing.
func LeaseInfo(text, run, where string) string {
	if text != "" {
		text += "; "
	}
	return text + runWords + run + place(where) + leaseWords
}

// leaseData precedes a lease that is stored in the Info of a lock.
const leaseData = ". The lease: "

// WithLease returns the lock with the lease appended to its Info, which [LeaseInfo] made. It is for stores
// where the lock is one object: one write then stores lock and lease. Stock tools show the Info, and compare
// nothing of it.
func (i LockInfo) WithLease(l Lease) LockInfo {
	i.Info += leaseData + string(l.Marshal())
	return i
}

// SplitLease undoes [LockInfo.WithLease]: it returns the lock without the lease, and the lease. If the Info has
// no lease, an unreadable lease, or the lease of another lock, the results are the unchanged lock and nil.
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

// IncompleteLease returns a lease for a lock that was only partly taken or partly released. Such a lock has
// no lease at the place that the parameter where names. The returned lease has fence 0. IncompleteLease
// returns nil if the Info of the lock was not made by [LeaseInfo] for that place.
func IncompleteLease(info LockInfo, where string) *Lease {
	text, leased := strings.CutSuffix(info.Info, place(where)+leaseWords)
	at := strings.LastIndex(text, runWords)
	if !leased || at < 0 || info.ID == "" {
		return nil
	}
	run := text[at+len(runWords):]
	if strings.Contains(run, " ") {
		return nil // the lease is at another place
	}
	return &Lease{Lock: info.ID, Term: Term{Run: run, Until: info.Created.Add(FirstLease)}}
}
