package deploying

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/project"
)

const toolboxUsage = `toolbox add [OPTIONS] NAME FILE

  NAME is the name of the tool in the program argument of step blocks. FILE is
  one statically linked program for Linux.

  The command stores the file in the toolbox, and writes its checksum into
  lockstep.hcl in this directory. A step runs only the file with this checksum.`

// ToolboxAdd is the command toolbox add. It stores a program in the toolbox of a deployment or of `lockstep serve`, and
// writes its checksum into lockstep.hcl.
var ToolboxAdd = cli.Command{Name: "toolbox add", Synopsis: "Store a program for the steps of lockstep.hcl", Run: func(a *cli.App, args []string) int {
	var data, bucket string
	f := a.NewFlags("toolbox add", toolboxUsage)
	f.StringVar(&data, "data", "lockstep-data", "data directory of lockstep serve")
	f.StringVar(&bucket, "bucket", "", "bucket of a deployment on AWS: the output ToolboxBucket of its stack")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 2 {
		return f.WrongArguments("name the tool and its file: lockstep toolbox add tflint ./tflint", "toolbox add takes the name of a tool and its file, and you gave %d arguments", f.NArg())
	}
	t, err := readTool(a.Path(f.Arg(1)))
	if err != nil {
		return a.Failed(err)
	}
	if err := t.fits(bucket != ""); err != nil {
		return a.Failed(err)
	}
	text, err := withTool(a.Path(project.FileName), f.Arg(0), t.digest)
	if err != nil {
		return a.Failed(err)
	}
	where := "the data directory " + data
	if bucket == "" {
		err = t.keepLocally(a.Path(data))
	} else {
		where = "the bucket " + bucket
		err = t.upload(a.Ctx, bucket)
	}
	if err == nil {
		err = os.WriteFile(a.Path(project.FileName), text, 0o644)
	}
	if err != nil {
		return a.Failed(err)
	}
	fmt.Fprintf(a.Out, "Stored %s in %s, and wrote its checksum into %s:\n\n  %[1]s = \"sha256:%[4]s\"\n\nMerge this change into the base branch. Steps then run this file.\n", f.Arg(0), where, project.FileName, t.digest)
	return 0
}}

// A toolFile is the file of a tool.
type toolFile struct {
	path, digest string
	machine      elf.Machine
}

// readTool examines a file. It must be one program that runs without other files.
func readTool(path string) (toolFile, error) {
	t := toolFile{path: path}
	f, err := os.Open(path)
	if err != nil {
		return t, cli.Hinted(fmt.Errorf("the file of the tool cannot be read: %s", cli.Reason(err)), "give the path of a program")
	}
	defer f.Close()
	program, err := elf.NewFile(f)
	if err != nil {
		return t, cli.Hinted(fmt.Errorf("%s is no program for Linux", path), "a tool is one statically linked ELF program: not a script, and not an archive")
	}
	if slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return t, cli.Hinted(fmt.Errorf("%s is dynamically linked, so it needs libraries that functions do not have", path), "use a statically linked build; Go programs are built so with CGO_ENABLED=0")
	}
	t.machine = program.Machine
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, 1<<40)); err != nil {
		return t, err
	}
	t.digest = hex.EncodeToString(sum.Sum(nil))
	return t, nil
}

// fits checks the processor for which a tool is built. The functions run on arm64.
func (t toolFile) fits(functions bool) error {
	if functions && t.machine != elf.EM_AARCH64 {
		return cli.Hinted(fmt.Errorf("%s is built for %s, and the functions on AWS run on arm64", t.path, strings.ToLower(strings.TrimPrefix(t.machine.String(), "EM_"))), "use the build for linux/arm64")
	}
	return nil
}

// keepLocally copies the tool into a data directory.
func (t toolFile) keepLocally(data string) error {
	path := localpipeline.ToolPath(data, t.digest)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	src, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.CreateTemp(filepath.Dir(path), "adding-*")
	if err != nil {
		return err
	}
	defer os.Remove(dst.Name())
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Chmod(0o700), dst.Close()); err != nil {
		return err
	}
	return os.Rename(dst.Name(), path)
}

// upload stores the tool in the bucket of a deployment.
func (t toolFile) upload(ctx context.Context, bucket string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		// Servers other than AWS have no domain name for each bucket, so the path contains the bucket.
		o.UsePathStyle = cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")) != ""
	})
	return awsstore.Tools{Client: client, Bucket: bucket}.Keep(ctx, t.digest, f)
}

// withTool returns the text of lockstep.hcl at path, with the digest of a tool. A file that does not exist counts as
// empty. Everything else stays as it is, also other tools and comments.
func withTool(path, name, digest string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if _, ds := parsing.Config(src, project.FileName); ds.HasErrors() {
		return nil, cli.Hinted(fmt.Errorf("%s has a syntax error: %s", project.FileName, ds.Error()), "correct the file; `lockstep config check` shows the place")
	}
	value := fmt.Sprintf("%q", "sha256:"+digest)
	entry := fmt.Sprintf("%q = %s\n", name, value)
	if _, ds := project.Parse(project.FileName, []byte("tools = {\n"+entry+"}\n")); ds.HasErrors() {
		return nil, cli.Hinted(fmt.Errorf("%q cannot be the name of a tool", name), "use small letters, digits and the characters _ . -")
	}
	if hclsyntax.ValidIdentifier(name) {
		entry = name + " = " + value + "\n"
	}
	a := parsing.Syntax(src, project.FileName).Attributes["tools"]
	if a == nil {
		if len(src) > 0 {
			src = append(src, '\n')
		}
		return hclwrite.Format(slices.Concat(src, []byte("tools = {\n"+entry+"}\n"))), nil
	}
	tools, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil, cli.Hinted(fmt.Errorf("the argument tools in %s, line %d, is no list of tools", project.FileName, a.SrcRange.Start.Line), "write tools = {}, and run the command again")
	}
	from := tools.SrcRange.End.Byte - len("}")
	to := from
	if !bytes.HasSuffix(bytes.TrimRight(src[:from], " \t"), []byte("\n")) {
		entry = "\n" + entry
	}
	for _, item := range tools.Items {
		if key, ds := item.KeyExpr.Value(nil); !ds.HasErrors() && key.RawEquals(cty.StringVal(name)) {
			at := item.ValueExpr.Range()
			from, to, entry = at.Start.Byte, at.End.Byte, value
		}
	}
	return hclwrite.Format(slices.Concat(src[:from], []byte(entry), src[to:])), nil
}
