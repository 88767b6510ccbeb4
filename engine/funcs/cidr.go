package funcs

import (
	"fmt"
	"math/big"
	"net"
	"regexp"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
)

var cidrHostFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("prefix"), number("hostnum")},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		host, err := wholeNumber(args[1])
		if err != nil {
			return cty.NilVal, err
		}
		network, err := parseCIDR(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		ip, err := cidr.HostBig(network, host)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(ip.String()), nil
	},
})

var cidrNetmaskFunc = stringFunc(func(args []string) (string, error) {
	network, err := parseCIDR(args[0])
	if err != nil {
		return "", err
	}
	if network.IP.To4() == nil {
		return "", fmt.Errorf("IPv6 addresses cannot have a netmask: %s", args[0])
	}
	return net.IP(network.Mask).String(), nil
}, text("prefix"))

var cidrSubnetFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("prefix"), number("newbits"), number("netnum")},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var newBits int
		if err := gocty.FromCtyValue(args[1], &newBits); err != nil {
			return cty.NilVal, err
		}
		num, err := wholeNumber(args[2])
		if err != nil {
			return cty.NilVal, err
		}
		network, err := parseCIDR(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		if ones, _ := network.Mask.Size(); ones+newBits < 0 {
			return cty.NilVal, function.NewArgErrorf(1, "cannot shorten a prefix of %d bits by %d", ones, -newBits)
		}
		subnet, err := cidr.SubnetBig(network, newBits, num)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(subnet.String()), nil
	},
})

// cidrSubnetsFunc is the function cidrsubnets: subnets of the given sizes, one after the other.
var cidrSubnetsFunc = function.New(&function.Spec{
	Params:       []function.Parameter{text("prefix")},
	VarParam:     &function.Parameter{Name: "newbits", Type: cty.Number},
	Type:         function.StaticReturnType(cty.List(cty.String)),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		network, err := parseCIDR(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		newBits := make([]int, len(args)-1)
		for i := range newBits {
			if newBits[i], err = subnetBits(network, args[i+1]); err != nil {
				return cty.NilVal, function.NewArgError(i+1, err)
			}
		}
		if len(newBits) == 0 {
			return cty.ListValEmpty(cty.String), nil
		}
		subnets, err := layOut(network, newBits)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.ListVal(subnets), nil
	},
})

// subnetBits returns by how many bits a subnet's prefix is longer than the network's.
func subnetBits(network *net.IPNet, v cty.Value) (int, error) {
	var bits int
	if err := gocty.FromCtyValue(v, &bits); err != nil {
		return 0, err
	}
	if bits < 1 {
		return 0, fmt.Errorf("must extend prefix by at least one bit")
	}
	// Terraform has this limit because of a library that it once used. Configurations may rely on the error.
	if bits > 32 {
		return 0, fmt.Errorf("may not extend prefix by more than 32 bits")
	}
	prefix, width := network.Mask.Size()
	if prefix+bits > width {
		protocol := "IPv4"
		if width == 128 {
			protocol = "IPv6"
		}
		return 0, fmt.Errorf("would extend prefix to %d bits, which is too long for an %s address", prefix+bits, protocol)
	}
	return bits, nil
}

// layOut places the first subnet at the start of the network. It places every further subnet after the
// previous one, at the next boundary of the subnet's own size.
func layOut(network *net.IPNet, newBits []int) ([]cty.Value, error) {
	prefix, _ := network.Mask.Size()
	last, _ := cidr.PreviousSubnet(network, prefix+newBits[0])
	out := make([]cty.Value, len(newBits))
	for i, bits := range newBits {
		next, wrapped := cidr.NextSubnet(last, prefix+bits)
		// For a network at the start of the address space, the step back to last wraps round, and the first
		// step forward wraps back. So only later steps that wrap are errors.
		if wrapped && i > 0 || !network.Contains(next.IP) {
			return nil, function.NewArgErrorf(i+1, "not enough remaining address space for a subnet with a prefix of %d bits after %s", prefix+bits, last)
		}
		last = next
		out[i] = cty.StringVal(next.String())
	}
	return out, nil
}

func wholeNumber(v cty.Value) (*big.Int, error) {
	var n *big.Int
	if err := gocty.FromCtyValue(v, &n); err != nil {
		return nil, err
	}
	return n, nil
}

// octetZeros matches the leading zeros of a decimal octet, beside a dot.
var octetZeros = regexp.MustCompile(`(^|[.:])0+([0-9]+\.)|(\.)0+([0-9])`)

// maxCIDR is a length that no address with its prefix length exceeds, even with leading zeros.
const maxCIDR = 1000

// parseCIDR reads a network in CIDR notation. It accepts IPv4 octets with leading zeros and reads them as
// decimal, as Terraform still does, and Go did until 1.17 (https://go.dev/issue/30999).
func parseCIDR(s string) (*net.IPNet, error) {
	if len(s) > maxCIDR {
		return nil, fmt.Errorf("invalid CIDR expression: a text of %d bytes is no CIDR address", len(s))
	}
	plain := s
	for {
		next := octetZeros.ReplaceAllString(plain, "$1$2$3$4")
		if next == plain {
			break
		}
		plain = next
	}
	_, network, err := net.ParseCIDR(plain)
	if err != nil {
		return nil, fmt.Errorf("invalid CIDR expression: invalid CIDR address: %s", s)
	}
	return network, nil
}
