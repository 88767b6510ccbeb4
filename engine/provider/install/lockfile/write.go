package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// head is the beginning of each lock file, as Terraform writes it. It names `terraform init` even in a file
// that `lockstep init` writes, so that both tools write the same bytes. OpenTofu writes its own name there.
const head = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.
`

// head returns the beginning of the file: OpenTofu's if all providers of the two default registries come from
// OpenTofu's.
func (f *File) head() string {
	tofu := false
	for p := range f.locks {
		switch p.Host {
		case addrs.DefaultRegistryHost:
			return head
		case addrs.OpenTofuRegistryHost:
			tofu = true
		}
	}
	if tofu {
		return strings.Replace(head, "terraform init", "tofu init", 1)
	}
	return head
}

// Bytes returns the text of f: one block for each provider, sorted by address.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(f.head())
	for _, p := range f.Providers() {
		lock := f.locks[p]
		fmt.Fprintf(&b, "\nprovider %s {\n", quote(p.String()))
		// Names on consecutive lines are aligned, as `terraform fmt` does.
		if lock.Constraints.IsAll() {
			fmt.Fprintf(&b, "  version = %s\n", quote(lock.Version.String()))
		} else {
			fmt.Fprintf(&b, "  version     = %s\n", quote(lock.Version.String()))
			fmt.Fprintf(&b, "  constraints = %s\n", quote(lock.Constraints.String()))
		}
		if len(lock.Hashes) > 0 {
			b.WriteString("  hashes = [\n")
			for _, h := range lock.Hashes {
				fmt.Fprintf(&b, "    %s,\n", quote(h))
			}
			b.WriteString("  ]\n")
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// quote returns s as an HCL string literal. Only hashes of unknown schemes can need escapes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			// The character is written twice, so that it does not begin a template: "$${" means "${".
			b.WriteRune(r)
			b.WriteRune(r)
		case r < ' ' || r == 0x7f || r == 0xfeff || r == 0xfffd:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Save writes f to a file, if necessary, and reports whether it did. It does not change a file with an equal
// selection (see [File.Equal]), not even its comments. For an empty selection it creates no file. A crash
// leaves the old or the new content.
func (f *File) Save(path string) (written bool, err error) {
	old, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return false, err
	}
	if missing && len(f.locks) == 0 {
		return false, nil
	}
	if !missing {
		if before, ds := Parse(old, path); !ds.HasErrors() && before.Equal(f) {
			return false, nil
		}
	}
	if err := replace(path, f.Bytes()); err != nil {
		return false, fmt.Errorf("write the dependency lock file: %w", err)
	}
	return true, nil
}

// Replace writes f to a file in any case, even if only comments or constraints differ, or f is empty. A crash
// leaves the old or the new content.
func (f *File) Replace(path string) error {
	content := f.Bytes()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := replace(path, content); err != nil {
		return fmt.Errorf("write the dependency lock file: %w", err)
	}
	return nil
}

func replace(path string, content []byte) error {
	// Renaming also replaces a symbolic link: a link in a checkout must not make this write a file elsewhere.
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
