//go:build !linux && !darwin

package install

import "io/fs"

// identify knows too little elsewhere: checksums are computed each time.
func identify(fs.FileInfo) (identity, bool) { return identity{}, false }
