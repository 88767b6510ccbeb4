package preparing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

const mirrorUsage = `providers mirror [OPTIONS] TARGET_DIR

  Copies the packages of all required providers into a directory. Use the directory as a
  filesystem mirror, or put it on a web server as a network mirror.

  To give the functions of a deployment the packages, write s3://BUCKET instead of a directory,
  with -platform=linux_arm64 and -kms-key. BUCKET is the output ArtifactsBucket of the stack,
  and the key its output KeyArn. The functions install only packages whose checksums are in
  the dependency lock file.`

var ProvidersMirror = cli.Command{Name: "providers mirror", Synopsis: "Copy the packages of providers into a mirror", Run: func(a *cli.App, args []string) int {
	o := workdir.MirrorOptions{Events: func(e install.Event) { fmt.Fprintln(a.Out, e) }}
	var platforms cli.ListFlag
	key := ""
	f := a.NewFlags("providers mirror", mirrorUsage)
	f.Vars(&cli.VarFlags{}) // sources of modules may need them
	f.Var(&platforms, "platform", "a platform such as linux_amd64; may be given several times (default: this one)")
	f.BoolVar(&o.Lock, "lock-file", true, "use the versions in the dependency lock file")
	f.StringVar(&key, "kms-key", "", "ARN of the bucket's KMS key, for s3://BUCKET")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.Refuse("No output directory specified", "Name the directory to copy to: lockstep providers mirror ./mirror.")
	}
	var ds diags.Diagnostics
	if o.Platforms, ds = parsePlatforms(platforms); ds.HasErrors() {
		return a.Show(ds)
	}
	bucket, isStore, err := storeBucket(f.Arg(0))
	switch {
	case err != nil:
		return f.Refuse("Invalid store", "%v", err)
	case isStore && key == "":
		return f.Refuse("No key specified", "the bucket %s needs -kms-key=ARN: copy the output KeyArn of the deployment's stack", f.Arg(0))
	case !isStore && key != "":
		return f.Refuse("No store", "-kms-key is only for s3://BUCKET, and %s is a directory: remove -kms-key", f.Arg(0))
	}
	if o.Dir = a.Path(f.Arg(0)); isStore {
		if o.Dir, err = os.MkdirTemp("", "lockstep-mirror-*"); err != nil {
			return a.Show(diags.FromError("Packages cannot be downloaded", err))
		}
		defer os.RemoveAll(o.Dir)
	}
	d, reqs, ds := configured(a)
	if ds.HasErrors() {
		return a.Show(ds)
	}
	ds = append(ds, d.Mirror(a.Ctx, reqs, o)...)
	if isStore {
		err := fill(a.Ctx, awsstore.Packages{Bucket: bucket, KeyID: key}, os.DirFS(o.Dir), func(name string) { fmt.Fprintf(a.Out, "- Stored %s\n", name) })
		ds = append(ds, diags.FromError("Packages cannot be stored", err)...)
	}
	return a.Show(ds)
}}

// bucketPattern matches the name of an S3 bucket.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
var bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// storeBucket returns the S3 bucket if target is like s3://BUCKET. Packages are stored in a folder of that
// bucket. ok is false for any other target, which is then the path of a directory.
func storeBucket(target string) (bucket string, ok bool, err error) {
	if bucket, ok = strings.CutPrefix(target, "s3://"); !ok {
		return "", false, nil
	}
	if bucket = strings.TrimSuffix(bucket, "/"); !bucketPattern.MatchString(bucket) {
		return "", true, errors.New("write the bucket of a deployment without a path: s3://BUCKET")
	}
	return bucket, true, nil
}

// fill uploads the provider packages in a filesystem mirror to the package store of a deployment. It calls tell
// with the name of each package. Packages that were uploaded before an error remain.
func fill(ctx context.Context, store awsstore.Packages, mirror fs.FS, tell func(name string)) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	store.Client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		// Servers other than AWS have no domain name for each bucket, so the path contains the bucket.
		o.UsePathStyle = os.Getenv("AWS_ENDPOINT_URL_S3") != "" || os.Getenv("AWS_ENDPOINT_URL") != ""
	})
	return fs.WalkDir(mirror, ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == "." {
			return nil // built-in providers have no packages
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".zip" {
			return err
		}
		f, err := mirror.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := store.Keep(ctx, name, f.(*os.File)); err != nil {
			return err
		}
		tell(name)
		return nil
	})
}
