package statebackendtest

import (
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

func TestLog(t *testing.T) {
	RunLog(t, func(*testing.T) func() statebackend.Log {
		l := new(Log)
		return func() statebackend.Log { return l }
	})
}
