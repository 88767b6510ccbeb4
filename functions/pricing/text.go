package pricing

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Text returns an estimate as a table for people. The table has a row for each service, and a column for each
// offer on AWS. The servers are below the table.
func Text(offers []Offer, p Prices, o Options) string {
	var own, servers []Offer
	for _, x := range offers {
		if _, is := x.sumFor("Server"); is {
			servers = append(servers, x)
		} else {
			own = append(own, x)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "US dollars in %s, at the list prices of %s, before tax and without free tiers\n\n", p.Region, p.Date)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(Offer) string) {
		fmt.Fprintf(w, "%s\t", padded(name))
		for _, x := range own {
			fmt.Fprintf(w, "%s\t", cell(x))
		}
		fmt.Fprintln(w)
	}
	row("", func(x Offer) string { return x.Name })
	for _, s := range services[:len(services)-1] {
		row(s.name, func(x Offer) string {
			sum, any := x.sumFor(s.name)
			if !any {
				return ""
			}
			return dollars(sum)
		})
	}
	row("Sum", func(x Offer) string { return dollars(x.Total) })
	w.Flush()
	fmt.Fprintln(&out)
	for i, text := range []string{
		"a month of a t4g.small with 20 GB and an address: the smallest server with memory for a provider of 600 MB",
		"a month of Fargate with 0.5 vCPU and 1 GB behind a load balancer, which receives webhooks by TLS",
	} {
		fmt.Fprintf(&out, "%8s  %s\n", dollars(servers[i].Total), text)
	}
	fmt.Fprintf(&out, "\nPlans and applies are those of projects with so many objects, each by a new environment that reads a provider of\n"+
		"%d MB from the bucket, and wait %s and %s for their cloud. Traffic, NAT gateways and the target's own costs are not here.\n", Megabytes, o.PlanWait, o.ApplyWait)
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// padded returns the name of a row, padded with spaces, because the table writer aligns all cells to the right.
func padded(name string) string { return fmt.Sprintf("%-15s", name) }

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// grouped returns a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
