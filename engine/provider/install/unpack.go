package install

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits bound what an archive may unpack to. The largest packages known have a
// program of about 800 MB and a handful of files.
type Limits struct {
	Files int
	Bytes int64
}

// defaultLimits leave room, and still fit a Lambda function's disk.
var defaultLimits = Limits{Files: 1000, Bytes: 4 << 30}

// unpack extracts a zip archive into a new directory. It refuses names that lead out
// of the directory, links and other special files, names that come twice, and archives
// beyond the limits, by their real size and not the declared one.
func unpack(archive, dir string, limits Limits) (err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("open the package's archive: %w", err)
	}
	defer z.Close()
	if len(z.File) > limits.Files {
		return fmt.Errorf("the package's archive has more than %d files", limits.Files)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	// Nothing is written outside of the root, even if a check below had a hole.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	left := limits.Bytes
	for _, f := range z.File {
		if err := unpackFile(root, f, &left); err != nil {
			return fmt.Errorf("unpack %q of the package's archive: %w", f.Name, err)
		}
	}
	return nil
}

// hasDirectories reports whether an archive has entries for directories.
func hasDirectories(archive string) bool {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Mode().IsDir() })
}

func unpackFile(root *os.Root, f *zip.File, left *int64) error {
	name := strings.TrimSuffix(f.Name, "/")
	if strings.Contains(name, `\`) || !filepath.IsLocal(name) {
		return fmt.Errorf("the name leads out of the package")
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
	// Of the modes, only the right to execute a file counts. The provider's program, by
	// its name, gets that right anyway: some packing tools record no modes.
	mode := fs.FileMode(0o644)
	if f.Mode()&0o100 != 0 || strings.HasPrefix(name, "terraform-provider-") {
		mode = 0o755
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, *left+1))
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if *left -= n; err == nil && *left < 0 {
		err = fmt.Errorf("the archive unpacks to more bytes than a provider may have")
	}
	return err
}
