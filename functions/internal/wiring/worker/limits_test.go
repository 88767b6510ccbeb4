package worker

import (
	"slices"
	"strings"
	"testing"
)

// TestStateEnv holds that the process of a run has what it reaches its state with, and nothing
// else of the function's: with the address of the Runtime API it could answer for us.
func TestStateEnv(t *testing.T) {
	t.Parallel()
	got := stateEnv([]string{
		"AWS_ACCESS_KEY_ID=a", "AWS_ENDPOINT_URL_S3=b", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "LOCKSTEP_APP_KEY_SECRET=c",
		"LOCKSTEP_EXTERNAL_ID=d", "PATH=e", "https_proxy=f", "_HANDLER=g", "HOME=h",
	})
	if want := "AWS_ENDPOINT_URL_S3=b PATH=e https_proxy=f"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLimits holds that a run leaves the function enough memory to say what became of it.
func TestLimits(t *testing.T) {
	t.Parallel()
	for size, want := range map[string]int64{"1024": 832, "1769": 1577, "128": 256, "": 0} {
		env := map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": size, "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001"}
		getenv := func(name string) string { return env[name] }
		if got := limits(getenv).Memory >> 20; got != want {
			t.Errorf("with %q: %d MiB, want %d", size, got, want)
		}
		if !slices.Equal(ports(getenv), []int{9001}) {
			t.Errorf("ports %v", ports(getenv))
		}
	}
}
