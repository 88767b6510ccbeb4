//go:build linux && !amd64 && !arm64

package confine

// machine is 0 because the architecture's number in seccomp is not known.
const machine = 0
