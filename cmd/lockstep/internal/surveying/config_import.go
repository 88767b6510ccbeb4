package surveying

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
)

// ConfigImport is the command config import. It writes a lockstep.hcl from atlantis.yaml and the configuration
// file of an Atlantis server.
var ConfigImport = cli.Command{Name: "config import", Synopsis: "Write lockstep.hcl from atlantis.yaml", Run: func(a *cli.App, args []string) int {
	var i configImport
	f := a.NewFlags("config import", "config import [OPTIONS] [atlantis.yaml]")
	f.BoolVar(&i.force, "force", false, "overwrite an existing lockstep.hcl")
	f.BoolVar(&i.options.DropSteps, "drop-steps", false, "leave out run steps that cannot become step blocks, even those that decide about an apply")
	f.StringVar(&i.server, "server", "", "file of the Atlantis server's option --repo-config; its requirements become require blocks")
	f.StringVar(&i.repository, "repo", "", "the repository's name in the file of -server: github.com/OWNER/NAME (default: that of git's remote origin)")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	i.name, i.options.Steps = atlantis.FileName, true
	switch f.NArg() {
	case 0:
		i.optional = i.server != ""
	case 1:
		i.name = f.Arg(0)
	default:
		return a.Usage("name one file: lockstep config import atlantis.yaml", "config import reads one file, and you gave %d", f.NArg())
	}
	return i.run(a)
}}

// A configImport has the options of the command config import.
type configImport struct {
	name       string // path of atlantis.yaml, relative to the repository
	optional   bool   // there may be none
	server     string // the path of the server's file, "" for none
	repository string
	force      bool
	options    atlantis.Options
}

// run reads the Atlantis files and writes lockstep.hcl. It returns the exit code.
func (i configImport) run(a *cli.App) int {
	root, err := os.OpenRoot(a.Chdir)
	if err != nil {
		return a.Failed(err)
	}
	defer root.Close()
	src, err := os.ReadFile(a.Path(i.name))
	if i.optional && errors.Is(err, fs.ErrNotExist) {
		src, err = []byte("version: 3\n"), nil
	}
	if err != nil {
		return a.Failed(cli.Hinted(fmt.Errorf("%s cannot be read: %s", i.name, cli.Reason(err)), "name the file of the repository: lockstep config import atlantis.yaml"))
	}
	if i.server != "" {
		text, err := os.ReadFile(a.Path(i.server))
		if err != nil {
			return a.Failed(cli.Hinted(fmt.Errorf("the file %s of -server cannot be read: %s", i.server, cli.Reason(err)), "name the file of the Atlantis server's option --repo-config: -server repos.yaml"))
		}
		if i.repository == "" {
			i.repository = origin(a)
		}
		a.Files[i.server] = &hcl.File{Bytes: text}
		i.options.Server = &atlantis.Server{Name: i.server, Source: text, Repository: i.repository}
	}
	text, notices, ds := project.Imported(root.FS(), src, i.options)
	a.Files[atlantis.FileName] = &hcl.File{Bytes: src}
	if ds.HasErrors() {
		return a.Tell(ds)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if i.force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	if err := put(root, flags, text); errors.Is(err, fs.ErrExist) {
		return a.Show(diags.Errorf(nil, project.FileName+" already exists", "The command would overwrite %s. Move the file away, or add -force.", project.FileName))
	} else if err != nil {
		return a.Failed(err)
	}
	fmt.Fprintf(a.Out, "Wrote %s. From now on, Lockstep does not read %s.\n", project.FileName, atlantis.FileName)
	lost := len(slices.DeleteFunc(notices, func(n atlantis.Notice) bool { return n.Carried }))
	if lost > 0 {
		fmt.Fprintf(a.Out, "The comments at its beginning list the settings that Lockstep does not have (%d).\n", lost)
	}
	return 0
}

// origin returns the repository that git's remote "origin" names, as HOST/OWNER/NAME; "" if there is none.
func origin(a *cli.App) string {
	out, err := exec.Command("git", "-C", a.Chdir, "config", "--get", "remote.origin.url").Output()
	if err != nil {
		return ""
	}
	return repositoryOf(strings.TrimSpace(string(out)))
}

// repositoryOf returns HOST/OWNER/NAME from a git URL, which has a scheme or the form git@HOST:OWNER/NAME.git.
func repositoryOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	} else {
		url = strings.Replace(url, ":", "/", 1)
	}
	if _, rest, ok := strings.Cut(url, "@"); ok {
		url = rest
	}
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

func put(root *os.Root, flags int, text []byte) error {
	f, err := root.OpenFile(project.FileName, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
