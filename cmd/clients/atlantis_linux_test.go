package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// alone is set in a process that has a network of its own.
const alone = "LOCKSTEP_CLIENTS_ALONE"

// TestAtlantis plays a pull request with an Atlantis server: its plan when it is opened, commands in
// comments, and its apply. Atlantis listens on all addresses, so that the test is played in a network
// namespace that has nothing but the loopback.
func TestAtlantis(t *testing.T) {
	program := client(t, "bin", "atlantis")
	if os.Getenv(alone) == "" {
		apart(t)
		return
	}
	loopback(t)
	both(t, func(t *testing.T, l tool) *record {
		a := startAtlantis(t, program, l)
		a.story()
		return &a.record
	})
}

// apart plays the test again in a process with a network of its own.
func apart(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAtlantis$", "-test.v", "-clients")
	cmd.Env = append(os.Environ(), alone+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if errors.Is(err, fs.ErrPermission) {
		statebackendtest.Missing(t, "there are no user namespaces: "+err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// loopback starts the only interface of a new network namespace.
func loopback(t *testing.T) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

// An atlantis is a server with a repository of a GitHub.
type atlantis struct {
	*enterprise
	record
	t      *testing.T
	ctx    context.Context
	repo   *githubtest.Repository
	number int    // of the pull request
	speaks string // the version of Terraform that the tool names
}

const planned = `terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
  backend "local" {
    path = "%s"
  }
}
variable "color" {
  default = "red"
}
resource "lab_thing" "a" {
  name   = "a"
  color  = var.color
  secret = "hush"
}
`

func startAtlantis(t *testing.T, program string, l tool) *atlantis {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	a := &atlantis{enterprise: newEnterprise(t), t: t, ctx: ctx, speaks: engine.LanguageVersion}
	if l.name == stock {
		a.speaks = "1.11."
	}
	states := t.TempDir()
	a.repo = a.repository("acme", "infra", githubtest.Files{
		"README.md": "Infrastructure.\n", "net/main.tf": fmt.Sprintf(planned, filepath.Join(states, "net.tfstate")),
	})
	a.repo.Grant("ann", "admin")
	home := t.TempDir()
	key := filepath.Join(home, "key.pem")
	if err := os.WriteFile(key, []byte(a.hub.AppKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	ca := a.certificate()
	address := statebackendtest.StartServer(t, func(address string) *exec.Cmd {
		_, port, _ := net.SplitHostPort(address)
		cmd := statebackendtest.Server(program, "server", "--port", port, "--atlantis-url", "http://"+address, "--gh-hostname", a.host(),
			"--gh-app-id", "4711", "--gh-app-key-file", key, "--gh-app-installation-id", strconv.FormatInt(a.repo.Installation(), 10),
			"--gh-webhook-secret", webhookSecret, "--repo-allowlist", "*", "--data-dir", filepath.Join(home, "data"),
			"--write-git-creds", "--tf-download=false", "--allow-commands", "all", "--log-level", "debug", "--disable-global-apply-lock")
		cmd.Env = append(environ(t, l, home), "SSL_CERT_FILE="+ca, "GIT_SSL_CAINFO="+ca, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "ATLANTIS_HIDE_PREV_PLAN_COMMENTS=false")
		return cmd
	})
	a.connect("http://" + address + "/events")
	for healthy := false; !healthy; {
		answer, err := http.Get("http://" + address + "/healthz")
		if healthy = err == nil && answer.StatusCode == http.StatusOK; !healthy && ctx.Err() != nil {
			t.Fatalf("Atlantis does not start: %v", err)
		}
		if err == nil {
			answer.Body.Close()
		}
	}
	return a
}

// says comments on the pull request, and keeps the answer, which has to have a text. Atlantis answers a
// little before it is free for another command, and then refuses that: it is said again.
func (a *atlantis) says(comment, want string) {
	a.t.Helper()
	for {
		a.repo.Comment("ann", a.number, comment)
		text, err := a.answer(a.ctx, want)
		if err == nil {
			a.keep(comment, text, a.root)
			return
		}
		if !strings.Contains(text, "Wait until the previous command is complete") {
			a.t.Fatalf("%s: %v", comment, err)
		}
	}
}

// expect keeps the answer to something that happened.
func (a *atlantis) expect(step, want string) {
	a.t.Helper()
	text, err := a.answer(a.ctx, want)
	if err != nil {
		a.t.Fatalf("%s: %v", step, err)
	}
	a.keep(step, text, a.root)
}

func (a *atlantis) story() {
	a.t.Helper()
	a.push(a.repo, "change", "Another thing", githubtest.Files{"net/more.tf": "resource \"lab_thing\" \"b\" {\n  name = \"b\"\n  depends_on = [lab_thing.a]\n}\noutput \"b\" {\n  value = lab_thing.b.id\n}\n"})
	a.number = a.repo.OpenPull("ann", "Another thing", "change")
	a.expect("opened", "Plan: 2 to add, 0 to change, 0 to destroy.")
	a.says("atlantis version", "Terraform v"+a.speaks)
	a.says("atlantis plan -d net -- -var=color=blue", `+ color       = "blue"`)
	a.says("atlantis apply -d net", "Apply complete! Resources: 2 added, 0 changed, 0 destroyed.")
	a.says("atlantis state -d net rm lab_thing.b", "Successfully removed 1 resource instance")
	a.says("atlantis import -d net lab_thing.b b-1", "Import successful")
	a.push(a.repo, "change", "A mistake", githubtest.Files{"net/more.tf": "resource \"lab_thing\" \"b\" {\n  nome = \"b\"\n}\n"})
	a.expect("a mistake", "Unsupported argument")
	a.push(a.repo, "change", "As it is", githubtest.Files{"net/more.tf": "resource \"lab_thing\" \"b\" {\n  name = \"b\"\n  depends_on = [lab_thing.a]\n}\n", "net/main.tf": strings.Replace(a.file("net/main.tf"), `"red"`, `"blue"`, 1)})
	a.expect("as it is", `- b = "b-1" -> null`)
	a.says("atlantis unlock", "All Atlantis locks")
}

func (a *atlantis) file(name string) string {
	data, err := os.ReadFile(filepath.Join(a.work, name))
	if err != nil {
		a.t.Fatal(err)
	}
	return string(data)
}
