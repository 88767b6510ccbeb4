package install

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits limits what may be unpacked from an archive. The largest known packages have a program of about 800
// MB and a handful of files.
type Limits struct {
	Files int
	Bytes int64
}

// defaultLimits are well above known packages, and still fit a Lambda function's disk.
var defaultLimits = Limits{Files: 1000, Bytes: 4 << 30}

// unpack extracts a zip archive into a new directory. It returns all checksums of the package except the
// checksum of the archive file. It reads the archive's directory, and then each file once, in their order.
//
// It returns an error for names that lead out of the directory, for links and other special files, and for
// names that occur twice. It also returns an error for archives beyond the limits. The real size counts, not
// the declared size.
func unpack(archive io.ReaderAt, size int64, dir string, limits Limits) (sums, error) {
	z, err := zip.NewReader(archive, size)
	if err != nil {
		return sums{}, fmt.Errorf("open the package's archive: %w", err)
	}
	if len(z.File) > limits.Files {
		return sums{}, fmt.Errorf("the package's archive has more than %d files", limits.Files)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return sums{}, err
	}
	// The root prevents writes outside of it, even if a check below is wrong.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return sums{}, err
	}
	defer root.Close()
	left, files, entries := limits.Bytes, listing{}, listing{}
	for _, f := range z.File {
		sum := sha256.New()
		if err := unpackFile(root, f, &left, sum); err != nil {
			return sums{}, fmt.Errorf("unpack %q of the package's archive: %w", f.Name, err)
		}
		entries.add(f.Name, sum)
		if !f.Mode().IsDir() {
			files.add(path.Clean(f.Name), sum)
		}
	}
	return sums{h1: files.h1(), packed: entries.h1()}, nil
}

// unpackFile extracts one file, and adds its bytes to sum.
func unpackFile(root *os.Root, f *zip.File, left *int64, sum io.Writer) error {
	name := strings.TrimSuffix(f.Name, "/")
	if strings.Contains(name, `\`) || !filepath.IsLocal(name) {
		return fmt.Errorf("the name leads out of the package")
	}
	if strings.Contains(name, "\n") {
		return fmt.Errorf("the name has two lines, so that the package has no checksum")
	}
	switch mode := f.Mode(); {
	case mode.IsDir():
		return root.MkdirAll(name, 0o755)
	case !mode.IsRegular():
		return fmt.Errorf("it is a link or a special file")
	}
	if parent := filepath.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	// Only the right to execute is taken from a file's mode. The provider's program, recognized by its name,
	// always gets this right: some packing tools record no modes.
	mode := fs.FileMode(0o644)
	if f.Mode()&0o100 != 0 || strings.HasPrefix(name, "terraform-provider-") {
		mode = 0o755
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, *left+1))
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if *left -= n; err == nil && *left < 0 {
		err = fmt.Errorf("the archive unpacks to more bytes than a provider may have")
	}
	return err
}
