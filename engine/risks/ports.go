package risks

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const maxPort = 65535

// A span is a range of ports.
type span struct{ from, to int }

var allPorts = span{0, maxPort}

// A gap is an entry of a firewall: which protocol and ports it lets in, and from where.
type gap struct {
	protocol string // "tcp", "udp", "icmp", ..., or "all"
	ports    span
	source   source
	// hidden is set if the plan does not show the protocol or the ports.
	hidden bool
}

// A source is a range of addresses.
type source struct{ netip.Prefix }

var everyIPv4 = source{netip.MustParsePrefix("0.0.0.0/0")}

// Ranges with fewer bits than these count as everybody. AWS has the same limit for policies of buckets. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
const (
	publicIPv4 = 8
	publicIPv6 = 32
)

// private are the large ranges of addresses that the internet does not route.
var private = []netip.Prefix{
	netip.MustParsePrefix("224.0.0.0/3"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
}

// parseSource reads a range of addresses in the notation of any provider. public is set if the range counts as
// everybody. A name of something else, such as a group, is not public.
func parseSource(s string) (x source, public bool) {
	switch strings.ToLower(s) {
	case "*", "any", "internet", "0.0.0.0", "/0", "<nw>/0":
		return everyIPv4, true
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return source{}, false
	}
	p = p.Masked()
	limit := publicIPv6
	if p.Addr().Is4() {
		limit = publicIPv4
	}
	return source{p}, p.Bits() < limit && !slices.ContainsFunc(private, func(q netip.Prefix) bool { return covers(q, p) })
}

// covers reports whether all addresses of p are in q.
func covers(q, p netip.Prefix) bool { return q.Bits() <= p.Bits() && q.Contains(p.Addr()) }

// protocols are the names of the numbers of protocols.
var protocols = map[string]string{"-1": "all", "*": "all", "1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "50": "esp", "51": "ah", "132": "sctp"}

// protocolOf returns the usual name of a protocol.
func protocolOf(s string) string {
	s = strings.ToLower(s)
	return cmp.Or(protocols[s], s, "all")
}

// withPorts reports whether a protocol has ports.
func withPorts(protocol string) bool {
	return protocol == "tcp" || protocol == "udp" || protocol == "sctp"
}

// wide reports whether a range of IPv4 addresses counts as everybody.
func wide(from, to string) bool {
	a, err1 := netip.ParseAddr(from)
	b, err2 := netip.ParseAddr(to)
	if err1 != nil || err2 != nil || !a.Is4() || !b.Is4() {
		return false
	}
	x, y := a.As4(), b.As4()
	return int64(binary.BigEndian.Uint32(y[:]))-int64(binary.BigEndian.Uint32(x[:])) >= 1<<(32-publicIPv4)
}

// parsePorts reads "22", "8000-8080" or "*".
func parsePorts(s string) (span, bool) {
	if s == "" || s == "*" {
		return allPorts, true
	}
	a, b, is := strings.Cut(s, "-")
	if !is {
		b = a
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	return span{min(from, to), max(from, to)}, err1 == nil && err2 == nil && from >= 0 && to >= 0
}

// text returns the ports for people: "22/tcp", "8000-8080/udp", "icmp", "all ports".
func (g gap) text() string {
	protocol := g.protocol
	if !plainProtocol(protocol) {
		protocol = quote(protocol)
	}
	switch {
	case g.protocol == "all":
		return "all ports"
	case !withPorts(g.protocol):
		return protocol
	case g.ports.from == g.ports.to:
		return fmt.Sprintf("%d/%s", g.ports.from, protocol)
	}
	return fmt.Sprintf("%d-%d/%s", g.ports.from, g.ports.to, protocol)
}

func plainProtocol(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// maxGroups limits the number of different protocols and sources that are compared. A firewall with more is
// described without a comparison.
const maxGroups = 500

// A group is a protocol and a source. Entries of a group differ in their ports only.
type group struct {
	protocol string
	source   source
}

// opened returns what after lets in and before does not.
func opened(before, after []gap) []gap {
	was, is := spans(before), spans(after)
	if len(was) > maxGroups || len(is) > maxGroups {
		was = nil
	}
	var out []gap
	for g, ports := range is {
		for b, former := range was {
			if (b.protocol == g.protocol || b.protocol == "all") && covers(b.source.Prefix, g.source.Prefix) {
				ports = without(ports, former)
			}
		}
		for _, s := range ports {
			out = append(out, gap{protocol: g.protocol, ports: s, source: g.source})
		}
	}
	slices.SortFunc(out, func(a, b gap) int {
		return cmp.Or(a.source.Addr().Compare(b.source.Addr()), cmp.Compare(a.source.Bits(), b.source.Bits()),
			strings.Compare(a.protocol, b.protocol), cmp.Compare(a.ports.from, b.ports.from))
	})
	return out
}

// spans returns the ports of each group, sorted and without overlaps.
func spans(all []gap) map[group][]span {
	out := map[group][]span{}
	for _, g := range all {
		if !withPorts(g.protocol) {
			g.ports = allPorts
		}
		k := group{g.protocol, g.source}
		out[k] = append(out[k], g.ports)
	}
	for k, list := range out {
		slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		joined := list[:1]
		for _, s := range list[1:] {
			if last := &joined[len(joined)-1]; s.from <= last.to+1 {
				last.to = max(last.to, s.to)
			} else {
				joined = append(joined, s)
			}
		}
		out[k] = joined
	}
	return out
}

// without returns the parts of a that are not in b. Both are sorted and without overlaps.
func without(a, b []span) (out []span) {
	i := 0
	for _, s := range a {
		for i < len(b) && b[i].to < s.from {
			i++
		}
		for j := i; j < len(b) && b[j].from <= s.to && s.from <= s.to; j++ {
			if b[j].from > s.from {
				out = append(out, span{s.from, b[j].from - 1})
			}
			s.from = b[j].to + 1
		}
		if s.from <= s.to {
			out = append(out, s)
		}
	}
	return out
}

// maxPorts is the maximum number of ports that a text names for one source.
const maxPorts = 5

// opened adds phrases about what is opened, one for each set of ports: "open 22/tcp to 0.0.0.0/0 and ::/0".
func (f *finding) opened(all []gap) {
	ports := map[source][]string{}
	var sources []source
	for _, g := range all {
		if ports[g.source] == nil {
			sources = append(sources, g.source)
		}
		ports[g.source] = append(ports[g.source], g.text())
	}
	named := map[string][]string{}
	var order []string
	for _, s := range sources {
		text := strings.Join(ports[s], ", ")
		if list := ports[s]; len(list) > maxPorts {
			text = fmt.Sprintf("%s and %d more", strings.Join(list[:maxPorts], ", "), len(list)-maxPorts)
		}
		if named[text] == nil {
			order = append(order, text)
		}
		named[text] = append(named[text], s.String())
	}
	for _, text := range order {
		to := named[text]
		if len(to) > 2 {
			to = append(to[:2:2], fmt.Sprintf("%d more", len(to)-2))
		}
		f.add(false, "open %s to %s", text, strings.Join(to, " and "))
	}
}
