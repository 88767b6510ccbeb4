package walk

import (
	"fmt"
	"runtime/debug"
)

// A Panic carries a panic from the goroutine of a visit to the goroutine that called [Run] or [Each]. It
// prints as the panic's value and the stack of the original goroutine.
type Panic struct {
	Value any
	Stack []byte
}

// Error returns the panic's value and the stack of the original goroutine.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the panic's value if it is an error, otherwise nil.
func (p *Panic) Unwrap() error { err, _ := p.Value.(error); return err }

// catch calls f, and reports whether f panicked or ended the goroutine (runtime.Goexit, as a test's FailNow
// does). If so, it calls the function caught. It stops a panic, but cannot stop the end of the goroutine. A
// panic with a [*Panic] is passed on unchanged.
func catch(f func(), caught func(*Panic)) (panicked bool) {
	ended := false
	defer func() {
		if ended {
			return
		}
		panicked = true
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
