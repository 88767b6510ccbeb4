package lambdatest

import (
	"testing"
)

// contract is one rule of an interface's contract. Its field test is a function that gets an empty S.
type contract[S any] struct {
	name string
	test func(t *testing.T, s S)
}

// hold runs the tests of all rules of a contract.
func hold[S any](t *testing.T, open func(t *testing.T) S, contracts []contract[S]) {
	for _, c := range contracts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}
