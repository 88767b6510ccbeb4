package funcs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A digest is a hash algorithm. Its methods return functions that hash a string or a file, in hexadecimal or
// base64.
type digest func() hash.Hash

var digests = map[string]digest{
	"md5":    md5.New,
	"sha1":   sha1.New,
	"sha256": sha256.New,
	"sha512": sha512.New,
}

func (d digest) hexFunc() function.Function { return d.stringFunc(hex.EncodeToString) }

func (d digest) base64Func() function.Function {
	return d.stringFunc(base64.StdEncoding.EncodeToString)
}

func (d digest) stringFunc(encode func([]byte) string) function.Function {
	return stringFunc(func(args []string) (string, error) {
		h := d()
		io.WriteString(h, args[0])
		return encode(h.Sum(nil)), nil
	}, text("str"))
}

// fileFunc returns a function that hashes a file, and returns the hash as text, made by encode. The function
// reads the file through t, as a stream.
func (d digest) fileFunc(t tree, encode func([]byte) string) function.Function {
	return t.fileFunc(cty.String, func(n fileName) (cty.Value, error) {
		f, err := t.open(n)
		if err != nil {
			return cty.NilVal, err
		}
		defer f.Close()
		h := d()
		if _, err := io.Copy(h, interruptible{f, t.budget}); err != nil {
			return cty.NilVal, n.hide(err)
		}
		return cty.StringVal(encode(h.Sum(nil))), nil
	})
}
