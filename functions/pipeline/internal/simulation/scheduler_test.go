package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// A process is one invocation of a function. What it has in memory dies with it: after its death
// none of its effects is done.
type process struct {
	id   int
	name string
	s    *simulation
	dead bool
	done bool // it came to its end
	// hardStop is when it is killed, whatever it does.
	hardStop time.Time
	end      context.CancelFunc
}

func (p *process) alive() bool { return !p.dead && !p.done }

// An effect waits at the gate until the scheduler decides on its fate.
type effect struct {
	by    *process
	name  string
	order string // the name without the random parts
	fate  chan fate
}

// A fate is the outcome of an effect.
type fate int

const (
	happens     fate = iota
	fails            // and is not done
	isLost           // it is done, and its process learns that it failed
	diesBefore       // the process dies, and the effect is not done
	diesAfter        // the effect is done, and the process dies
	fateOfPrior      // of a process that is dead already
)

var (
	errDown = errors.New("it is down")
	errDead = errors.New("this process is dead")
)

// do carries out an effect when its turn has come. It is called by goroutines of the process; the
// only one that runs is the one whose effect happens.
func (p *process) do(ctx context.Context, name string, effect func() error) error {
	switch p.s.gate(p, name) {
	case fails:
		return fmt.Errorf("%s: %w", name, errDown)
	case isLost:
		if err := effect(); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", name, errDown)
	case diesAfter:
		effect()
		return errDead
	case diesBefore, fateOfPrior:
		return errDead
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return effect()
}

// undigested is a name without the digests of webhooks, which are in the names of records: 16 and more hexadecimal digits.
func undigested(name string) string {
	var out []byte
	begin := 0 // of the digits before i
	for i := 0; i <= len(name); i++ {
		if i < len(name) && ('0' <= name[i] && name[i] <= '9' || 'a' <= name[i] && name[i] <= 'f') {
			continue
		}
		if i-begin < 16 {
			out = append(out, name[begin:i]...)
		}
		if i < len(name) {
			out = append(out, name[i])
		}
		begin = i + 1
	}
	return string(out)
}

func (s *simulation) gate(p *process, name string) fate {
	if p.dead {
		return fateOfPrior
	}
	e := &effect{by: p, name: name, order: undigested(name), fate: make(chan fate)}
	s.mu.Lock()
	s.waiting = append(s.waiting, e)
	s.mu.Unlock()
	select {
	case s.arrived <- struct{}{}:
	default:
	}
	return <-e.fate
}

// A simulation is one history.
type simulation struct {
	*rand.Rand
	seed   uint64
	length length
	calm   bool // nothing fails and nobody acts any more
	// applies is set when the first apply begins.
	applies bool
	// effects is set if the trace has each effect, and not the mishaps alone.
	effects bool
	trace   []string
	bugs    []string

	mu        sync.Mutex
	waiting   []*effect
	processes []*process
	begun     int
	arrived   chan struct{} // holds one where an effect may wait

	*hub
	*records
	*queue
	*cloud
	*people
	team team
}

// bug notes a rule that was broken.
func (s *simulation) bug(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.note("BUG: %s", text)
	s.bugs = append(s.bugs, text)
}

// note adds a line to the trace.
func (s *simulation) note(format string, args ...any) {
	s.trace = append(s.trace, time.Now().UTC().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// start starts a process with an amount of time, of which its context has the first part.
func (s *simulation) start(name string, limit time.Duration, work func(context.Context, *process)) *process {
	s.begun++
	p := &process{id: s.begun, name: name, s: s, hardStop: time.Now().Add(limit)}
	s.processes = append(s.processes, p)
	ctx, cancel := context.WithDeadline(context.WithValue(context.Background(), processKey{}, p), p.hardStop.Add(-reserve))
	p.end = cancel
	s.note("%d %s begins", p.id, name)
	go func() {
		defer cancel()
		deepen()
		work(ctx, p)
		p.done = true
	}()
	synctest.Wait()
	return p
}

// deepen has the stack of a goroutine grow at once, and not by many copies.
//
//go:noinline
func deepen() byte {
	var deep [24 << 10]byte
	return deep[len(os.Args)]
}

// reserve is the time of a process after the end of its context, for writing down the outcome.
const reserve = 10 * time.Second

// kill ends a process.
func (s *simulation) kill(p *process, why string) {
	if p.dead || p.done {
		return
	}
	s.note("%d %s dies: %s", p.id, p.name, why)
	p.dead = true
	s.mu.Lock()
	var of []*effect
	s.waiting = slices.DeleteFunc(s.waiting, func(e *effect) bool {
		if e.by == p {
			of = append(of, e)
		}
		return e.by == p
	})
	s.mu.Unlock()
	for _, e := range of {
		e.fate <- fateOfPrior
	}
	p.end()
}

// pending returns the effects that wait, in an order that does not depend on the goroutines'.
func (s *simulation) pending() []*effect {
	synctest.Wait()
	now := time.Now()
	for _, p := range s.processes {
		if !p.dead && !p.done && !p.hardStop.After(now) {
			s.kill(p, "its time is over")
		}
	}
	synctest.Wait()
	s.processes = slices.DeleteFunc(s.processes, func(p *process) bool { return p.dead || p.done })
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.waiting, func(a, b *effect) int {
		return cmp.Or(cmp.Compare(a.by.id, b.by.id), cmp.Compare(a.order, b.order))
	})
	return s.waiting
}

// step lets one effect happen, or fail, and reports whether one waited.
func (s *simulation) step() bool {
	all := s.pending()
	if len(all) == 0 {
		return false
	}
	i := s.IntN(len(all))
	e := all[i]
	s.mu.Lock()
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.mu.Unlock()
	f := s.fateOf()
	if f != happens {
		s.note("%d %s: %s", e.by.id, e.name, [...]string{"", "fails", "is done, its answer lost", "dies before", "dies after"}[f])
	} else if s.effects {
		s.note("%d %s", e.by.id, e.name)
	}
	dies := f == diesBefore || f == diesAfter
	e.fate <- f
	synctest.Wait()
	if dies {
		s.kill(e.by, "killed")
		synctest.Wait()
	}
	return true
}

// fateOf chooses the fate of an effect: most happen.
func (s *simulation) fateOf() fate {
	if !s.mishap() {
		return happens
	}
	return fate(1 + s.IntN(4))
}

// mishap reports whether something goes wrong now. There are a few in a history: a message that
// fails three times is given up, and that is not the subject.
func (s *simulation) mishap() bool {
	rarity := s.length.rarity
	if s.length.aimed && !s.applies {
		rarity *= 10
	}
	if s.calm || s.mishaps == 0 || s.IntN(rarity) > 0 {
		return false
	}
	s.mishaps--
	return true
}

// pass lets time pass, but not beyond the next effect.
func (s *simulation) pass(d time.Duration) {
	synctest.Wait()
	select {
	case <-s.arrived: // by an effect of the past
	default:
	}
	if len(s.pending()) > 0 {
		time.Sleep(min(d, time.Second))
		return
	}
	select {
	case <-s.arrived:
	case <-time.After(d):
	}
	synctest.Wait()
}
