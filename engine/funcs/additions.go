package funcs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// additions returns the functions of OpenTofu 1.7 that Terraform lacks.
func additions(s Scope) map[string]function.Function {
	return map[string]function.Function{
		"base64gunzip": base64GunzipFunc(s.Budget),
		"cidrcontains": cidrContainsFunc,
		"urldecode":    urlDecodeFunc,
	}
}

// maxUnpacked is the largest output of base64gunzip, in bytes, if no budget sets a lower limit. A few
// kilobytes could otherwise unpack to more than the machine's memory.
const maxUnpacked = 64 << 20

func base64GunzipFunc(b *budget.Budget) function.Function {
	most := min(maxUnpacked, b.Limits().Text)
	return stringFunc(func(args []string) (string, error) { return gunzip(args, most) }, text("str"))
}

func gunzip(args []string, most int64) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return "", fmt.Errorf("failed to decode base64 data: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return "", fmt.Errorf("failed to unpack the data: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("failed to unpack the data: %w", err)
	case int64(len(out)) > most:
		return "", fmt.Errorf("the unpacked data is longer than %s, which is the limit here", budget.Bytes(most))
	case !utf8.Valid(out):
		return "", errors.New("the unpacked data is not valid UTF-8")
	}
	return string(out), nil
}

var urlDecodeFunc = stringFunc(func(args []string) (string, error) {
	out, err := url.QueryUnescape(args[0])
	switch {
	case err != nil:
		return "", fmt.Errorf("failed to decode the URL: %w", err)
	case !utf8.ValidString(out):
		return "", errors.New("the result of decoding the provided string is not valid UTF-8")
	}
	return out, nil
}, text("str"))

var cidrContainsFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("containing_prefix"), text("contained_ip_or_prefix")},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		outer, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		s, bits := args[1].AsString(), "/32"
		if strings.Contains(s, ":") {
			bits = "/128"
		}
		if !strings.Contains(s, "/") {
			s += bits
		}
		inner, err := parsePrefix(s)
		switch {
		case err != nil:
			return cty.NilVal, function.NewArgErrorf(1, "invalid IP address or prefix: %s", args[1].AsString())
		case outer.Addr().Is4() != inner.Addr().Is4():
			return cty.NilVal, fmt.Errorf("address family mismatch: %s vs. %s", args[0].AsString(), args[1].AsString())
		}
		return cty.BoolVal(outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())), nil
	},
})

// parsePrefix is like parseCIDR, but returns an IPv4 address within IPv6 as an IPv4 address.
func parsePrefix(s string) (netip.Prefix, error) {
	network, err := parseCIDR(s)
	if err != nil {
		return netip.Prefix{}, err
	}
	bits, _ := network.Mask.Size()
	addr, _ := netip.AddrFromSlice(network.IP)
	return netip.PrefixFrom(addr, bits), nil
}
