package funcs

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/ssh"
)

const bcryptCost = 10

var bcryptFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("str")},
	VarParam:     &function.Parameter{Name: "cost", Type: cty.Number},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		cost := bcryptCost
		if len(args) > 2 {
			return cty.NilVal, errors.New("bcrypt() takes no more than two arguments")
		}
		if len(args) == 2 {
			if err := gocty.FromCtyValue(args[1], &cost); err != nil {
				return cty.NilVal, err
			}
		}
		hash, err := bcrypt.GenerateFromPassword([]byte(args[0].AsString()), cost)
		if err != nil {
			return cty.NilVal, fmt.Errorf("error occured generating password %w", err)
		}
		return cty.StringVal(string(hash)), nil
	},
})

// rsaDecryptFunc is the function rsadecrypt. The key is in PEM format; the cipher text is PKCS #1 v1.5, in
// base64.
var rsaDecryptFunc = function.New(&function.Spec{
	Params:       []function.Parameter{maybe(marked(text("ciphertext"))), maybe(marked(text("privatekey")))},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		cipher, cipherMarks := args[0].Unmark()
		pem, pemMarks := args[1].Unmark()
		if !cipher.IsKnown() || !pem.IsKnown() {
			return cty.UnknownVal(cty.String).WithMarks(cipherMarks, pemMarks), nil
		}
		raw, err := base64.StdEncoding.DecodeString(cipher.AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "failed to decode input %s: cipher text must be base64-encoded", shown(cipher.AsString(), cipherMarks))
		}
		key, err := rsaKey(pem.AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		//lint:ignore SA1019 rsadecrypt is defined by this padding, and reads a secret of the caller's own
		out, err := rsa.DecryptPKCS1v15(nil, key, raw)
		if err != nil {
			return cty.NilVal, fmt.Errorf("failed to decrypt: %s", err)
		}
		return cty.StringVal(string(out)).WithMarks(cipherMarks, pemMarks), nil
	},
})

func rsaKey(pem string) (*rsa.PrivateKey, error) {
	raw, err := ssh.ParseRawPrivateKey([]byte(pem))
	if err != nil {
		return nil, fmt.Errorf("invalid private key: %w", err)
	}
	key, ok := raw.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("invalid private key type %T", raw)
	}
	return key, nil
}

func uuidFunc(random io.Reader) function.Function {
	return stringFunc(func([]string) (string, error) {
		id, err := uuid.NewRandomFromReader(random)
		if err != nil {
			return "", fmt.Errorf("read random bytes: %w", err)
		}
		return id.String(), nil
	})
}

// uuidNamespaces are the name spaces of RFC 4122, appendix C.
var uuidNamespaces = map[string]uuid.UUID{
	"dns":  uuid.NameSpaceDNS,
	"url":  uuid.NameSpaceURL,
	"oid":  uuid.NameSpaceOID,
	"x500": uuid.NameSpaceX500,
}

var uuidV5Func = stringFunc(func(args []string) (string, error) {
	space, ok := uuidNamespaces[args[0]]
	if !ok {
		var err error
		if space, err = uuid.Parse(args[0]); err != nil {
			return "", fmt.Errorf("uuidv5() doesn't support namespace %s (%s)", args[0], err)
		}
	}
	return uuid.NewSHA1(space, []byte(args[1])).String(), nil
}, text("namespace"), text("name"))
