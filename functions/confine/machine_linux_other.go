//go:build linux && !amd64 && !arm64

package confine

// machine is not known here.
const machine = 0
