package lambdatest

import (
	"testing"
)

// contract is one sentence of a socket's contract. S is the empty socket of each test.
type contract[S any] struct {
	name string
	test func(t *testing.T, s S)
}

// hold tests all sentences of a contract.
func hold[S any](t *testing.T, open func(t *testing.T) S, contracts []contract[S]) {
	for _, c := range contracts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}
