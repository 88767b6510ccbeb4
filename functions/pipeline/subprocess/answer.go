package subprocess

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// Terragrunt starts this program under the names terraformName and gitName. The variables tell this program to answer
// Terragrunt. recordsVariable has the path of a directory, in which recordsDir and outputsFile are.
const (
	terraformName    = "terraform"
	gitName          = "git"
	recordsVariable  = "LOCKSTEP_TERRAGRUNT"
	checkoutVariable = "LOCKSTEP_CHECKOUT"
	recordsDir       = "calls"
	outputsFile      = "outputs.json"
)

// maxCalls is the maximum number of recorded calls that are read.
const maxCalls = 10_000

// terraformVersion is the version of Terraform whose language Lockstep has. Units can demand a version.
const terraformVersion = "1.11.4"

// A terraformCall is a call of Terraform by Terragrunt.
type terraformCall struct {
	Dir  string
	Args []string
	// Variables are the values of variables, by name.
	Variables map[string]string `json:",omitempty"`
	// Backend is the file with the backend in the directory, for "init".
	Backend string `json:",omitempty"`
}

// answerTerragrunt makes this process the Terraform or the git of Terragrunt, if Terragrunt has started it as such. It
// then does not return. Its environment is that of a program that a pull request may have started, so it does not trust
// the environment. This process has no more rights than such a program.
func answerTerragrunt() {
	dir, name := os.Getenv(recordsVariable), filepath.Base(os.Args[0])
	if dir == "" || name != terraformName && name != gitName {
		return
	}
	var err error
	if name == gitName {
		err = answerGit(os.Args[1:])
	} else {
		err = answerTerraform(dir, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// answerGit answers where the repository is. A checkout has no directory .git.
func answerGit(args []string) error {
	if slices.Equal(args, []string{"rev-parse", "--show-toplevel"}) {
		fmt.Println(os.Getenv(checkoutVariable))
		return nil
	}
	own := os.Getenv("PATH")
	if _, rest, ok := strings.Cut(own, ":"); ok { // that of the terragrunt block
		os.Setenv("PATH", rest)
		if path, err := exec.LookPath(gitName); err == nil {
			cmd := exec.Command(path, args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		}
	}
	return fmt.Errorf("git %s is not available here: name the directory of git in env of the terragrunt block, { PATH = \"/usr/bin\" }, or use a source that needs no git", strings.Join(args, " "))
}

// answerTerraform answers a command of Terraform: with the outputs of a unit, or by recording the command.
func answerTerraform(dir string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	switch args[0] {
	case "version", "-version", "--version":
		fmt.Println("Terraform v" + terraformVersion)
		return nil
	case "output":
		return answerOutput(dir)
	}
	at, err := os.Getwd()
	if err != nil {
		return err
	}
	x := terraformCall{Dir: at, Args: args, Variables: map[string]string{}}
	if args[0] == "init" {
		x.Backend = backendFile(os.DirFS(at))
	}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "TF_VAR_") {
			x.Variables[strings.TrimPrefix(name, "TF_VAR_")] = value
		}
	}
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%020d-%d", time.Now().UnixNano(), os.Getpid())
	return os.WriteFile(filepath.Join(dir, recordsDir, name), data, 0o600)
}

// backendFile returns the content of the first configuration file that seems to have a backend block; "" if there is none.
func backendFile(dir fs.FS) string {
	names, err := fs.Glob(dir, "*.tf")
	if err != nil {
		return ""
	}
	for _, name := range names {
		if data, err := fs.ReadFile(dir, name); err == nil && len(data) < maxBackend && bytes.Contains(data, []byte("backend ")) {
			return string(data)
		}
	}
	return ""
}

// maxBackend is the maximum size of a file with a backend block, in bytes.
const maxBackend = 64 << 10

// unitOf returns the directory of the unit for which Terragrunt has started Terraform in the directory at, relative to the
// checkout.
func unitOf(checkout, at string) (string, error) {
	at, _, _ = strings.Cut(filepath.ToSlash(at), "/"+terragrunt.Cache+"/")
	unit, err := filepath.Rel(checkout, at)
	return filepath.ToSlash(unit), err
}

// answerOutput prints the outputs of the unit in whose directory the process was started, as "terraform output -json".
// Without a state, Terraform prints an empty object.
func answerOutput(dir string) error {
	at, err := os.Getwd()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, outputsFile))
	if err != nil {
		return err
	}
	var all jobs.UnitOutputs
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	unit, err := unitOf(os.Getenv(checkoutVariable), at)
	if err != nil {
		return err
	}
	out := all[unit]
	if out == nil {
		out = []byte("{}")
	}
	var why string
	if json.Unmarshal(out, &why) == nil {
		return errors.New(why)
	}
	fmt.Println(string(out))
	return nil
}
