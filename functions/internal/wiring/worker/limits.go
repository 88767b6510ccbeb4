package worker

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/functions/confine"
)

// ownMemory is the memory that the function's own process needs. leastMemory is the minimum of memory for a
// run. Both are in bytes.
const (
	ownMemory   = 192 << 20
	leastMemory = 256 << 20
)

// limitRemedy is the advice to users after a run has exceeded a limit.
const limitRemedy = "A part of the configuration is too large, or grows without end. Make that part smaller and push, or ask an operator of Lockstep to give its Lambda function more memory."

// limits returns the limits of one run. They follow from the memory of the Lambda function, or of the machine
// in a build. There is no time limit here, because the invocation or the build has one. Source:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
func limits(getenv func(string) string) confine.Limits {
	l := confine.Limits{CPU: 10 * time.Minute, Wall: 14 * time.Minute, Disk: 1 << 30, Processes: 256, Files: 4096}
	size, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64)
	if err == nil {
		l.Memory = max(size<<20-ownMemory, leastMemory)
	}
	if d := buildTime(getenv); d > 0 {
		l.CPU, l.Wall = d, d
		var s syscall.Sysinfo_t
		if syscall.Sysinfo(&s) == nil {
			l.Memory = max(int64(s.Totalram)*int64(s.Unit)-ownMemory, leastMemory)
		}
	}
	return l
}

// ports returns the ports of this machine that programs of a run must not reach: that of the Lambda Runtime
// API. Any process that reaches this API can get invocations, and answer them.
func ports(getenv func(string) string) []int {
	_, port, err := net.SplitHostPort(getenv("AWS_LAMBDA_RUNTIME_API"))
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil
	}
	return []int{n}
}

// stateEnv returns the environment variables that the process of a run needs to access the state: the addresses
// of AWS and of a proxy. It leaves out the function's credentials, because they allow more than access to this
// state.
func stateEnv(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "AWS_ENDPOINT_URL") {
			return false
		}
		switch strings.ToUpper(name) {
		case "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT",
			"PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY":
			return false
		}
		return true
	})
}
