package program

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A terminal is a pseudo-terminal that a command believes to be a person's.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File

	mu   sync.Mutex
	seen bytes.Buffer
}

// openTerminal opens a new one; see pty(7) and ioctl_tty(2).
func openTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		statebackendtest.Missing(t, "no pseudo-terminals here: "+err.Error())
	}
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	ioctl(t, master, syscall.TIOCGPTN, &number)
	ioctl(t, master, syscall.TIOCSPTLCK, &unlock)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		statebackendtest.Missing(t, "no pseudo-terminals here: "+err.Error())
	}
	t.Cleanup(func() { slave.Close() })
	x := &terminal{t: t, master: master, slave: slave}
	go io.Copy(x, master)
	return x
}

func ioctl(t *testing.T, f *os.File, request uintptr, value *int32) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
		statebackendtest.Missing(t, "no pseudo-terminals here: "+errno.Error())
	}
}

func (x *terminal) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.Write(p)
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.seen.String(), "\r\n", "\n")
}

// answers waits for a question and types an answer.
func (x *terminal) answers(question, answer string) {
	x.t.Helper()
	programtest.WaitFor(x.t, "the terminal shows "+question, func() bool { return strings.Contains(x.text(), question) })
	if _, err := io.WriteString(x.master, answer+"\n"); err != nil {
		x.t.Fatal(err)
	}
}

// answersUnseen is answers for a secret: nobody types it as fast as the echo is switched off.
func (x *terminal) answersUnseen(question, answer string) {
	x.t.Helper()
	programtest.WaitFor(x.t, "the terminal does not echo", func() bool {
		var settings syscall.Termios
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, x.slave.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
		return errno == 0 && settings.Lflag&syscall.ECHO == 0
	})
	x.answers(question, answer)
}

// At a terminal a person is asked for what is missing, and for approval; what is
// sensitive is not shown while it is typed. On a terminal there are colours.
func TestTerminal(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", `
variable "name" {
  description = "What to call it."
}
variable "code" {
  sensitive = true
}
output "said" {
  value = "${var.name} ${nonsensitive(length(var.code))}"
}
resource "terraform_data" "a" {}
`)
	d.want(0, "init")
	x := openTerminal(t)
	cmd := d.command("apply")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	x.answersUnseen("Enter a value:\x1b[0m ", "swordfish") // var.code
	programtest.WaitFor(t, "the second question", func() bool { return strings.Contains(x.text(), "What to call it.") })
	x.answers("var.name", "Wanda")
	x.answers("Only 'yes' will be accepted", "yes")
	if err := cmd.Wait(); err != nil {
		t.Errorf("apply: %v\n%s", err, x.text())
	}
	programtest.WaitFor(t, "the result is shown", func() bool { return strings.Contains(x.text(), "Wanda 9") })
	if text := x.text(); strings.Contains(text, "swordfish") || !strings.Contains(text, "\x1b[1m") {
		t.Errorf("the terminal shows\n%s", text)
	}
}

// A token that is typed for login is not shown.
func TestLoginAtATerminal(t *testing.T) {
	t.Parallel()
	s, d := loginHost(t, `{"tfe.v2": "/api/v2/"}`)
	x := openTerminal(t)
	cmd := d.command("login", s.Listener.Addr().String())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	x.answers("Only 'yes' will be accepted", "yes")
	x.answersUnseen("Token for ", "swordfish")
	if err := cmd.Wait(); err != nil {
		t.Errorf("login: %v\n%s", err, x.text())
	}
	programtest.WaitFor(t, "the login is complete", func() bool { return strings.Contains(x.text(), "Success!") })
	if strings.Contains(x.text(), "swordfish") {
		t.Errorf("the terminal shows\n%s", x.text())
	}
}
