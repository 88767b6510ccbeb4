package process

import (
	"context"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// handshakeLine keeps the beginning of the first line that a plugin writes to
// standard output: core protocol | protocol | network | address | kind | certificate.
type handshakeLine struct {
	mu    sync.Mutex
	text  []byte
	whole bool
}

// keepHello is the number of bytes that are kept: enough to recognize the line.
const keepHello = 200

func (h *handshakeLine) add(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range p {
		if h.whole || len(h.text) == keepHello {
			break
		}
		if b == '\n' {
			h.whole = true
			break
		}
		h.text = append(h.text, b)
	}
}

func (h *handshakeLine) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.TrimSpace(string(h.text))
}

// network returns the network on which the plugin listens: "unix" or "tcp".
func (h *handshakeLine) network() string {
	fields := strings.Split(h.String(), "|")
	if len(fields) < 3 {
		return ""
	}
	return fields[2]
}

// explain returns the reason why a plugin could not be started, and what to do. It uses what the runner has
// recorded.
func (r *runner) explain(ctx context.Context, err error, timeout time.Duration) error {
	path := r.launch.Path
	r.settle()
	r.mu.Lock()
	startErr, how, started, fellDumb := r.startErr, r.outcome, r.started, r.fellDumb
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("start of %s given up: %w", path, context.Cause(ctx))
	case errors.Is(startErr, fs.ErrNotExist):
		return fmt.Errorf("there is no plugin at %s, or it needs an interpreter that this machine does not have; run \"lockstep init\" to install it: %w", path, startErr)
	case errors.Is(startErr, fs.ErrPermission):
		return fmt.Errorf("%s must not be executed here: check its file mode and whether its file system is mounted noexec, or run \"lockstep init\" to install it anew: %w", path, startErr)
	case errors.Is(startErr, syscall.ENOEXEC):
		return fmt.Errorf("%s is not a program for %s: %s; run \"lockstep init\" on this machine to install the right one: %w", path, platform(), builtFor(path), startErr)
	case !started:
		return fmt.Errorf("start %s: %w", path, err)
	}
	if refused := r.refused(); refused != nil {
		return refused
	}
	if !fellDumb {
		return fmt.Errorf("%s did not become ready within %s; a slow or busy machine may need more time, and otherwise the plugin hangs%s", path, timeout, r.said())
	}
	return fmt.Errorf("%s ended (%s) before it could be spoken to; either it is no provider plugin, or something that it needs is missing%s", path, how, r.said())
}

// settle waits for a short time until the status and the output of an ended process are known.
func (r *runner) settle() {
	r.mu.Lock()
	wait := r.started
	r.mu.Unlock()
	if !wait {
		return
	}
	select {
	case <-r.done:
	case <-time.After(2 * pipeGrace):
	}
}

// refused returns the error for a handshake that is not supported; nil if it is supported.
func (r *runner) refused() error {
	hello := r.hello.String()
	if hello == "" {
		return nil
	}
	parts := strings.Split(hello, "|")
	if len(parts) < 4 {
		return fmt.Errorf("%s is not a provider plugin: it began with %q rather than with a plugin's handshake", r.launch.Path, hello)
	}
	if version, err := strconv.Atoi(parts[1]); err != nil || protocols[version].Version == 0 {
		return fmt.Errorf("%s speaks version %s of the plugin protocol, and only 5 and 6 are supported; choose another version of the provider", r.launch.Path, parts[1])
	}
	if len(parts) < 5 || parts[4] != "grpc" {
		return fmt.Errorf("%s does not speak gRPC, as providers for Terraform 0.12 and later do; choose a newer version of the provider", r.launch.Path)
	}
	return nil
}

// said returns the plugin's output to standard error, quoted; "" if there is none.
func (r *runner) said() string {
	if words := r.last.String(); words != "" {
		return ". It wrote:\n\n" + words
	}
	return ""
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// builtFor returns the platform that an executable was built for.
func builtFor(path string) string {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		return fmt.Sprintf("it was built for Linux or another Unix on %s", strings.TrimPrefix(f.Machine.String(), "EM_"))
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		return fmt.Sprintf("it was built for macOS on %s", strings.TrimPrefix(f.Cpu.String(), "Cpu"))
	}
	if f, err := pe.Open(path); err == nil {
		defer f.Close()
		return "it was built for Windows"
	}
	return "it has no executable format that is known"
}
