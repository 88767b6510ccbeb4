package walk

import (
	"fmt"
	"runtime/debug"
)

// A Panic carries a panic from the goroutine of a visit to that of who called
// [Run] or [Each]. It prints as the value and the stack where it arose.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the value and the stack where it arose.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it was an error, else nil.
func (p *Panic) Unwrap() error { err, _ := p.Value.(error); return err }

// catch calls f. If f panics, it stops that and calls caught; if f ends the
// goroutine (runtime.Goexit, as a test's FailNow does), it calls caught too, but nothing
// can stop that. A panic that is carried already stays as it is.
func catch(f func(), caught func(*Panic)) (was bool) {
	ended := false
	defer func() {
		if ended {
			return
		}
		was = true
		v := recover()
		if v == nil {
			v = "walk: a visit ended its goroutine"
		}
		p, ok := v.(*Panic)
		if !ok {
			p = &Panic{v, debug.Stack()}
		}
		caught(p)
	}()
	f()
	ended = true
	return false
}
