package commits

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"maps"
	"slices"
)

// WriteArchive writes the files of a commit in the format of git archive: gzipped tar, everything below one
// directory, after a header with the commit's SHA.
func (c *Commit) WriteArchive(w io.Writer, dir string) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": c.SHA}})
	if err == nil {
		err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o775, ModTime: c.At})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if err != nil {
			break
		}
		content := c.Files[name]
		if target, is := LinkTo(content); is {
			err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: dir + "/" + name, Linkname: target, Mode: 0o777, ModTime: c.At})
			continue
		}
		err = tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + name, Mode: 0o664, Size: int64(len(content)), ModTime: c.At})
		if err == nil {
			_, err = io.WriteString(tw, content)
		}
	}
	if err == nil {
		err = tw.Close()
	}
	if e := zw.Close(); err == nil {
		err = e
	}
	return err
}
