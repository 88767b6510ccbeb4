//go:build linux && !amd64 && !arm64

package confine

// machine is unknown here.
const machine = 0
