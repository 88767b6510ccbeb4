//go:build linux

package lambdatest_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// scratch is a directory for programs that several tests use, which are built once.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "lockstep-lambdatest-*") })

func TestMain(m *testing.M) {
	// Most of what a test does is to wait for processes, and for the limits of their time.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	code := m.Run()
	if code == 0 {
		if err := compareRequests(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if dir, err := scratch(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}
