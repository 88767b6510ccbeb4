package risks

import (
	"slices"
	"strings"
)

// A rule of a firewall, as far as the plan shows it.
type rule struct {
	gaps []gap // from everybody
	// hidden are entries whose sources the plan does not show.
	hidden []gap
	// unseen is set if the plan shows nothing of some entries.
	unseen bool
}

func (r *rule) join(x rule) {
	r.gaps, r.hidden, r.unseen = append(r.gaps, x.gaps...), append(r.hidden, x.hidden...), r.unseen || x.unseen
}

// add adds entries with some ports and sources. sourcesKnown is false if the plan does not show all sources.
func (r *rule) add(what []gap, sources []string, sourcesKnown bool) {
	for _, s := range sources {
		if from, public := parseSource(s); public {
			for _, g := range what {
				g.source = from
				r.gaps = append(r.gaps, g)
			}
		}
	}
	if !sourcesKnown {
		r.hidden = append(r.hidden, what...)
	}
}

// ingress compares what a firewall lets in before and after a change. of reads the rules of one side.
func ingress(of func(object) rule) func(before, after object) finding {
	return func(before, after object) (f finding) {
		was, is := of(before), of(after)
		seen := func(g gap) bool { return !g.hidden }
		f.opened(opened(filter(was.gaps, seen), filter(is.gaps, seen)))
		for _, g := range is.gaps {
			if g.hidden {
				f.add(false, "open ports that the plan does not show to %s", g.source)
			}
		}
		for _, g := range is.hidden {
			ports := g.text()
			if g.hidden {
				ports = "ports"
			}
			f.add(true, "open %s to everybody: the plan does not show its sources", ports)
		}
		if is.unseen {
			f.add(true, "open ports to everybody: the plan does not show its rules")
		}
		return f
	}
}

func filter(list []gap, is func(gap) bool) []gap {
	return slices.DeleteFunc(slices.Clone(list), func(g gap) bool { return !is(g) })
}

// numbered returns the ports between two attributes, in AWS' notation. There, -1 means all.
func numbered(o object, protocol string) gap {
	name, known := o.text(protocol)
	g := gap{protocol: protocolOf(name), ports: allPorts}
	from, known1 := o.whole("from_port", -1)
	to, known2 := o.whole("to_port", -1)
	if known && !withPorts(g.protocol) {
		return g
	}
	if from >= 0 {
		g.ports = span{from, max(from, to)}
	}
	g.hidden = !known || !known1 || !known2
	return g
}

// securityGroup reads aws_security_group, with rules inside. Source: the schema of hashicorp/aws 6.
func securityGroup(o object) (r rule) {
	list, known := o.blocks("ingress")
	r.unseen = !known
	for _, x := range list {
		r.join(ruleOfGroup(x))
	}
	return r
}

func ruleOfGroup(o object) (r rule) {
	v4, known4 := o.texts("cidr_blocks")
	v6, known6 := o.texts("ipv6_cidr_blocks")
	r.add([]gap{numbered(o, "protocol")}, append(v4, v6...), known4 && known6)
	return r
}

// securityGroupRule reads aws_security_group_rule.
func securityGroupRule(o object) rule {
	if kind, known := o.text("type"); !o.exists() || known && kind != "ingress" {
		return rule{}
	}
	return ruleOfGroup(o)
}

// ingressRule reads aws_vpc_security_group_ingress_rule.
func ingressRule(o object) (r rule) {
	if !o.exists() {
		return r
	}
	v4, known4 := o.text("cidr_ipv4")
	v6, known6 := o.text("cidr_ipv6")
	r.add([]gap{numbered(o, "ip_protocol")}, []string{v4, v6}, known4 && known6)
	return r
}

// listed returns the ports in lists of texts such as "22" and "8000-8080"; all if the lists are empty.
func listed(protocol string, ports []string, known bool) (out []gap) {
	protocol = protocolOf(protocol)
	if !known {
		return []gap{{protocol: protocol, ports: allPorts, hidden: true}}
	}
	for _, s := range ports {
		if p, ok := parsePorts(s); ok {
			out = append(out, gap{protocol: protocol, ports: p})
		}
	}
	if len(ports) == 0 {
		out = []gap{{protocol: protocol, ports: allPorts}}
	}
	return out
}

// networkSecurityRule reads azurerm_network_security_rule, and the blocks of azurerm_network_security_group.
// Other rules that deny are not looked at. Source: the documentation of hashicorp/azurerm 4.
func networkSecurityRule(o object) (r rule) {
	direction, known1 := o.text("direction")
	access, known2 := o.text("access")
	if !o.exists() || known1 && !strings.EqualFold(direction, "Inbound") || known2 && !strings.EqualFold(access, "Allow") {
		return r
	}
	port, known3 := o.text("destination_port_range")
	ports, known4 := o.texts("destination_port_ranges")
	if port != "" {
		ports = append(ports, port)
	}
	protocol, known5 := o.text("protocol")
	from, known6 := o.text("source_address_prefix")
	all, known7 := o.texts("source_address_prefixes")
	what := listed(protocol, ports, known3 && known4 && known5)
	r.add(what, append(all, from), known6 && known7)
	if !known1 || !known2 { // the entry may be another one
		r.hidden, r.gaps = append(r.hidden, r.gaps...), nil
	}
	return r
}

// networkSecurityGroup reads azurerm_network_security_group.
func networkSecurityGroup(o object) (r rule) {
	list, known := o.blocks("security_rule")
	r.unseen = !known
	for _, x := range list {
		r.join(networkSecurityRule(x))
	}
	return r
}

// firewall reads google_compute_firewall. Without any source, a rule is for everybody. Source: the documentation
// of hashicorp/google 7.
func firewall(o object) (r rule) {
	direction, _ := o.text("direction")
	disabled, _ := o.flag("disabled")
	if !o.exists() || disabled || direction != "" && !strings.EqualFold(direction, "INGRESS") {
		return r
	}
	sources, known := o.texts("source_ranges")
	if len(sources) == 0 && known {
		tags, known1 := o.all("source_tags")
		accounts, known2 := o.all("source_service_accounts")
		if len(tags)+len(accounts) == 0 && known1 && known2 {
			sources = []string{"0.0.0.0/0"}
		}
	}
	allow, shown := o.blocks("allow")
	r.unseen = !shown
	for _, x := range allow {
		protocol, known1 := x.text("protocol")
		ports, known2 := x.texts("ports")
		r.add(listed(protocol, ports, known1 && known2), sources, known)
	}
	return r
}

// firewallRange reads a rule of a database server of Azure, which lets in a range of addresses.
func firewallRange(first, last string) func(object) rule {
	return func(o object) (r rule) {
		from, known1 := o.text(first)
		to, known2 := o.text(last)
		what := []gap{{protocol: "all", ports: allPorts}}
		switch {
		case !known1 || !known2:
			r.hidden = what
		case wide(from, to):
			r.add(what, []string{"*"}, true)
		}
		return r
	}
}
